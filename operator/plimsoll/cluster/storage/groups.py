"""Keys of objects by what they refer to."""

from __future__ import annotations

from collections.abc import Collection

_NONE: Collection[str] = ()


class Groups:
    """One key stands in at most one group; a group that is empty is forgotten."""

    def __init__(self) -> None:
        self._group_of: dict[str, str] = {}
        self._members: dict[str, dict[str, None]] = {}

    def put(self, key: str, group: str) -> None:
        """Moves the key to the group; "" is no group."""
        self.drop(key)
        if group:
            self._group_of[key] = group
            self._members.setdefault(group, {})[key] = None

    def drop(self, key: str) -> None:
        group = self._group_of.pop(key, "")
        if group:
            members = self._members[group]
            del members[key]
            if not members:
                del self._members[group]

    def of(self, group: str) -> Collection[str]:
        return self._members.get(group, _NONE)
