"""The unschedulable pool: rejected pods, each waiting for a change that can help it.

Pods that were rejected by the same plugins and differ only in name are kept together: a change costs one question per
kind of pod, however many replicas wait.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.filters.order import waiting_index, wakes_of
from plimsoll.filters.waiting import WaitingIndex
from plimsoll.scheduling.queue.likeness import labels_count, likeness
from plimsoll.scheduling.queue.queued import QueuedPod

# Whether a pod that the plugin rejected may fit after one change, of a kind that wakes such pods.
Ask = Callable[[str, QueuedPod], bool]

# More would hold up whoever asks first; fewer may be woken and gone before anybody does.
_UNSORTED = 100


class Helps(Protocol):
    """Who knows what can help whom."""

    def about(self, change: Change) -> Ask: ...

    def among(self, index: WaitingIndex, change: Change) -> Iterable[int] | None:
        """Whom of the index the change may help; None: ask all."""
        ...

    def stands_alone(self, uid: Uid) -> bool:
        """It has a place of its own to go to, and what becomes of it says nothing of others like it."""
        ...

    def told_by_labels(self, pod: PodInfo) -> bool:
        """A pod on a node keeps it away by its labels: what becomes of it says nothing of those with others."""
        ...


@dataclass(slots=True)
class Alike:
    """Waiting pods that nothing tells apart that anybody asks for: what refuses one of them refuses all.

    Attributes:
        serial: goes up in the order in which they came.
        leader: the one of them that is being tried for all; it does not wait itself.
        event: what woke it.
    """

    plugins: frozenset[str]
    likeness: str
    serial: int
    pods: dict[Uid, QueuedPod] = field(default_factory=dict)
    leader: Uid | None = None
    event: str = ""


class WaitingPods:
    """Rejected pods, by what rejected them, then by what they ask for."""

    def __init__(self, helps: Helps) -> None:
        self._helps = helps
        self._rejected: dict[frozenset[str], _Rejected] = {}

    def __bool__(self) -> bool:
        return bool(self._rejected)

    def __iter__(self) -> Iterator[QueuedPod]:
        return (queued for rejected in self._rejected.values() for queued in rejected)

    def put(self, queued: QueuedPod) -> None:
        rejected = self._of(queued.rejected_by)
        rejected.fresh[queued.pod.uid] = queued
        if len(rejected.fresh) > _UNSORTED:
            rejected.sort()

    def remove(self, queued: QueuedPod) -> None:
        rejected = self._rejected[queued.rejected_by]
        rejected.remove(queued)
        self._tidy(queued.rejected_by)

    def alike_of(self, queued: QueuedPod) -> Alike | None:
        """Those that it waits with; None where no change has asked about it yet."""
        rejected = self._rejected[queued.rejected_by]
        return None if queued.pod.uid in rejected.fresh else rejected.alike[likeness(queued)]

    def helped_by(self, change: Change) -> list[Alike]:
        """Those that may fit after the change; they stay where they are."""
        ask = self._helps.about(change)
        return [
            alike
            for rejected in list(self._rejected.values())
            if (plugins := rejected.waiting_for(change.kind))
            for alike in rejected.asked(change, plugins, self._helps)
            if _concerned(change, alike) and _any(ask, plugins, next(iter(alike.pods.values())))
        ]

    def helps(self, change: Change, queued: QueuedPod) -> bool:
        """Whether the change can help the pod, wherever it is."""
        plugins = [plugin for plugin in queued.rejected_by if wakes_of((plugin,)) & change.kind]
        return change.policy in {"", queued.policy} and _any(self._helps.about(change), plugins, queued)

    def rejected_like(self, alike: Alike, first: QueuedPod) -> bool:
        """One of them was rejected anew: that is what the others wait for as well.

        Answers whether it was tried for all: where its labels had a say, only for those that have the same.
        """
        told = [q for q in alike.pods.values() if q.policy == first.policy]
        if labels_count(first):
            told = [q for q in told if q.pod.labels == first.pod.labels]
        for_all = len(told) == len(alike.pods)
        if (alike.plugins, alike.likeness) != (first.rejected_by, likeness(first)):
            self._move([q for q in told if not self._helps.stands_alone(q.pod.uid)], first)
        return for_all

    def _move(self, moved: list[QueuedPod], first: QueuedPod) -> None:
        for queued in moved:
            self.remove(queued)
            queued.rejected_by, queued.by_labels, queued.likeness = first.rejected_by, first.by_labels, None
            self.put(queued)

    def _of(self, plugins: frozenset[str]) -> _Rejected:
        if plugins not in self._rejected:
            self._rejected[plugins] = _Rejected(plugins, {plugin: wakes_of((plugin,)) for plugin in plugins})
        return self._rejected[plugins]

    def _tidy(self, plugins: frozenset[str]) -> None:
        if not self._rejected[plugins].fresh and not self._rejected[plugins].alike:
            del self._rejected[plugins]


@dataclass(slots=True)
class _Rejected:
    """Pods that the same plugins rejected; they are sorted by likeness when a change first asks, or many have come."""

    plugins: frozenset[str]
    wakes: dict[str, ChangeKind]
    fresh: dict[Uid, QueuedPod] = field(default_factory=dict)
    alike: dict[str, Alike] = field(default_factory=dict)
    serials: Iterator[int] = field(default_factory=itertools.count)
    by_serial: dict[int, Alike] = field(default_factory=dict)
    indexes: dict[str, WaitingIndex] = field(default_factory=dict)

    def __post_init__(self) -> None:
        made = {plugin: waiting_index(plugin) for plugin in self.plugins}
        self.indexes = {plugin: index for plugin, index in made.items() if index is not None}

    def __iter__(self) -> Iterator[QueuedPod]:
        yield from self.fresh.values()
        for alike in self.alike.values():
            yield from alike.pods.values()

    def waiting_for(self, kind: ChangeKind) -> list[str]:
        return [plugin for plugin, wakes in self.wakes.items() if wakes & kind]

    def asked(self, change: Change, plugins: list[str], helps: Helps) -> list[Alike]:
        """Who may be helped by what it does for one of the plugins, in the order in which they came."""
        self.sort()
        found: set[int] = set()
        for plugin in plugins:
            index = self.indexes.get(plugin)
            serials = None if index is None else helps.among(index, change)
            if serials is None:
                return list(self.alike.values())
            found.update(serials)
        return [self.by_serial[serial] for serial in sorted(found)]

    def sort(self) -> None:
        for uid, queued in self.fresh.items():
            self.of(queued).pods[uid] = queued
        self.fresh.clear()

    def of(self, queued: QueuedPod) -> Alike:
        like = likeness(queued)
        found = self.alike.get(like)
        if found is None:
            found = self.alike[like] = Alike(self.plugins, like, next(self.serials))
            self.by_serial[found.serial] = found
            for index in self.indexes.values():
                index.add(found.serial, queued.pod)
        return found

    def remove(self, queued: QueuedPod) -> None:
        if self.fresh.pop(queued.pod.uid, None) is None:
            alike = self.alike[likeness(queued)]
            del alike.pods[queued.pod.uid]
            self.drop_if_empty(alike)

    def drop_if_empty(self, alike: Alike) -> None:
        if not alike.pods:
            del self.alike[alike.likeness], self.by_serial[alike.serial]
            for index in self.indexes.values():
                index.remove(alike.serial)


def _concerned(change: Change, alike: Alike) -> bool:
    return not change.policy or change.policy == next(iter(alike.pods.values())).policy


def _any(ask: Ask, plugins: list[str], queued: QueuedPod) -> bool:
    return any(ask(plugin, queued) for plugin in plugins)
