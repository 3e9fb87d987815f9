"""The safety net for a change that nobody reported: what has waited long is tried again, each pod for itself."""

from __future__ import annotations

from collections import deque

from plimsoll.scheduling.queue.queued import QueuedPod
from plimsoll.scheduling.queue.waiting import WaitingPods

_STUCK_S, _CHECK_S = 300.0, 30.0
# Those that were rejected together come up together: all at once would keep new pods waiting.
_AT_ONCE, _PAUSE_S = 50, 1.0


class Stuck:
    """Rejected pods that were not tried for so long, the longest first, some at a time."""

    def __init__(self, waiting: WaitingPods) -> None:
        self._waiting = waiting
        self._due: deque[tuple[QueuedPod, float]] = deque()
        self._checked_s = 0.0
        self._taken_s = 0.0

    def due_at_s(self) -> float | None:
        """When ``take`` may have something; None while nobody waits."""
        if self._due:
            return self._taken_s + _PAUSE_S
        return self._checked_s + _CHECK_S if self._waiting else None

    def take(self, *, now_s: float) -> list[QueuedPod]:
        """Some of them; those that were tried or went meanwhile are the caller's to leave out."""
        if not self._due and now_s >= self._checked_s + _CHECK_S:
            self._checked_s = now_s
            stuck = [queued for queued in self._waiting if queued.tried_s <= now_s - _STUCK_S]
            self._due.extend((queued, queued.tried_s) for queued in sorted(stuck, key=lambda queued: queued.tried_s))
        if not self._due or now_s < self._taken_s + _PAUSE_S:
            return []
        self._taken_s = now_s
        taken = [self._due.popleft() for _ in range(min(_AT_ONCE, len(self._due)))]
        return [queued for queued, tried_s in taken if queued.tried_s == tried_s]
