"""What the pods on each node use in the long run, whatever they happen to use now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from plimsoll.cluster.workload import WorkloadKey
from plimsoll.cluster.workload_index import AllWorkloads, WorkloadIndex
from plimsoll.load.directory import NOBODY
from plimsoll.load.exact import on_grid
from plimsoll.load.expected import Crowd, Expectations, uses_of
from plimsoll.load.readings import Floats


class Residents:
    """By the metrics of a policy, arrays of shape [M, N] over the Snapshot's rows, in the metrics' units; terminating
    pods are left out.

    They follow the index of workloads: whoever asks gets what is there at that moment, and a pod that comes and goes
    leaves nothing behind. What a pod of a workload is taken to use stays as it was first asked for.

    Args:
        size: N; nodes that came since need new arrays.
        scales: what nodes offer, by ``exact.scale_of``.
    """

    def __init__(
        self, index: WorkloadIndex, size: int, expectations: Sequence[Expectations], scales: Sequence[float]
    ) -> None:
        self._index, self._size = index, size
        self._expectations, self._scales = expectations, np.array(scales, dtype=np.float64)[:, None]
        self._version: int | None = None
        # Both [M, 2, ..]: habit and what of it is known, by the place that workloads had at first, and by row.
        self._first = self._sums = np.zeros((len(scales), 2, size))
        self._place_at_first: Mapping[WorkloadKey, int] = {}
        self._since: dict[WorkloadKey, Floats] = {}

    def of(self, line: int) -> MetricResidents:
        """By one of the metrics."""
        return MetricResidents(self, line)

    def now(self) -> Floats:
        """[M, 2, N], habit and what of it is known; not to be written."""
        if self._version != self._index.version:
            self._follow()
            self._version = self._index.version
        return self._sums

    def _follow(self) -> None:
        changes = None if self._version is None else self._index.changes_since(self._version)
        if changes is None:
            self._begin(self._index.all())
        else:
            for (workload, row), amount in changes.items():
                if amount and row < self._size:
                    self._count(workload, row, amount)

    def _begin(self, every: AllWorkloads) -> None:
        directory = self._expectations[0].pasts.directory
        rows = np.full(every.told.shape[1], NOBODY, dtype=np.int64)
        rows[list(every.place.values())] = directory.rows(every.place)
        self._first, self._place_at_first = self._per_pod(Crowd(rows, every.told)), every.place
        amounts = every.count * self._first.take(every.workload, axis=2)
        self._sums = np.zeros((len(amounts), 2, self._size))
        for sums, lines in zip(self._sums, amounts, strict=True):
            for line, of_workloads in zip(sums, lines, strict=True):
                line[:] = np.bincount(every.row, of_workloads, self._size)[: self._size]

    def _count(self, workload: WorkloadKey, row: int, amount: int) -> None:
        self._sums[:, :, row] += amount * self._of_one(workload)

    def _of_one(self, workload: WorkloadKey) -> Floats:
        """[M, 2], of one pod."""
        place = self._place_at_first.get(workload)
        if place is not None:
            return self._first[:, :, place]
        if workload not in self._since:
            crowd = Crowd.of([self._index.example(workload)], self._expectations[0].pasts.directory)
            self._since[workload] = self._per_pod(crowd)[:, :, 0]
        return self._since[workload]

    def _per_pod(self, crowd: Crowd) -> Floats:
        """[M, 2, P]."""
        uses = uses_of(crowd, self._expectations)
        return np.stack((on_grid(uses.habit, self._scales), on_grid(uses.known, self._scales)), axis=1)


@dataclass(frozen=True, slots=True)
class MetricResidents:
    """By one metric, arrays of shape [N], in its unit; not to be written."""

    every: Residents
    line: int

    @property
    def habit(self) -> Floats:
        """What the pods there use by history, or by their prior where there is none."""
        habit: Floats = self.every.now()[self.line, 0]
        return habit

    @property
    def known(self) -> Floats:
        """What the pods there use as far as there is history; others count for nothing."""
        known: Floats = self.every.now()[self.line, 1]
        return known
