"""From measurements per node to the arrays of a Readings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from plimsoll.load.readings import Floats, MetricReadings, ReadingState, WindowMean
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
    windows: Mapping[float, Mapping[str, Measured]] | None = None,
) -> MetricReadings:
    """The measurements in the order of the nodes; whatever gives no finite utilisation is missing.

    Args:
        windows: what single windows measured, by their length, the shortest first; None where there is but one.
    """
    value, capacity, sampled_at_s = _columns(nodes, measured)
    return readings_of(
        value,
        capacity,
        sampled_at_s,
        window_s=window_s,
        now_s=now_s,
        refresh_interval_s=refresh_interval_s,
        windows={length_s: _utilisation(*_columns(nodes, of)[:2]) for length_s, of in (windows or {}).items()},
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
    utilisation = _utilisation(value, capacity)
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


def _utilisation(value: Floats, capacity: Floats) -> Floats:
    """[N], NaN where it is not finite."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        share = value / capacity
    return np.where(np.isfinite(share), share, np.nan)
