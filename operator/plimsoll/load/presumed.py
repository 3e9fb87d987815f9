"""What a node is presumed to offer and to carry where it is not measured."""

from __future__ import annotations

import numpy as np

from plimsoll.cluster.row_log import ALL, At
from plimsoll.cluster.snapshot import Bools, Snapshot
from plimsoll.load.expected import RESOURCE_OF
from plimsoll.load.readings import Floats
from plimsoll.policy.compiled import Metric


def typical_load(fresh: Floats, young: Bools) -> Floats:
    """[N], the median of the fresh nodes; 0 for new nodes, which have nothing to show yet."""
    return np.where(young, 0.0, median(fresh))


def median(values: Floats) -> float:
    """0 where there are none. They must be numbers: np.median looks for others, which takes longer than all else."""
    if not len(values):
        return 0.0
    middle = [(len(values) - 1) // 2, len(values) // 2]
    low, high = np.partition(values, middle)[middle].tolist()
    return float((low + high) / 2)


def known_capacity(metric: Metric, told: Floats, view: Snapshot) -> Floats:
    """[N]. A node that is not measured is judged with the pod on it as well, or it would seem the lighter for it."""
    if metric.name in RESOURCE_OF:
        _, column, unit = RESOURCE_OF[metric.name]
        return np.where(told > 0, told, view.allocatable[:, column] * unit)
    known = told[told > 0]
    return np.where(told > 0, told, known.min() if len(known) else np.nan)


def requested_share(view: Snapshot, at: At = ALL) -> Floats:
    """[n], the mean of the shares of cpu and memory that are requested: it stands for network where nothing is known of
    what pods send and receive.
    """
    cpu, memory = (_column_share(view, column, at) for _, column, _ in RESOURCE_OF.values())
    mean: Floats = (cpu + memory) / 2
    return mean


def _column_share(view: Snapshot, column: int, at: At) -> Floats:
    offered, taken = view.allocatable[at, column], view.requested[at, column]
    share: Floats = np.divide(taken, offered, out=np.ones(len(offered)), where=offered > 0)
    return share
