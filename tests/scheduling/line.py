"""A Queue with a clock."""

from __future__ import annotations

from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.cluster.snapshot import Snapshot
from plimsoll.filters.waiting import WaitingIndex
from plimsoll.scheduling.hints import Hints
from plimsoll.scheduling.queue import Queue, QueuedPod
from plimsoll.scheduling.queue.waiting import Ask, Helps
from tests.builders import NOW_S, PodBuilder


class AnyChange:
    """Every change of a kind that the plugin waits for helps."""

    def about(self, change: Change) -> Ask:
        return lambda plugin, queued: self.asked(plugin, change, queued)

    def asked(self, plugin: str, change: Change, queued: QueuedPod) -> bool:
        return True

    def among(self, index: WaitingIndex, change: Change) -> None:
        """All are asked."""

    def stands_alone(self, uid: Uid) -> bool:
        return False

    def told_by_labels(self, pod: PodInfo) -> bool:
        return False


class Line:
    """With the filters' own hints where it is given a view of the cluster."""

    def __init__(self, helps: Helps | None = None, *, view: Snapshot | None = None) -> None:
        self.queue = Queue(Hints(view) if view is not None else helps or AnyChange())
        self.now_s = NOW_S

    def put(self, *pods: PodBuilder) -> None:
        for pod in pods:
            self.queue.put(pod.info(), now_s=self.now_s)

    def pop(self) -> QueuedPod | None:
        return self.queue.pop(now_s=self.now_s)

    def names(self) -> list[str]:
        """All that are to be had now, in order."""
        return [queued.pod.name for queued in iter(self.pop, None)]

    def fails(self, *rejected_by: str) -> QueuedPod:
        """The next is tried and fails."""
        queued = self.pop()
        assert queued is not None
        self.comes_back(queued, *rejected_by)
        return queued

    def comes_back(self, queued: QueuedPod, *rejected_by: str, preempted: bool = False) -> None:
        self.queue.failed(queued, rejected_by=frozenset(rejected_by), preempted=preempted, now_s=self.now_s)

    def preempts(self, *rejected_by: str) -> QueuedPod:
        """The next is tried, and others must go for it."""
        queued = self.pop()
        assert queued is not None
        self.queue.hold(queued.pod.uid, now_s=self.now_s)
        self.comes_back(queued, *rejected_by, preempted=True)
        return queued

    def placed(self) -> str:
        """The next is tried and finds a node."""
        queued = self.pop()
        assert queued is not None
        self.queue.placed(queued.pod.uid, now_s=self.now_s)
        self.queue.done(queued.pod.uid)
        return queued.pod.name

    def happens(self, kind: ChangeKind, policy: str = "") -> None:
        self.queue.wake(Change(kind, policy=policy), now_s=self.now_s)

    def changes(self, change: Change | None) -> None:
        assert change is not None
        self.queue.wake(change, now_s=self.now_s)

    def places(self) -> dict[str, int]:
        return {place: count for place, count in self.queue.counts().items() if count}
