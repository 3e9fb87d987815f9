"""Verdicts that hang on a node and what its pods request alone, kept per class of pods.

NodeUnschedulable, NodeName, TaintToleration and NodeAffinity look at the node, NodeResourcesFit at its row besides:
between two pods of a class a few rows change, and only these are judged again. Where nominated pods are to have their
room beside a pod, pods of one class have one priority, too.
"""

from __future__ import annotations

import numpy as np

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.resources import PODS
from plimsoll.cluster.snapshot import Bools, Ints, Snapshot
from plimsoll.filters.interface import Refusal
from plimsoll.filters.node_resources_fit import NodeResourcesFit, shortage
from plimsoll.filters.node_verdicts import NodeVerdicts
from plimsoll.filters.promised import Promised

# A class costs some ten bytes per node; the one longest unused goes.
_MAX_CLASSES = 128
# What is wanted beyond this is compared without numpy's limits, by the filter itself.
_MOST = 2**62

_Key = tuple[str, tuple[tuple[str, int], ...], int | None]
_Verdicts = tuple[Bools, tuple[Refusal, ...]]


class RowVerdicts:
    """Never changes an answer."""

    def __init__(self, first: NodeVerdicts) -> None:
        self._first = first
        self._classes: dict[_Key, _Class] = {}

    def of(self, view: Snapshot, pod: PodInfo, *, yields: bool = False) -> _Verdicts | None:
        """[N], which rows these filters leave, and the refusals of the others; live, good until anything changes.

        None where the pod asks for what no node has ever offered, or for absurdly much: that is not kept.

        Args:
            yields: the pod leaves their room to the pods of no lower priority that are nominated to a node.
        """
        priority = pod.priority if yields else None
        key = pod.class_key, tuple(pod.requests.items()), priority
        found = self._classes.pop(key, None)
        if found is None or not found.stands_for(view):
            if any(name not in view.columns or wanted > _MOST for name, wanted in pod.requests.items() if wanted > 0):
                return None
            found = _Class(view, self._first, pod, priority)
        self._classes[key] = found
        if len(self._classes) > _MAX_CLASSES:
            del self._classes[next(iter(self._classes))]
        found.follow(pod)
        own = view.row_of.get(view.nominated.node_of(pod.uid)) if yields else None
        return found.verdicts if own is None else found.without(pod, own)


class _Class:
    """One class: pods that ask for the same and are treated alike by the filters of the node alone.

    Args:
        priority: of the pods that they yield to, at the least; None where they yield to none.
    """

    def __init__(self, view: Snapshot, verdicts: NodeVerdicts, pod: PodInfo, priority: int | None) -> None:
        requests = {PODS: 1, **{name: wanted for name, wanted in pod.requests.items() if wanted > 0}}
        self._view, self._verdicts, self._size = view, verdicts, view.size
        self._reasons = [shortage(name) for name in requests]
        self._columns = np.array([view.columns[name] for name in requests], dtype=np.int64)
        self._wanted = np.array(list(requests.values()), dtype=np.int64)
        self._promised = None if priority is None else Promised(view, priority, tuple(requests))
        self._topology = -1
        self._look(pod)
        self._short, self._never = self._shortages(slice(None))
        self.verdicts = self._conclude(self._short)

    def stands_for(self, view: Snapshot) -> bool:
        return self._view is view and self._size == view.size

    def follow(self, pod: PodInfo) -> None:
        """Judges the rows that changed since."""
        rows = self._changed()
        if rows is not None and not rows:
            return
        first, live, moved = self._first, self._live, self._topology != self._view.topology
        self._look(pod)
        if self._promised is not None:
            self._promised.look(rows)
        at: Ints | slice = slice(None) if rows is None else np.array(list(rows), dtype=np.int64)
        short, never = self._shortages(at)
        if not moved and not short.any() and self.verdicts[0][at].all():
            return  # what fitted still fits
        other = (short != self._short[:, at]).any() or (never != self._never[at]).any()
        if moved:
            other |= (first[at] != self._first[at]).any() or (live[at] != self._live[at]).any()
        if other:
            self._short[:, at], self._never[at] = short, never
            self.verdicts = self._conclude(self._short)

    def without(self, pod: PodInfo, row: int) -> _Verdicts:
        """What a pod finds that is nominated to the row itself, and does not yield to itself."""
        assert self._promised is not None
        short, node = self._short.copy(), (row, self._columns)
        free = self._view.allocatable[node] - self._view.requested[node]
        short[:, row] = self._wanted > free - self._promised.on(row, but=pod.uid)
        return self._conclude(short)

    def _changed(self) -> set[int] | None:
        """Rows that may be others than they were; None: any."""
        changed = self._view.changed
        rows = set() if self._position == changed.position else changed.since(self._position)
        promised = set() if self._promised is None else self._promised.changed()
        return None if rows is None or promised is None else rows | promised

    def _look(self, pod: PodInfo) -> None:
        """At the nodes, if any of them changed."""
        self._position = self._view.changed.position
        if self._topology != self._view.topology:
            self._topology = self._view.topology
            self._first, self._live = self._verdicts.of(self._view, pod), self._view.live.copy()

    def _shortages(self, at: Ints | slice) -> tuple[Bools, Bools]:
        """[K, n], of what each node has too little free; and [n], whether it has even when empty."""
        offered, taken = self._view.allocatable[at], self._view.requested[at]
        offered, taken = offered.take(self._columns, axis=1), taken.take(self._columns, axis=1)
        free = offered - taken
        short: Bools = np.greater(self._wanted, free if self._promised is None else free - self._promised.taken[at])
        never: Bools = np.logical_or.reduce(self._wanted[1:] > offered[:, 1:], axis=1)
        return short.T, never

    def _conclude(self, too_little: Bools) -> _Verdicts:
        """Args:
        too_little: [K, N].
        """
        fit: Bools = self._live & (self._first == 0)
        never = np.zeros(self._size, dtype=np.bool_)
        refusals = [
            Refusal(node_filter.name, node_filter.reason, self._live & (self._first == i), never)
            for i, node_filter in enumerate(self._verdicts.filters, start=1)
            if self._first.any()
        ]
        for reason, short in zip(self._reasons, too_little & fit, strict=True):
            refusals.append(Refusal(NodeResourcesFit.name, reason, short, short & ~self._never))
        left: Bools = fit & ~too_little.any(axis=0)
        return left, tuple(refusal for refusal in refusals if refusal.rows.any())
