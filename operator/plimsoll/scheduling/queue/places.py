"""Where every pending pod is."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping

from plimsoll.cluster.pod import Uid
from plimsoll.scheduling.queue.heap import Heap, Rank
from plimsoll.scheduling.queue.labels import BACKOFF_COMPLETE, POPPED_EARLY
from plimsoll.scheduling.queue.queued import Place, QueuedPod
from plimsoll.scheduling.queue.waiting import WaitingPods


class Places:
    """Every pod is in exactly one place."""

    def __init__(self, waiting: WaitingPods) -> None:
        tickets = itertools.count(1)
        self._incoming: Counter[tuple[str, str]] = Counter()
        self._pods: dict[Uid, QueuedPod] = {}
        self._active = Heap(_turn, tickets)
        self._backoff = Heap(_end_of_backoff, tickets)
        # After an error: what broke needs the time, and no change of the cluster mends it. Before another preemption:
        # whoever takes the room each time that it is free must not cost a victim each time.
        self._whole_backoff = Heap(_end_of_backoff, tickets)
        self._waiting = waiting

    def __len__(self) -> int:
        return len(self._pods)

    def __iter__(self) -> Iterator[QueuedPod]:
        return iter(self._pods.values())

    def get(self, uid: Uid) -> QueuedPod | None:
        return self._pods.get(uid)

    def take_incoming(self) -> Mapping[tuple[str, str], int]:
        taken, self._incoming = self._incoming, Counter()
        return taken

    def enter(self, queued: QueuedPod, place: Place, event: str) -> None:
        """Args:
        event: what brings it there; "" where it only changed.
        """
        self._pods[queued.pod.uid] = queued
        queued.place = place
        if event:
            self._incoming[place.value, event] += 1
        match place:
            case Place.ACTIVE:
                self._active.push(queued)
            case Place.BACKOFF:
                self._backing_off(queued).push(queued)
            case Place.UNSCHEDULABLE:
                self._waiting.put(queued)
            case Place.GATED:
                pass

    def leave(self, queued: QueuedPod) -> None:
        del self._pods[queued.pod.uid]
        match queued.place:
            case Place.ACTIVE:
                self._active.leave(queued)
            case Place.BACKOFF:
                self._backing_off(queued).leave(queued)
            case Place.UNSCHEDULABLE:
                self._waiting.remove(queued)
            case Place.GATED:
                pass

    def move(self, queued: QueuedPod, place: Place, event: str) -> None:
        self.leave(queued)
        self.enter(queued, place, event)

    def take(self, *, now_s: float) -> QueuedPod | None:
        """The next pod to try.

        With nobody else to try, a rejected one that something woke waits no longer, unless it would only preempt again.
        """
        self._end_backoffs(now_s)
        queued = self._active.pop()
        if queued is None and (queued := self._backoff.pop()) is not None:
            self._incoming[Place.ACTIVE.value, POPPED_EARLY] += 1
        if queued is not None:
            del self._pods[queued.pod.uid]
        return queued

    def due_at_s(self) -> float | None:
        """When ``take`` has something: 0.0 for now, None for not before something changes."""
        if self._active or self._backoff:
            return 0.0
        first = self._whole_backoff.first()
        return None if first is None else first.backoff_until_s

    def _backing_off(self, queued: QueuedPod) -> Heap:
        return self._backoff if queued.rejected_by and not queued.whole_backoff else self._whole_backoff

    def _end_backoffs(self, now_s: float) -> None:
        for heap in (self._backoff, self._whole_backoff):
            while (queued := heap.first()) is not None and queued.backoff_until_s <= now_s:
                self.move(queued, Place.ACTIVE, BACKOFF_COMPLETE)


def _turn(queued: QueuedPod) -> Rank:
    return -queued.pod.priority, queued.since_s


def _end_of_backoff(queued: QueuedPod) -> Rank:
    return queued.backoff_until_s, *_turn(queued)
