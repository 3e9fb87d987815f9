"""Values that cannot be right: shares far above the whole, nothing but zeroes, a scale that no value lies on."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np

from plimsoll.load.network import CAPACITY_ANNOTATION
from plimsoll.load.preflight import Finding, FindingKind, about
from plimsoll.load.readings import Floats, MetricReadings
from plimsoll.policy.compiled import CPU, MEMORY, NETWORK_METRICS, Metric, Policy

# Windows and capacities are measured a little apart, so that a full device can seem somewhat more than full.
# What was found stays until it is back within the whole.
_FOUND_ABOVE, _GONE_BELOW = 1.2, 1.0
# Of the scale's span.
_MARGIN = 0.2
_SPANS = 10.0
_UNITS = {CPU: "cores", MEMORY: "bytes"}

Beyond = AbstractSet[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Values:
    """One metric on the policy's nodes that have a reading, in the order of their names.

    Attributes:
        utilisation, value, capacity: [len(nodes)], finite but for the capacity.
    """

    nodes: tuple[str, ...]
    utilisation: Floats
    value: Floats
    capacity: Floats

    @classmethod
    def of(cls, readings: MetricReadings, rows: dict[str, int]) -> Values:
        """Args:
        rows: place in the arrays by node, in the order of the names.
        """
        names, at = list(rows), np.fromiter(rows.values(), dtype=np.int64, count=len(rows))
        at_known = np.isfinite(readings.value[at])
        nodes = tuple(name for name, known in zip(names, at_known.tolist(), strict=True) if known)
        at = at[at_known]
        return cls(nodes, readings.utilisation[at], readings.value[at], readings.capacity[at])


def out_of_range(metric: Metric, values: Values, *, policy: Policy, before: Beyond) -> Iterator[tuple[Finding, Beyond]]:
    """Each finding with the metric and nodes that it holds of, to be handed in as ``before`` the next time."""
    if not values.nodes:
        return
    if metric.custom:
        yield from _off_scale(metric, values, before)
        return
    if not values.value.any():
        yield Finding(FindingKind.ALL_ZERO, _all_zero(metric.name, policy, len(values.nodes)), metric.name), set()
    yield from _too_much(metric, values, before)


def _too_much(metric: Metric, values: Values, before: Beyond) -> Iterator[tuple[Finding, Beyond]]:
    above = np.flatnonzero(values.utilisation > _GONE_BELOW).tolist()
    rows = [
        row for row in above if values.utilisation[row] > _FOUND_ABOVE or (metric.name, values.nodes[row]) in before
    ]
    if rows:
        text = _too_much_text(metric.name, values, rows[0])
        beyond = {(metric.name, values.nodes[row]) for row in rows}
        yield Finding(FindingKind.IMPOSSIBLE_VALUES, text, metric.name), beyond


def _too_much_text(metric: str, values: Values, row: int) -> str:
    share = about(100 * float(values.utilisation[row]), " %")
    unit = _UNITS.get(metric, "bytes/s")
    what = f"{values.nodes[row]} is at {share} of {values.capacity[row]:.12g} {unit}"
    if metric in NETWORK_METRICS:
        return (
            f"{what}: is spec.networkCapacity (or the node's annotation {CAPACITY_ANNOTATION}) in bytes per second,"
            " and is that the device's speed?"
        )
    return f"{what}, which status.capacity of the node says it has: do both tell of the same machine?"


def _all_zero(metric: str, policy: Policy, nodes: int) -> str:
    what = f"The values of all {nodes} nodes are exactly 0" if nodes > 1 else "The value of the only node is exactly 0"
    if metric not in NETWORK_METRICS:
        return f"{what}: look at what is reported."
    if policy.device_name is None:
        return f"{what}: set spec.deviceName to the device that carries the traffic."
    return f"{what}: does device {policy.device_name} carry the traffic? Set spec.deviceName to the one that does."


def _off_scale(metric: Metric, values: Values, before: Beyond) -> Iterator[tuple[Finding, Beyond]]:
    low, high = float(values.value.min()), float(values.value.max())
    margin = 0.0 if (metric.name, "") in before else _MARGIN * _span(metric)
    if metric.max is not None and (low > metric.max + margin or _far_above(metric, high, margin)):
        yield _scale_finding(metric, low, high, _mend_max(metric, high)), {(metric.name, "")}
    elif metric.min is not None and high < metric.min - margin:
        yield _scale_finding(metric, low, high, _mend_min(metric)), {(metric.name, "")}


def _span(metric: Metric) -> float:
    ends = [end for end in (metric.min, metric.max) if end is not None]
    return (max(ends) - min(ends) if len(ends) == 2 else abs(ends[0])) if ends else 0.0


def _far_above(metric: Metric, high: float, margin: float) -> bool:
    """Many times the whole scale above its end: 40 where a share was meant."""
    assert metric.max is not None
    return high > metric.max + _SPANS * _span(metric) + margin and _span(metric) > 0


def _scale_finding(metric: Metric, low: float, high: float, mend: str) -> Finding:
    text = f"Its values lie between {about(low)} and {about(high)}, but {mend}"
    return Finding(FindingKind.OUTSIDE_SCALE, text, metric.name)


def _mend_max(metric: Metric, high: float) -> str:
    if metric.max == 1 and high <= 100:
        return f'max is 1: write max: "100" for spec.metrics[{metric.name}], or divide its query by 100.'
    return f"max is {metric.max:.12g}: write a max for spec.metrics[{metric.name}] that its values do not exceed."


def _mend_min(metric: Metric) -> str:
    return f"min is {metric.min:.12g}: write a min for spec.metrics[{metric.name}] that its values do not fall below."
