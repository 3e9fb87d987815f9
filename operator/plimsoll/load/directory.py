"""Which row of the history's arrays is which workload's."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from plimsoll.cluster.snapshot import Bools
from plimsoll.cluster.workload import WorkloadKey

Rows = NDArray[np.int64]

# The row of a workload that nobody knows: the last one of all arrays, however many there are.
NOBODY = -1


class Directory:
    """Rows are given out one after the other, and closed up when some of them are not needed any more."""

    def __init__(self, workloads: Collection[WorkloadKey] = ()) -> None:
        self._row_of: dict[WorkloadKey, int] = {}
        self.enter(workloads)

    def __len__(self) -> int:
        return len(self._row_of)

    def row(self, workload: WorkloadKey) -> int | None:
        return self._row_of.get(workload)

    def rows(self, workloads: Iterable[WorkloadKey]) -> Rows:
        """[W], good until the history changes next."""
        return np.fromiter(map(self._row_of.get, workloads, repeat(NOBODY)), dtype=np.int64)

    def enter(self, workloads: Collection[WorkloadKey]) -> Rows:
        """[W]; who is not known yet gets a row."""
        rows = self.rows(workloads)
        if (rows == NOBODY).any():
            row_of = self._row_of
            rows = np.array([row_of.setdefault(workload, len(row_of)) for workload in workloads], dtype=np.int64)
        return rows

    def keep(self, known: Bools) -> None:
        """These rows alone, in their order."""
        kept = [workload for workload, row in self._row_of.items() if known[row]]
        self._row_of = {workload: row for row, workload in enumerate(kept)}
