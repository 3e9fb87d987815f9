"""Numbers of pods by row: a dict while few rows have any, with an array beside it when many do."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from plimsoll.cluster.domains import DomainColumn

Ints = NDArray[np.int64]

# With pods in every 32nd row an array takes no more room than some dict entries, and is summed much faster.
_ROWS_PER_ENTRY = 32


class RowCounts:
    """Pods by row; rows without one are absent."""

    __slots__ = ("_by_row", "_dense")

    def __init__(self) -> None:
        self._by_row: dict[int, int] = {}
        self._dense: Ints | None = None

    def __bool__(self) -> bool:
        return bool(self._by_row)

    @property
    def by_row(self) -> Mapping[int, int]:
        """Live."""
        return self._by_row

    def add(self, row: int, amount: int) -> None:
        count = self._by_row.get(row, 0) + amount
        if count:
            self._by_row[row] = count
        else:
            del self._by_row[row]
        # An array that is too short for the row is made anew when it is asked for.
        if self._dense is not None and row < len(self._dense):
            self._dense[row] = count

    def array(self, size: int) -> Ints:
        """[N], pods by row; not to be written."""
        dense = self._array(size)
        if dense is not None:
            return dense[:size]
        counts = np.zeros(size, dtype=np.int64)
        for row, count in self._by_row.items():
            counts[row] = count
        return counts

    def by_domain(self, column: DomainColumn) -> Ints:
        """[D], pods by domain id; 0 at id 0, whatever runs on nodes without the label."""
        ids = column.ids
        dense = self._array(len(ids))
        if dense is None:
            rows = np.fromiter(self._by_row, dtype=np.int64, count=len(self._by_row))
            counts = np.fromiter(self._by_row.values(), dtype=np.int64, count=len(self._by_row))
            ids = ids[rows]
        else:
            counts = dense[: len(ids)]
        return summed_by_domain(ids, counts, column.size)

    def _array(self, size: int) -> Ints | None:
        if len(self._by_row) * _ROWS_PER_ENTRY < size:
            self._dense = None
        elif self._dense is None or len(self._dense) < size:
            self._dense = np.zeros(size, dtype=np.int64)
            for row, count in self._by_row.items():
                self._dense[row] = count
        return self._dense


def summed_by_domain(ids: Ints, counts: Ints, size: int) -> Ints:
    """[D], counts summed per id; 0 at id 0."""
    # Sums of numbers of pods are exact in the float64 that bincount makes of weights.
    totals = np.bincount(ids, weights=counts, minlength=size).astype(np.int64)
    totals[0] = 0
    return totals
