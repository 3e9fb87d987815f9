"""From measurements per node to the arrays of a Readings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from plimsoll.load.readings import MetricReadings, ReadingState
from plimsoll.load.windows import states


@dataclass(frozen=True, slots=True)
class Measured:
    """One node's load by one metric, in the metric's unit (bytes/s, cores, bytes)."""

    value: float
    capacity: float
    sampled_at_s: float


_NOTHING = Measured(value=np.nan, capacity=np.nan, sampled_at_s=np.nan)


def metric_readings(
    nodes: Sequence[str],
    measured: Mapping[str, Measured],
    *,
    window_s: float,
    now_s: float,
    refresh_interval_s: float,
) -> MetricReadings:
    """The measurements in the order of the nodes; whatever gives no finite utilisation is missing."""
    rows = [measured.get(node, _NOTHING) for node in nodes]
    value = np.array([row.value for row in rows], dtype=np.float64)
    capacity = np.array([row.capacity for row in rows], dtype=np.float64)
    sampled_at_s = np.array([row.sampled_at_s for row in rows], dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        utilisation = value / capacity
    state = states(now_s - sampled_at_s, refresh_interval_s=refresh_interval_s)
    state[~np.isfinite(utilisation)] = ReadingState.MISSING
    missing = state == ReadingState.MISSING
    for column in (utilisation, value, sampled_at_s):
        column[missing] = np.nan
    return MetricReadings(
        utilisation=utilisation,
        value=value,
        capacity=capacity,
        sampled_at_s=sampled_at_s,
        window_s=window_s,
        state=state,
    )
