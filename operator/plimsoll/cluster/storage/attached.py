"""Which volumes are attached to which nodes, counted by driver."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from plimsoll.cluster.storage.handles import Handle

_NONE: Mapping[str, int] = {}


class AttachedVolumes:
    """Nodes by volume with the number of users, and the number of distinct volumes by driver and node."""

    def __init__(self) -> None:
        self._users: dict[Handle, Counter[str]] = {}
        self._counts: dict[str, dict[str, int]] = {}

    def add(self, node: str, handle: Handle, times: int = 1) -> None:
        users = self._users.setdefault(handle, Counter())
        if not users[node]:
            counts = self._counts.setdefault(handle.driver, {})
            counts[node] = counts.get(node, 0) + 1
        users[node] += times

    def remove(self, node: str, handle: Handle, times: int = 1) -> None:
        users = self._users[handle]
        users[node] -= times
        if users[node]:
            return
        del users[node]
        if not users:
            del self._users[handle]
        self._uncount(node, handle.driver)

    def users(self, node: str, handle: Handle) -> int:
        """How often the volume is used on the node."""
        users = self._users.get(handle)
        return 0 if users is None else users.get(node, 0)

    def nodes(self, handle: Handle) -> Iterable[str]:
        """Where the volume is used."""
        return self._users.get(handle, ())

    def counts(self, driver: str) -> Mapping[str, int]:
        """Distinct volumes of the driver by node; nodes without any do not stand here."""
        return self._counts.get(driver, _NONE)

    def _uncount(self, node: str, driver: str) -> None:
        counts = self._counts[driver]
        counts[node] -= 1
        if not counts[node]:
            del counts[node]
        if not counts:
            del self._counts[driver]
