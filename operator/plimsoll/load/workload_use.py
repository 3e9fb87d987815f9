"""What pods were measured to use, by the workload that they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plimsoll.cluster.workload import WorkloadKey

_Floats = NDArray[np.float64]


class Use(NamedTuple):
    """The measured pods of one workload, by one metric.

    Attributes:
        pods: how many were measured.
        mean: of what one pod uses, in the metric's unit (cores, bytes, bytes/s).
        mean_square: of the same, squared; with the mean it gives the spread among the pods.
    """

    pods: int
    mean: float
    mean_square: float


@dataclass(frozen=True, eq=False)
class Uses(Mapping[WorkloadKey, Use]):
    """By one metric, of each workload some of whose pods were measured: arrays of shape [W].

    Metrics that saw the same workloads may share the tuple: what is looked up by workload is looked up once then.

    Attributes:
        workloads: each of them once.
        pods, mean, mean_square: as in ``Use``.
    """

    workloads: tuple[WorkloadKey, ...]
    pods: _Floats
    mean: _Floats
    mean_square: _Floats

    @classmethod
    def of(cls, by_workload: Mapping[WorkloadKey, Use]) -> Uses:
        columns = np.array(list(by_workload.values()), dtype=np.float64).reshape(-1, 3).T
        return cls(tuple(by_workload), *columns)

    def __getitem__(self, workload: WorkloadKey) -> Use:
        i = self._place[workload]
        return Use(int(self.pods[i]), float(self.mean[i]), float(self.mean_square[i]))

    def __iter__(self) -> Iterator[WorkloadKey]:
        return iter(self.workloads)

    def __len__(self) -> int:
        return len(self.workloads)

    @cached_property
    def _place(self) -> Mapping[WorkloadKey, int]:
        return {workload: i for i, workload in enumerate(self.workloads)}


@dataclass(frozen=True, slots=True)
class WorkloadUse:
    """One look at the pods of a cluster.

    Attributes:
        sampled_at_s: when, seconds since the epoch.
        by_metric: by metric name.
    """

    sampled_at_s: float
    by_metric: Mapping[str, Uses]
