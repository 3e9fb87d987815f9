"""Verdicts about nodes that differ only in cordon and taints: few of thousands do, so few are asked."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.node_column import NodeColumns
from plimsoll.cluster.snapshot import Snapshot
from plimsoll.cluster.taints import Taint

# A taint may have a value of its own on each node, or another each minute; then all are numbered anew.
_MAX_KINDS = 10_000
_ALL = ""


class KeepingOff:
    """Nodes by what keeps pods off them."""

    def __init__(self) -> None:
        self._forget()

    def of(self, view: Snapshot, verdict: Callable[[NodeInfo], int]) -> NDArray[np.int8]:
        """[N], the verdict by row, 0 in free rows.

        Args:
            verdict: the same for nodes that are alike in cordon and taints.
        """
        if len(self._examples) > _MAX_KINDS:
            self._forget()
        kinds = self._columns.of(view, _ALL, self._kind).astype(np.int64)
        verdicts = np.zeros(len(self._examples) + 1, dtype=np.int8)
        for kind in np.flatnonzero(np.bincount(kinds)[1:]).tolist():
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
