"""How many pods of one workload are on which node."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from plimsoll.cluster.row_counts import RowCounts
from plimsoll.cluster.workload import WorkloadKey

_NONE: Mapping[int, int] = {}


class WorkloadIndex:
    """Pods per row, by workload; terminating pods are left out, as in kube-scheduler's spreading."""

    def __init__(self) -> None:
        self._rows: dict[WorkloadKey, RowCounts] = {}

    def add(self, row: int, key: WorkloadKey) -> None:
        self._rows.setdefault(key, RowCounts()).add(row, 1)

    def remove(self, row: int, key: WorkloadKey) -> None:
        rows = self._rows[key]
        rows.add(row, -1)
        if not rows:
            del self._rows[key]

    def counts(self, key: WorkloadKey) -> Mapping[int, int]:
        """Number of pods by row; rows without one are absent."""
        rows = self._rows.get(key)
        return _NONE if rows is None else rows.by_row

    def by_row(self, key: WorkloadKey, size: int) -> NDArray[np.int64] | None:
        """[N], the same as an array, not to be written; None where no row has any."""
        rows = self._rows.get(key)
        return None if rows is None else rows.array(size)
