"""The queue itself: which pod is where, and how it moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice

from plimsoll.cluster.changes import Change
from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.scheduling.queue.in_flight import InFlight
from plimsoll.scheduling.queue.labels import (
    ADDED,
    FAILED,
    FORCED,
    RESELECTED,
    TIMEOUT,
    UPDATED,
    event_label,
)
from plimsoll.scheduling.queue.own_changes import own_change_helps
from plimsoll.scheduling.queue.places import Places
from plimsoll.scheduling.queue.queued import Place, QueuedPod
from plimsoll.scheduling.queue.stuck import Stuck
from plimsoll.scheduling.queue.waiting import Alike, Helps, WaitingPods

# So many kinds of pods are moved at once, some milliseconds; the rest of them follows as the next ones are tried.
_AT_ONCE = 1000


class Queue:
    """Every pending pod is in exactly one place; one that is being tried, prepared or bound is in none."""

    def __init__(self, helps: Helps) -> None:
        self._helps = helps
        self._waiting = WaitingPods(helps)
        self._places = Places(self._waiting)
        self._leaders: dict[Uid, Alike] = {}
        self._in_flight = InFlight()
        self._held: set[Uid] = set()
        self._stuck = Stuck(self._waiting)
        # Helped by a change that helped very many: the others of them are moved first. Each once, by its id.
        self._to_wake: dict[int, tuple[Alike, str]] = {}

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, uid: Uid) -> bool:
        return self._places.get(uid) is not None

    def __iter__(self) -> Iterator[QueuedPod]:
        return iter(self._places)

    def get(self, uid: Uid) -> QueuedPod | None:
        """None also of a pod in flight."""
        return self._places.get(uid)

    def counts(self) -> Mapping[str, int]:
        """Number of pods by place."""
        counted = Counter(queued.place for queued in self._places)
        return {place.value: counted[place] for place in Place}

    def rejected(self) -> Mapping[str, int]:
        """Waiting pods by what rejected them at their last attempt; one pod may count under several."""
        return Counter(plugin for queued in self._places for plugin in queued.rejected_by)

    def take_incoming(self) -> Mapping[tuple[str, str], int]:
        """Pods that came into a place since this was last asked, by its name and by the event that brought them."""
        return self._places.take_incoming()

    @property
    def in_flight(self) -> int:
        return len(self._in_flight)

    # -- pods that come, change and go ----------------------------------------------------------------

    def put(self, pod: PodInfo, *, now_s: float) -> None:
        """A pod that came in or changed; a change of its own may be what it needs."""
        known = self._places.get(pod.uid)
        if known is None:
            self._places.enter(QueuedPod(pod, since_s=now_s), Place.GATED if pod.gates else Place.ACTIVE, ADDED)
        elif replace(pod, resource_version=known.pod.resource_version) == known.pod:
            known.pod = pod
        else:
            self._changed(known, pod, now_s=now_s)

    def remove(self, uid: Uid, *, now_s: float) -> None:
        self._held.discard(uid)
        queued = self._places.get(uid)
        if queued is not None:
            self._places.leave(queued)
            self._next_alike(uid, now_s=now_s)

    # -- attempts -------------------------------------------------------------------------------------

    def pop(self, *, now_s: float) -> QueuedPod | None:
        """The next pod to try; it is in flight until ``failed``, ``placed`` or ``done`` says what came of it.

        With nobody else to try, a rejected pod that something woke need not wait out its backoff.
        """
        self._free_stuck(now_s)
        self._wake_more(now_s)
        queued = self._places.take(now_s=now_s)
        if queued is not None:
            queued.tried = queued.pod
            self._in_flight.begin(queued.pod.uid)
        return queued

    def failed(self, queued: QueuedPod, *, rejected_by: frozenset[str], preempted: bool = False, now_s: float) -> None:
        """Back after an attempt: to wait for a change, or (nothing rejected it: an error) for its backoff alone.

        Args:
            preempted: it makes others go. It may take its place before its backoff is over, but not make others go
                again, so that it preempts once in each.
        """
        missed = self._in_flight.since(queued.pod.uid)
        self._in_flight.end(queued.pod.uid)
        queued.failed(rejected_by, preempted=preempted, now_s=now_s)
        queued.likeness = None  # its policy may be another
        queued.by_labels = bool(rejected_by) and self._helps.told_by_labels(queued.pod)
        helped = not rejected_by or self._missed(queued, missed)
        self._tried_for_all(queued, helped=helped, now_s=now_s)
        if queued.pod.gates:
            self._places.enter(queued, Place.GATED, FAILED)
        elif queued.pod.uid in self._held or not helped:
            queued.woken = helped
            self._places.enter(queued, Place.UNSCHEDULABLE, FAILED)
        else:
            self._places.enter(queued, Place.BACKOFF, FAILED)

    def paused(self, queued: QueuedPod) -> None:
        """The attempt is not over: it goes on when its turn comes again, as a rule next."""
        self._in_flight.end(queued.pod.uid)
        self._places.enter(queued, Place.ACTIVE, "")

    def too_soon(self, queued: QueuedPod) -> None:
        """It would make others go again before its backoff is over: it waits for that, whatever happens."""
        self._in_flight.end(queued.pod.uid)
        queued.whole_backoff = True
        self._places.enter(queued, Place.BACKOFF, FAILED)

    def placed(self, uid: Uid, *, now_s: float) -> None:
        """The pod is assumed on a node: the next of those that are like it may find a place as well.

        What happens from here on is not kept for it: if it comes back it was no change that kept it from its node.
        """
        self._in_flight.end(uid)
        self._next_alike(uid, now_s=now_s)

    def skipped(self, uid: Uid, *, now_s: float) -> None:
        """The pod is not tried and does not come back, which says nothing about those that are like it."""
        self.done(uid)
        self._next_alike(uid, now_s=now_s)

    def done(self, uid: Uid) -> None:
        """A pod that does not come back: it is bound, or gone."""
        self._held.discard(uid)
        self._in_flight.end(uid)

    # -- waking ---------------------------------------------------------------------------------------

    def wake(self, change: Change, *, now_s: float) -> None:
        """Moves pods that the change can help to active, or to backoff where that is not over.

        Of pods that are alike one is tried for all: the next follows when it found a place, and none if it did not.
        """
        self._in_flight.happened(change)
        helped = self._waiting.helped_by(change)
        if not helped:
            return
        event = event_label(change.kind)
        if len(helped) > _AT_ONCE:
            helped.sort(key=_urgency)
            self._to_wake.update((id(alike), (alike, event)) for alike in helped[_AT_ONCE:])
        for alike in helped[:_AT_ONCE]:
            self._wake_alike(alike, event, now_s=now_s)

    def wake_pod(self, uid: Uid, *, now_s: float) -> None:
        """What concerns this pod alone: its victims are gone, or another policy would place it now.

        It need not wait out its backoff then, even if it has just preempted.
        """
        queued = self._places.get(uid)
        if queued is None:
            return
        if queued.place is Place.UNSCHEDULABLE or (queued.place is Place.BACKOFF and queued.whole_backoff):
            self._try_again(queued, RESELECTED, now_s=now_s, early=True)

    def hold(self, uid: Uid, *, now_s: float) -> None:
        """Keeps the pod from being tried until ``release``: its victims are being evicted.

        Before ``failed`` puts it back or after; what wakes it meanwhile counts when it is released.
        """
        self._held.add(uid)
        queued = self._places.get(uid)
        if queued is not None and queued.place in {Place.ACTIVE, Place.BACKOFF}:
            self._places.move(queued, Place.UNSCHEDULABLE, FAILED)
            queued.woken = True
            self._next_alike(uid, now_s=now_s)

    def release(self, uid: Uid, *, retry: bool, now_s: float) -> None:
        """Ends ``hold``.

        Args:
            retry: the evictions failed: the pod is tried again once its backoff is over. Else it waits for its
                victims to go, unless something woke it before.
        """
        self._held.discard(uid)
        queued = self._places.get(uid)
        if queued is None or queued.place is not Place.UNSCHEDULABLE:
            return
        if retry or queued.woken:
            self._try_again(queued, FORCED, now_s=now_s, early=not retry)

    def due_at_s(self) -> float | None:
        """When ``pop`` may have something: 0.0 for now, None for not before something changes."""
        if self._to_wake:
            return 0.0
        times = (self._places.due_at_s(), self._stuck.due_at_s())
        return min((time_s for time_s in times if time_s is not None), default=None)

    # -- inside ---------------------------------------------------------------------------------------

    def _missed(self, queued: QueuedPod, changes: list[Change]) -> bool:
        """Whether the pod itself or anything else changed during the attempt so that it may fit now."""
        assert queued.tried is not None
        if own_change_helps(queued.tried, queued.pod, queued.rejected_by):
            return True
        # Of its own assumption, and that being forgotten, there is nothing to be had.
        others = (c for c in changes if queued.pod.uid not in {_uid(c.before), _uid(c.after)})
        return any(self._waiting.helps(replace(change, late=True), queued) for change in others)

    def _wake_alike(self, alike: Alike, event: str, *, now_s: float) -> None:
        alike.event = event
        for queued in [q for q in alike.pods.values() if self._stands_alone(q.pod.uid)]:
            self._try_again(queued, event, now_s=now_s)
        self._wake_one(alike, now_s=now_s)

    def _wake_more(self, now_s: float) -> None:
        """Who was tried or went meanwhile is among its likes no more."""
        for waits in list(islice(self._to_wake, _AT_ONCE)):
            alike, event = self._to_wake.pop(waits)
            self._wake_alike(alike, event, now_s=now_s)

    def _wake_one(self, alike: Alike, *, now_s: float) -> None:
        first = next((q for q in alike.pods.values() if q.pod.uid not in self._held), None)
        if first is None or alike.leader is not None:
            return
        alike.leader = first.pod.uid
        self._leaders[first.pod.uid] = alike
        self._try_again(first, alike.event, now_s=now_s)

    def _next_alike(self, uid: Uid, *, now_s: float) -> None:
        """The one that was tried for all no longer is, and what became of it speaks for another try."""
        alike = self._leaders.pop(uid, None)
        if alike is not None and alike.leader == uid:
            alike.leader = None
            self._wake_one(alike, now_s=now_s)

    def _tried_for_all(self, queued: QueuedPod, *, helped: bool, now_s: float) -> None:
        uid = queued.pod.uid
        if helped or self._stands_alone(uid):
            self._next_alike(uid, now_s=now_s)
        elif (alike := self._leaders.pop(uid, None)) is not None and alike.leader == uid:
            alike.leader = None
            if not self._waiting.rejected_like(alike, queued):
                self._wake_one(alike, now_s=now_s)

    def _stands_alone(self, uid: Uid) -> bool:
        return uid in self._held or self._helps.stands_alone(uid)

    def _changed(self, known: QueuedPod, pod: PodInfo, *, now_s: float) -> None:
        place, before, event = known.place, known.pod, self._yet_to_wake(known)
        self._places.leave(known)
        self._next_alike(pod.uid, now_s=now_s)
        known.changed(pod)
        if pod.gates:
            place = Place.GATED
        elif place is Place.GATED:
            place = Place.ACTIVE
        self._places.enter(known, place, UPDATED if place is not known.place else "")
        if place is Place.UNSCHEDULABLE and own_change_helps(before, pod, known.rejected_by):
            self._try_again(known, UPDATED, now_s=now_s)
        elif place is Place.UNSCHEDULABLE and event:
            self._try_again(known, event, now_s=now_s)

    def _yet_to_wake(self, queued: QueuedPod) -> str:
        """What is to wake the pod when its turn comes, among others that it may leave before; "" for nothing."""
        if not self._to_wake or queued.place is not Place.UNSCHEDULABLE:
            return ""
        waits = self._to_wake.get(id(self._waiting.alike_of(queued)))
        return "" if waits is None else waits[1]

    def _try_again(self, queued: QueuedPod, event: str, *, now_s: float, early: bool = False) -> None:
        """Args:
        early: it may leave its backoff before the end though it has just preempted.
        """
        if queued.pod.uid in self._held:
            queued.woken = True
            return
        self._places.leave(queued)
        queued.whole_backoff = not early and now_s < queued.preempts_again_s
        self._places.enter(queued, Place.ACTIVE if queued.backoff_until_s <= now_s else Place.BACKOFF, event)

    def _free_stuck(self, now_s: float) -> None:
        for queued in self._stuck.take(now_s=now_s):
            if self._places.get(queued.pod.uid) is queued and queued.place is Place.UNSCHEDULABLE:
                self._try_again(queued, TIMEOUT, now_s=now_s)


def _urgency(alike: Alike) -> tuple[float, ...]:
    first = next(iter(alike.pods.values()))
    return -first.pod.priority, first.since_s


def _uid(thing: object) -> Uid | None:
    return thing.uid if isinstance(thing, PodInfo) else None
