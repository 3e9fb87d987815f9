"""Verdicts of node filters per class of pods: a warm class costs one comparison of versions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.node_column import NodeColumns
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Snapshot
from plimsoll.filters.interface import NodeFilter


class NodeVerdicts:
    """For one sequence of filters."""

    def __init__(self, filters: Sequence[NodeFilter]) -> None:
        self.filters = filters
        self._columns = NodeColumns(np.int8)

    def of(self, view: Snapshot, pod: PodInfo) -> NDArray[np.int8]:
        """[N], 1 + index of the first filter that refuses the pod, 0 where none does (and in free rows)."""
        concerned = [(i, f) for i, f in enumerate(self.filters, start=1) if f.concerns(pod)]

        def first(node: NodeInfo) -> int:
            return next((i for i, f in concerned if f.refuses(pod, node)), 0)

        return self._columns.of(view, pod.class_key, first).astype(np.int8, copy=False)
