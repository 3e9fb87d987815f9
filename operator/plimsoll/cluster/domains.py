"""Topology domains: which nodes share a value of a label, as numbers per row."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Labels = Mapping[str, str]

# A column costs 8 bytes per node and a comparison per change of a node; beyond this the one longest unused goes.
_MAX_KEYS = 64
_FIRST_ROWS = 16


class DomainColumn:
    """The domains of one topology key.

    Attributes:
        key: the label.
        names: the label's value by id; names[0] stands for nodes without the label. Ids of domains that no node is in
            any more are used again; until then they name nothing.
    """

    def __init__(self, key: str) -> None:
        self.key = key
        self.names: list[str] = [""]
        self._ids = np.zeros(_FIRST_ROWS, dtype=np.int64)
        self._size = 0
        self._id_of: dict[str, int] = {}
        self._nodes: list[int] = [0]
        self._free: list[int] = []

    @property
    def ids(self) -> Ints:
        """[N], from 1 per distinct value; 0 where the node lacks the label and in free rows."""
        return self._ids[: self._size]

    @property
    def size(self) -> int:
        """D: one more than the highest id."""
        return len(self.names)

    def id_of(self, value: str) -> int:
        """0 where no node has the value."""
        return self._id_of.get(value, 0)

    def put(self, row: int, labels: Labels) -> None:
        """The row's node has these labels now."""
        self._reach(row)
        value, before = labels.get(self.key), int(self._ids[row])
        if before and self.names[before] == value:
            return
        self._ids[row] = 0 if value is None else self._enter(value)
        if before:
            self._leave(before)

    def _reach(self, row: int) -> None:
        self._size = max(self._size, row + 1)
        while row >= len(self._ids):
            self._ids = np.concatenate((self._ids, np.zeros_like(self._ids)))

    def _enter(self, value: str) -> int:
        number = self._id_of.get(value)
        if number is None:
            number = self._id_of[value] = self._new_id(value)
        self._nodes[number] += 1
        return number

    def _new_id(self, value: str) -> int:
        if self._free:
            number = self._free.pop()
            self.names[number] = value
            return number
        self.names.append(value)
        self._nodes.append(0)
        return len(self.names) - 1

    def _leave(self, number: int) -> None:
        self._nodes[number] -= 1
        if not self._nodes[number]:
            del self._id_of[self.names[number]]
            self.names[number] = ""
            self._free.append(number)


class Domains:
    """Columns by topology key, made when first asked for and then kept in step with the nodes."""

    def __init__(self) -> None:
        self._labels: list[Labels] = []
        self._columns: dict[str, DomainColumn] = {}

    def column(self, key: str) -> DomainColumn:
        """Live; good until it has not been asked for longer than many other keys."""
        column = self._columns.pop(key, None) or self._made(key)
        self._columns[key] = column
        if len(self._columns) > _MAX_KEYS:
            del self._columns[next(iter(self._columns))]
        return column

    def put(self, row: int, labels: Labels) -> None:
        """A node that is new in the row or has changed; no labels at all where the row became free."""
        while row >= len(self._labels):
            self._labels.append({})
        self._labels[row] = labels
        for column in self._columns.values():
            column.put(row, labels)

    def _made(self, key: str) -> DomainColumn:
        column = DomainColumn(key)
        for row, labels in enumerate(self._labels):
            column.put(row, labels)
        return column
