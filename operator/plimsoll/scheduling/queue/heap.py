"""A heap of pods that can leave from anywhere."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator

from plimsoll.scheduling.queue.queued import QueuedPod

Rank = tuple[float, ...]

# So many are not worth the walk.
_VOID_ENTRIES = 1000


class Heap:
    """Pods by rank, then in the order in which they came.

    A pod that leaves makes its entry void; the entry goes when it comes to the top, or when too many are void.
    """

    def __init__(self, rank: Callable[[QueuedPod], Rank], tickets: Iterator[int]) -> None:
        self._rank = rank
        # Shared by all heaps that a pod may move between: a void entry must never look current again.
        self._tickets = tickets
        self._entries: list[tuple[Rank, int, QueuedPod]] = []
        self._live = 0

    def __len__(self) -> int:
        return self._live

    def push(self, queued: QueuedPod) -> None:
        queued.ticket = next(self._tickets)
        heapq.heappush(self._entries, (self._rank(queued), queued.ticket, queued))
        self._live += 1

    def leave(self, queued: QueuedPod) -> None:
        queued.ticket = 0
        self._live -= 1
        # A standby never pops: without this each pod that came and went would leave its void entry for good.
        if len(self._entries) > 2 * self._live + _VOID_ENTRIES:
            self._entries = [entry for entry in self._entries if _current(entry)]
            heapq.heapify(self._entries)

    def first(self) -> QueuedPod | None:
        """It stays where it is."""
        while self._entries and not _current(self._entries[0]):
            heapq.heappop(self._entries)
        return self._entries[0][2] if self._entries else None

    def pop(self) -> QueuedPod | None:
        queued = self.first()
        if queued is not None:
            heapq.heappop(self._entries)
            queued.ticket = 0
            self._live -= 1
        return queued


def _current(entry: tuple[Rank, int, QueuedPod]) -> bool:
    _, ticket, queued = entry
    return queued.ticket == ticket
