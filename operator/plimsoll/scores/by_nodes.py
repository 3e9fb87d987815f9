"""What depends on the nodes alone, kept until one of them changes."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from plimsoll.cluster.snapshot import Snapshot

_T = TypeVar("_T")

# One holds a few numbers per node.
_MAX_KEPT = 64


class ByNodes(Generic[_T]):
    """Values by key; never changes an answer."""

    def __init__(self) -> None:
        self._seen: tuple[Snapshot | None, int] = (None, -1)
        self._kept: dict[Hashable, _T] = {}

    def of(self, view: Snapshot, key: Hashable, value: Callable[[], _T]) -> _T:
        """Args:
        key: the same must always come with an equal function.
        """
        if self._seen != (view, view.topology):
            self._kept.clear()
            self._seen = view, view.topology
        if key not in self._kept:
            if len(self._kept) >= _MAX_KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = value()
        return self._kept[key]
