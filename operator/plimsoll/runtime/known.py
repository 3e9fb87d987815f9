"""What two sources tell of the same objects, the events of kopf and the lists of a sweep, made one story."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from plimsoll.kube.reflector import newer_or_same

Json = dict[str, Any]


@dataclass(slots=True)
class _Round:
    """One sweep: what was known when it began, what it found, and what went while it was being read."""

    before: frozenset[str]
    found: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)


class Known:
    """Versions by uid: says what is news, and what a complete list proves gone.

    Args:
        on_seen, on_gone: told of news, once each.
        repaired: called for each thing that only a sweep found out; the first one finds everything.
    """

    def __init__(
        self, *, on_seen: Callable[[Json], None], on_gone: Callable[[str], None], repaired: Callable[[], None]
    ) -> None:
        self._on_seen = on_seen
        self._on_gone = on_gone
        self._repaired = repaired
        self._versions: dict[str, str] = {}
        self._round: _Round | None = None
        self._complete = False

    def __len__(self) -> int:
        return len(self._versions)

    def __contains__(self, uid: str) -> bool:
        return uid in self._versions

    def seen(self, raw: Json) -> bool:
        """True if that was news; an event that was delivered again, or is older than what is known, is none."""
        metadata = raw["metadata"]
        uid, version = metadata["uid"], metadata["resourceVersion"]
        known = self._versions.get(uid)
        if known is not None and newer_or_same(known, version):
            return False
        self._versions[uid] = version
        self._on_seen(raw)
        return True

    def gone(self, raw: Json) -> None:
        uid = raw["metadata"]["uid"]
        if self._round:
            self._round.gone.add(uid)
        self._forget(uid)

    def sweep_begins(self) -> None:
        self._round = _Round(frozenset(self._versions))

    def swept(self, raw: Json) -> None:
        assert self._round is not None
        uid = raw["metadata"]["uid"]
        self._round.found.add(uid)
        if uid not in self._round.gone and self.seen(raw) and self._complete:
            self._repaired()

    def sweep_ends(self) -> None:
        assert self._round is not None
        for uid in self._round.before - self._round.found:
            if self._forget(uid):
                self._repaired()
        self._round, self._complete = None, True

    def _forget(self, uid: str) -> bool:
        if self._versions.pop(uid, None) is None:
            return False
        self._on_gone(uid)
        return True
