"""What becomes of readings when the next refresh brings none: they age, and are not replaced by nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from plimsoll.load.confidence import confidence
from plimsoll.load.readings import Floats, MetricReadings, Readings, ReadingState
from plimsoll.policy.compiled import Policy


def same_question(before: Policy, after: Policy) -> bool:
    """Whether readings taken for one policy still answer what the other asks; weights and limits may differ."""

    def question(policy: Policy) -> tuple[object, ...]:
        return policy.source, policy.device_name, policy.time_range_s, policy.network_capacity_bytes_s

    return question(before) == question(after)


def carry_over(before: Readings | None, now: Readings, *, interval_s: float) -> Readings:
    """``now``, with the metrics that it lacks taken from ``before`` at their true age.

    A metric all of whose samples are too old to be believed is not carried any further.
    """
    if before is None:
        return now
    lacking = (name for name in before.metrics if name not in now.metrics)
    aged = {name: _aged(before.metrics[name], now.taken_at_s, interval_s=interval_s) for name in lacking}
    carried = {name: _reordered(m, before, now) for name, m in aged.items() if m.state.any()}
    return replace(now, metrics={**now.metrics, **carried}) if carried else now


def _aged(readings: MetricReadings, now_s: float, *, interval_s: float) -> MetricReadings:
    believed = confidence(now_s - readings.sampled_at_s, interval_s=interval_s)
    state = np.where(believed >= 1, ReadingState.OK, ReadingState.STALE)
    gone = (believed <= 0) | (readings.state == ReadingState.MISSING)
    return replace(readings, state=np.where(gone, ReadingState.MISSING, state).astype(np.int8))


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
    )
