"""From measurements per node to the arrays of a Readings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from plimsoll.load.readings import Floats, MetricReadings, ReadingState, WindowMean
from plimsoll.load.windows import states

_Number = TypeVar("_Number", np.float64, np.int64, np.int8)


@dataclass(frozen=True, slots=True)
class Measured:
    """One node's load by one metric, in the metric's unit (bytes/s, cores, bytes)."""

    value: float
    capacity: float
    sampled_at_s: float


class MeasuredNodes(NamedTuple):
    """The same of all nodes, arrays of shape [N], NaN where nothing was measured."""

    value: Floats
    capacity: Floats
    sampled_at_s: Floats


def by_node(nodes: int, number: NDArray[np.int64], values: NDArray[_Number]) -> Floats:
    """[nodes], NaN for those that have no value."""
    column = np.full(nodes, np.nan)
    column[number] = values
    return column


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
    value, capacity, sampled_at_s = _columns(nodes, measured)
    return readings_of(
        value,
        capacity,
        sampled_at_s,
        window_s=window_s,
        now_s=now_s,
        refresh_interval_s=refresh_interval_s,
        windows={},
    )


def readings_of(
    value: Floats,
    capacity: Floats,
    sampled_at_s: Floats,
    *,
    window_s: float,
    now_s: float,
    refresh_interval_s: float,
    windows: Mapping[float, Floats],
) -> MetricReadings:
    """The same from arrays, [N] each, NaN where nothing was measured.

    Args:
        windows: utilisation by single windows, by their length, the shortest first.
    """
    utilisation = utilisation_of(value, capacity)
    state = states(now_s - sampled_at_s, refresh_interval_s=refresh_interval_s)
    state[~np.isfinite(utilisation)] = ReadingState.MISSING
    missing = state == ReadingState.MISSING
    utilisation, value, sampled_at_s = (
        np.where(missing, np.nan, column) for column in (utilisation, value, sampled_at_s)
    )
    return MetricReadings(
        utilisation=utilisation,
        value=value,
        capacity=capacity,
        sampled_at_s=sampled_at_s,
        window_s=window_s,
        state=state,
        windows=tuple(WindowMean(length_s, np.where(missing, np.nan, mean)) for length_s, mean in windows.items()),
    )


def _columns(nodes: Sequence[str], measured: Mapping[str, Measured]) -> tuple[Floats, Floats, Floats]:
    """[N] each: value, capacity, sampled_at_s."""
    rows = [measured.get(node, _NOTHING) for node in nodes]
    value = np.array([row.value for row in rows], dtype=np.float64)
    capacity = np.array([row.capacity for row in rows], dtype=np.float64)
    return value, capacity, np.array([row.sampled_at_s for row in rows], dtype=np.float64)


def utilisation_of(value: Floats, capacity: Floats) -> Floats:
    """[N], NaN where it is not finite."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        share = value / capacity
    return np.where(np.isfinite(share), share, np.nan)
