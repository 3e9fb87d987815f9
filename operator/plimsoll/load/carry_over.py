"""What becomes of readings when the next refresh brings none: they age, and are not replaced by nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from plimsoll.load.confidence import CLOCK_SKEW_S, confidence
from plimsoll.load.readings import Floats, MetricReadings, Readings, ReadingState
from plimsoll.policy.compiled import Policy


def same_question(before: Policy, after: Policy) -> bool:
    """Whether readings taken for one policy still answer what the other asks; weights and limits may differ."""

    def question(policy: Policy) -> tuple[object, ...]:
        custom = {(m.name, m.query, m.goal, m.min, m.max) for m in policy.metrics if m.custom}
        return policy.source, policy.device_name, policy.time_range_s, policy.network_capacity_bytes_s, custom

    return question(before) == question(after)


def carry_over(before: Readings | None, now: Readings, *, interval_s: float) -> Readings:
    """``now``, with the metrics that it lacks taken from ``before`` at their true age.

    Of one all of whose samples are too old to be believed, nothing is left but what load was measured against.
    """
    if before is None:
        return now
    lacking = (name for name in before.metrics if name not in now.metrics)
    aged = {name: _aged(before.metrics[name], now.taken_at_s, interval_s=interval_s) for name in lacking}
    carried = {name: _reordered(m, before, now) for name, m in aged.items()}
    return replace(now, metrics={**now.metrics, **carried}) if carried else now


def _aged(readings: MetricReadings, now_s: float, *, interval_s: float) -> MetricReadings:
    believed = confidence(now_s - readings.sampled_at_s, interval_s=interval_s)
    state = np.where(believed >= 1, ReadingState.OK, ReadingState.STALE)
    # A sample from the future would seem the younger the longer it is carried.
    ahead = readings.sampled_at_s > now_s + CLOCK_SKEW_S
    gone = (believed <= 0) | ahead | (readings.state == ReadingState.MISSING)

    def kept(values: Floats) -> Floats:
        return np.where(gone, np.nan, values)

    return replace(
        readings,
        utilisation=kept(readings.utilisation),
        value=kept(readings.value),
        sampled_at_s=kept(readings.sampled_at_s),
        state=np.where(gone, ReadingState.MISSING, state).astype(np.int8),
        windows=tuple(replace(window, utilisation=kept(window.utilisation)) for window in readings.windows),
    )


def _reordered(readings: MetricReadings, before: Readings, now: Readings) -> MetricReadings:
    if before.nodes == now.nodes:
        return readings
    place = {name: i for i, name in enumerate(before.nodes)}
    order = np.array([place.get(name, -1) for name in now.nodes], dtype=np.int64)

    def pick(values: Floats, filler: float = np.nan) -> Floats:
        picked: Floats = np.append(values, filler)[order]
        return picked

    return replace(
        readings,
        utilisation=pick(readings.utilisation),
        value=pick(readings.value),
        capacity=pick(readings.capacity),
        sampled_at_s=pick(readings.sampled_at_s),
        state=pick(readings.state.astype(np.float64), ReadingState.MISSING).astype(np.int8),
        windows=tuple(replace(window, utilisation=pick(window.utilisation)) for window in readings.windows),
    )
