"""The queue of pending pods: active, backoff, unschedulable and gated.

Active pods wait for their turn, by priority, then by the time they came in. A pod that was rejected waits in the
unschedulable pool for a change that concerns what rejected it; a pod whose attempt failed for another reason
waits out its backoff. Times are seconds since the epoch, handed in.
"""

from __future__ import annotations

import enum
import heapq
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.filters.run import wakes_of

_FIRST_BACKOFF_S, _LONGEST_BACKOFF_S = 1.0, 10.0
# The safety net for a change that nobody reported: what has waited this long is tried again.
_STUCK_S, _STUCK_CHECK_S = 300.0, 30.0
# So many are not worth the walk.
_VOID_ENTRIES = 1000


class Place(enum.Enum):
    ACTIVE = "active"
    BACKOFF = "backoff"
    UNSCHEDULABLE = "unschedulable"
    GATED = "gated"


@dataclass(slots=True)
class QueuedPod:
    """A pending pod with its history.

    Attributes:
        since_s: when it came in; decides among equal priorities.
        attempts: failed attempts so far, by which the backoff grows.
        tried_s: end of the last failed attempt.
        rejected_by: what rejected it at the last attempt.
        wakes: changes for which it waits in the unschedulable pool.
        policy: the policy that its last attempt went by.
        gone: it was deleted, or is no longer pending, while it was being bound.
        selection: version of the policies and namespaces for which ``selected`` holds.
        selected: the policy that would place it; None where it waits for one.
        ticket: of its place in a heap; older entries are void.
    """

    pod: PodInfo
    since_s: float
    place: Place = Place.ACTIVE
    attempts: int = 0
    tried_s: float = 0.0
    rejected_by: frozenset[str] = frozenset()
    wakes: ChangeKind = ChangeKind(0)
    policy: str = ""
    gone: bool = False
    selection: int = -1
    selected: str | None = None
    ticket: int = 0

    @property
    def backoff_until_s(self) -> float:
        if not self.attempts:
            return 0.0
        # The exponent is bounded, or a pod that fails for years would overflow it.
        grown_s = _FIRST_BACKOFF_S * 2.0 ** min(self.attempts - 1, 10)
        return float(self.tried_s + min(grown_s, _LONGEST_BACKOFF_S))


class Queue:
    """Every pending pod is in exactly one place; one that is being tried or bound is in none."""

    def __init__(self) -> None:
        self._pods: dict[Uid, QueuedPod] = {}
        self._active: list[tuple[int, float, int, Uid]] = []
        self._backoff: list[tuple[float, int, Uid]] = []
        # Unschedulable pods by what they wait for: a change looks at each kind of waiting once, not at each pod.
        self._waiting: dict[ChangeKind, dict[Uid, None]] = {}
        self._tickets = itertools.count(1)
        self._stuck_check_s = 0.0

    def __len__(self) -> int:
        return len(self._pods)

    def __contains__(self, uid: Uid) -> bool:
        return uid in self._pods

    def __iter__(self) -> Iterator[QueuedPod]:
        return iter(self._pods.values())

    def counts(self) -> Mapping[str, int]:
        """Number of pods by place."""
        counted = Counter(queued.place for queued in self._pods.values())
        return {place.value: counted[place] for place in Place}

    def rejected(self) -> Mapping[str, int]:
        """Waiting pods by what rejected them at their last attempt; one pod may count under several."""
        return Counter(plugin for queued in self._pods.values() for plugin in queued.rejected_by)

    def put(self, pod: PodInfo, *, now_s: float) -> None:
        """A pod that came in or changed. A change of the pod itself may be what it needs; our own status is none."""
        known = self._pods.get(pod.uid)
        if known is None:
            self._enter(QueuedPod(pod, since_s=now_s), Place.GATED if pod.gates else Place.ACTIVE)
        elif replace(pod, resource_version=known.pod.resource_version) == known.pod:
            known.pod = pod
        else:
            self._changed(known, pod, now_s=now_s)

    def remove(self, uid: Uid) -> None:
        queued = self._pods.pop(uid, None)
        if queued is not None:
            self._leave(queued)

    def pop(self, *, now_s: float) -> QueuedPod | None:
        """The next pod to try; it is in no place until ``failed`` puts it back."""
        self._end_backoffs(now_s)
        self._free_stuck(now_s)
        while self._active:
            _, _, ticket, uid = heapq.heappop(self._active)
            if self._current(uid, ticket):
                return self._pods.pop(uid)
        return None

    def failed(self, queued: QueuedPod, *, rejected_by: frozenset[str], now_s: float) -> None:
        """Back after an attempt: to wait for a change, or (nothing rejected it: an error) for its backoff alone."""
        queued.attempts += 1
        queued.tried_s = now_s
        queued.rejected_by, queued.wakes = rejected_by, wakes_of(rejected_by)
        self._enter(queued, Place.UNSCHEDULABLE if rejected_by else Place.BACKOFF)

    def wake(self, change: Change, *, now_s: float) -> None:
        """Moves the pods that wait for such a change to active, or to backoff where that is not over."""
        for wakes in [w for w in self._waiting if w & change.kind]:
            for queued in [self._pods[uid] for uid in self._waiting[wakes]]:
                if change.policy in {"", queued.policy}:
                    self._try_again(queued, now_s=now_s)

    def wake_pod(self, uid: Uid, *, now_s: float) -> None:
        queued = self._pods.get(uid)
        if queued is not None and queued.place is Place.UNSCHEDULABLE:
            self._try_again(queued, now_s=now_s)

    def due_at_s(self) -> float | None:
        """When ``pop`` may have something: 0.0 for now, None for not before something changes."""
        if self._active:
            return 0.0
        times = [until_s for until_s, _, _ in self._backoff[:1]]
        if self._waiting:
            times.append(self._stuck_check_s + _STUCK_CHECK_S)
        return min(times, default=None)

    def _current(self, uid: Uid, ticket: int) -> bool:
        queued = self._pods.get(uid)
        return queued is not None and queued.ticket == ticket

    def _changed(self, known: QueuedPod, pod: PodInfo, *, now_s: float) -> None:
        known.pod, known.selection = pod, -1
        if pod.gates:
            self._move(known, Place.GATED)
        elif known.place is Place.GATED:
            self._move(known, Place.ACTIVE)
        elif known.place is Place.UNSCHEDULABLE:
            self._try_again(known, now_s=now_s)
        elif known.place is Place.ACTIVE:
            self._move(known, Place.ACTIVE)  # its priority may be another

    def _try_again(self, queued: QueuedPod, *, now_s: float) -> None:
        self._move(queued, Place.ACTIVE if queued.backoff_until_s <= now_s else Place.BACKOFF)

    def _move(self, queued: QueuedPod, place: Place) -> None:
        self._leave(queued)
        self._enter(queued, place)

    def _leave(self, queued: QueuedPod) -> None:
        """Heap entries become void by their ticket."""
        queued.ticket = 0
        waiting = self._waiting.get(queued.wakes, {})
        waiting.pop(queued.pod.uid, None)
        if not waiting:
            self._waiting.pop(queued.wakes, None)
        self._tidy()

    def _enter(self, queued: QueuedPod, place: Place) -> None:
        uid = queued.pod.uid
        queued.place, queued.ticket = place, next(self._tickets)
        self._pods[uid] = queued
        match place:
            case Place.ACTIVE:
                heapq.heappush(self._active, (-queued.pod.priority, queued.since_s, queued.ticket, uid))
            case Place.BACKOFF:
                heapq.heappush(self._backoff, (queued.backoff_until_s, queued.ticket, uid))
            case Place.UNSCHEDULABLE:
                self._waiting.setdefault(queued.wakes, {})[uid] = None
            case Place.GATED:
                pass

    def _tidy(self) -> None:
        """A standby never pops: without this each pod that came and went would leave its void entry for good."""
        if len(self._active) + len(self._backoff) > 2 * len(self._pods) + _VOID_ENTRIES:
            self._active = [entry for entry in self._active if self._current(entry[3], entry[2])]
            self._backoff = [entry for entry in self._backoff if self._current(entry[2], entry[1])]
            heapq.heapify(self._active)
            heapq.heapify(self._backoff)

    def _end_backoffs(self, now_s: float) -> None:
        while self._backoff and self._backoff[0][0] <= now_s:
            _, ticket, uid = heapq.heappop(self._backoff)
            if self._current(uid, ticket):
                self._move(self._pods[uid], Place.ACTIVE)

    def _free_stuck(self, now_s: float) -> None:
        if now_s < self._stuck_check_s + _STUCK_CHECK_S:
            return
        self._stuck_check_s = now_s
        for queued in [self._pods[uid] for uids in self._waiting.values() for uid in uids]:
            if queued.tried_s + _STUCK_S <= now_s:
                self._try_again(queued, now_s=now_s)
