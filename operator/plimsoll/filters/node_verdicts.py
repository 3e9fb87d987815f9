"""Verdicts of node filters per class of pods: a warm class costs one comparison of versions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.node_column import NodeColumns
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Snapshot
from plimsoll.filters.interface import NodeFilter
from plimsoll.filters.keeping_off import KeepingOff
from plimsoll.filters.node_unschedulable import NodeUnschedulable
from plimsoll.filters.taint_toleration import TaintToleration

# Filters to which nodes with the same cordon and taints are alike.
_LOOK_AT_TAINTS = (NodeUnschedulable, TaintToleration)


class NodeVerdicts:
    """For one sequence of filters."""

    def __init__(self, filters: Sequence[NodeFilter]) -> None:
        self.filters = filters
        self._columns = NodeColumns(np.int8)
        self._keeping_off = KeepingOff()

    def of(self, view: Snapshot, pod: PodInfo) -> NDArray[np.int8]:
        """[N], 1 + index of the first filter that refuses the pod, 0 where none does (and in free rows)."""
        first = self._first(pod)
        if all(isinstance(f, _LOOK_AT_TAINTS) for f in self.filters if f.concerns(pod)):
            by_kind = self._keeping_off.of(view, first)
            if by_kind is not None:
                return by_kind
        return self._columns.of(view, pod.class_key, first).astype(np.int8, copy=False)

    def of_rows(self, view: Snapshot, pod: PodInfo, rows: Sequence[int]) -> NDArray[np.int8]:
        """[N], the same for some rows, 0 in the others. Nothing is kept: each pod of a DaemonSet is its own class."""
        first, verdicts = self._first(pod), np.zeros(view.size, dtype=np.int8)
        for row in rows:
            node = view.nodes[row]
            verdicts[row] = 0 if node is None else first(node)
        return verdicts

    def _first(self, pod: PodInfo) -> Callable[[NodeInfo], int]:
        concerned = [(i, f) for i, f in enumerate(self.filters, start=1) if f.concerns(pod)]
        return lambda node: next((i for i, f in concerned if f.refuses(pod, node)), 0)
