"""How many pods of one workload are on which node, all workloads in the same arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

_FIRST = 64


class Cells:
    """Only what is not 0; in no certain order.

    Attributes:
        place, row, count: of the workload, of the node, and how many; what lies beyond the length is undefined.
    """

    def __init__(self) -> None:
        self.place, self.row, self.count = (np.zeros(_FIRST, dtype=np.int64) for _ in range(3))
        self._at: dict[tuple[int, int], int] = {}
        self._what: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return len(self._what)

    def add(self, place: int, row: int, amount: int) -> None:
        what = (place, row)
        i = self._at.get(what)
        if i is None:
            self._append(what, amount)
        elif count := self.count[i] + amount:
            self.count[i] = count
        else:
            self._take_out(i, what)

    def _append(self, what: tuple[int, int], amount: int) -> None:
        i = self._at[what] = len(self._what)
        self._what.append(what)
        if i == len(self.count):
            self.place, self.row, self.count = (
                np.concatenate((column, np.zeros_like(column))) for column in (self.place, self.row, self.count)
            )
        self.place[i], self.row[i] = what
        self.count[i] = amount

    def _take_out(self, i: int, what: tuple[int, int]) -> None:
        """The last one takes its room."""
        del self._at[what]
        last, end = self._what.pop(), len(self._what)
        if i != end:
            self._what[i], self._at[last] = last, i
            self.place[i], self.row[i], self.count[i] = self.place[end], self.row[end], self.count[end]
