"""Verdicts about nodes that differ only in cordon and taints: few of thousands do, so few are asked."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.node_column import NodeColumns
from plimsoll.cluster.snapshot import Snapshot
from plimsoll.cluster.taints import Taint

# Beyond this, one look at each kind costs more than what is kept per class of pods and node.
_FEW = 64
# A taint may have another value each minute; then all are numbered anew.
_KINDS_KEPT = 10_000
_ALL = ""


class KeepingOff:
    """Nodes by what keeps pods off them."""

    def __init__(self) -> None:
        self._forget()

    def of(self, view: Snapshot, verdict: Callable[[NodeInfo], int]) -> NDArray[np.int8] | None:
        """[N], the verdict by row, 0 in free rows; None where nodes differ so much that it saves nothing.

        Args:
            verdict: the same for nodes that are alike in cordon and taints.
        """
        if len(self._examples) > max(_KINDS_KEPT, 2 * view.size):
            self._forget()
        kinds = self._columns.of(view, _ALL, self._kind).astype(np.int64)
        there = np.flatnonzero(np.bincount(kinds)[1:])
        if len(there) > _FEW:
            return None
        verdicts = np.zeros(len(self._examples) + 1, dtype=np.int8)
        for kind in there.tolist():
            verdicts[kind + 1] = verdict(self._examples[kind])
        return verdicts[kinds]

    def _kind(self, node: NodeInfo) -> int:
        """From 1."""
        key = node.unschedulable, node.taints
        kind = self._numbers.get(key)
        if kind is None:
            self._examples.append(node)
            kind = self._numbers[key] = len(self._examples)
        return kind

    def _forget(self) -> None:
        self._columns = NodeColumns(np.float64)
        self._numbers: dict[tuple[bool, tuple[Taint, ...]], int] = {}
        self._examples: list[NodeInfo] = []
