"""How many pods of one workload are on which node."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.row_counts import RowCounts
from plimsoll.cluster.workload import WorkloadKey
from plimsoll.cluster.workload_cells import Cells
from plimsoll.cluster.workload_examples import Examples
from plimsoll.cluster.workload_zones import ZoneTotals, Zoning

Ints = NDArray[np.int64]

_NONE: Mapping[int, int] = {}
# Whoever has missed more changes than this looks at all of it again, which then costs no more.
_CHANGES_KEPT = 4096


@dataclass(frozen=True, slots=True)
class AllWorkloads:
    """Every workload at a moment, as arrays; they are good until a pod comes or goes.

    Attributes:
        version: of the index.
        examples: [W], one pod of each; None in free places.
        place: by workload, its index in ``examples``.
        told: [4, W], what the examples say of themselves, as ``told``.
        workload, row, count: [C], where how many pods of which workload are.
    """

    version: int
    examples: Sequence[PodInfo | None]
    place: Mapping[WorkloadKey, int]
    told: NDArray[np.float64]
    workload: Ints
    row: Ints
    count: Ints


class WorkloadIndex:
    """Pods per row, by workload; terminating pods are left out, as in kube-scheduler's spreading.

    Attributes:
        version: goes up with every pod that comes or goes.
    """

    def __init__(self) -> None:
        self._rows: dict[WorkloadKey, RowCounts] = {}
        self._examples = Examples()
        self._cells = Cells()
        self._changes: deque[tuple[WorkloadKey, int, int]] = deque(maxlen=_CHANGES_KEPT)
        self.version = 0
        self._all: AllWorkloads | None = None
        self._zones = ZoneTotals()

    def add(self, row: int, pod: PodInfo) -> None:
        key = pod.workload
        rows = self._rows.get(key)
        if rows is None:
            rows = self._rows[key] = RowCounts()
        rows.add(row, 1)
        self._cells.add(self._examples.put(pod), row, 1)
        self._changed(key, row, 1)

    def remove(self, row: int, pod: PodInfo) -> None:
        key = pod.workload
        rows = self._rows[key]
        rows.add(row, -1)
        self._cells.add(self._examples.place[key], row, -1)
        if not rows:
            del self._rows[key]
            self._examples.drop(key)
        self._changed(key, row, -1)

    def counts(self, key: WorkloadKey) -> Mapping[int, int]:
        """Number of pods by row; rows without one are absent."""
        rows = self._rows.get(key)
        return _NONE if rows is None else rows.by_row

    def by_row(self, key: WorkloadKey, size: int) -> NDArray[np.int64] | None:
        """[N], the same as an array, not to be written; None where no row has any."""
        rows = self._rows.get(key)
        return None if rows is None else rows.array(size)

    def by_zone(self, key: WorkloadKey, zoning: Zoning) -> NDArray[np.float64]:
        """[Z + 1], the same by zone, not to be written; 0 for nodes without a zone."""
        return self._zones.of(key, self.counts(key), zoning)

    def example(self, key: WorkloadKey) -> PodInfo:
        """The pod of the workload that came last: pods of one workload are alike."""
        return self._examples.of(key)

    def all(self) -> AllWorkloads:
        """Kept until a pod comes or goes."""
        if self._all is None or self._all.version != self.version:
            self._all = self._collected()
        return self._all

    def changes_since(self, version: int) -> Mapping[tuple[WorkloadKey, int], int] | None:
        """How many pods more or less there are by workload and row; None where that is too long ago to tell."""
        missed = self.version - version
        if missed > len(self._changes):
            return None
        net: Counter[tuple[WorkloadKey, int]] = Counter()
        for i in range(-missed, 0):
            key, row, amount = self._changes[i]
            net[key, row] += amount
        return net

    def _changed(self, key: WorkloadKey, row: int, amount: int) -> None:
        self._changes.append((key, row, amount))
        self._zones.count(key, row, amount)
        self.version += 1

    def _collected(self) -> AllWorkloads:
        examples, cells = self._examples, self._cells
        return AllWorkloads(
            version=self.version,
            examples=examples.pods,
            place=examples.place.copy(),
            told=examples.told[:, : len(examples.pods)],
            workload=cells.place[: len(cells)],
            row=cells.row[: len(cells)],
            count=cells.count[: len(cells)],
        )
