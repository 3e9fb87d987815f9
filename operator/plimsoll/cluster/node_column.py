"""A column of values that depend on the node object alone, kept per class of pods until a node changes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.snapshot import Snapshot

# A class costs some bytes per node; beyond this many the one longest unused goes.
_MAX_CLASSES = 512


class NodeColumns:
    """Columns by class of pods; only rows whose node changed since are computed again."""

    def __init__(self, dtype: type[np.int8 | np.float64]) -> None:
        self._dtype = dtype
        self._columns: dict[str, _Column] = {}

    def of(self, view: Snapshot, key: str, value: Callable[[NodeInfo], float]) -> NDArray[np.float64 | np.int8]:
        """[N], ``value(node)`` per row, 0 in free rows.

        Args:
            key: of the class; the same key must always come with an equal function.
        """
        column = self._columns.pop(key, None) or _Column(self._dtype)
        self._columns[key] = column
        if len(self._columns) > _MAX_CLASSES:
            del self._columns[next(iter(self._columns))]
        return column.updated(view, value)


class _Column:
    def __init__(self, dtype: type[np.int8 | np.float64]) -> None:
        self._seen = 0
        self._values = np.zeros(0, dtype=dtype)

    def updated(self, view: Snapshot, value: Callable[[NodeInfo], float]) -> NDArray[np.float64 | np.int8]:
        if self._seen < view.topology:
            values = np.zeros(view.size, dtype=self._values.dtype)
            values[: len(self._values)] = self._values
            for row in np.flatnonzero(view.version > self._seen):
                node = view.nodes[row]
                values[row] = 0 if node is None else value(node)
            self._values, self._seen = values, view.topology
        return self._values
