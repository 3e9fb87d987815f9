"""The scale on which a custom metric's values become utilisation: 0 at the better end, 1 at the worse one.

    Minimize:  u = (v - low) / (high - low)        Maximize:  u = (high - v) / (high - low)

``low`` and ``high`` are the metric's min and max. An end that is not given is estimated from the nodes, by the 5th
or 95th percentile of their values; so one odd node does not stretch the scale for all. The estimated span is at
least a tenth of the median, so that noise between nodes that are all alike does not look like load.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from plimsoll.policy.compiled import Goal, Metric

_Floats = NDArray[np.float64]
_Amount = TypeVar("_Amount", float, _Floats)

_LOW_PERCENTILE, _HIGH_PERCENTILE = 5.0, 95.0
_LEAST_OF_MEDIAN = 0.1
# Where all values are 0 there is no magnitude to go by; the span must not be 0 all the same.
_TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Scale:
    """One metric's scale at one refresh.

    Attributes:
        low, span: where it begins and how far it reaches, in the metric's unit; the span is above 0.
        estimated: whether an end of it was estimated from the nodes.
    """

    low: float
    span: float
    goal: Goal
    estimated: bool

    def distance(self, value: _Amount) -> _Amount:
        """How far a value, or each of several, is from the better end, in the metric's unit; negative beyond it."""
        return value - self.low if self.goal is Goal.MINIMIZE else self.low + self.span - value

    def utilisation(self, value: float) -> float:
        return self.distance(value) / self.span


def scale_of(metric: Metric, values: _Floats) -> Scale:
    """Args:
    values: finite, of the nodes that are compared; may be empty.
    """
    if metric.min is not None and metric.max is not None:
        return Scale(metric.min, max(metric.max - metric.min, _TINY), metric.goal, estimated=False)
    typical = values if len(values) else np.zeros(1)
    p5, p95 = (float(end) for end in np.percentile(typical, (_LOW_PERCENTILE, _HIGH_PERCENTILE)))
    low, high = p5 if metric.min is None else metric.min, p95 if metric.max is None else metric.max
    span = max(high - low, _LEAST_OF_MEDIAN * abs(float(np.median(typical))), _TINY)
    return Scale(high - span if _from_above(metric) else low, span, metric.goal, estimated=True)


def _from_above(metric: Metric) -> bool:
    """Which end stays where the span was widened: the given one, else the better one."""
    if metric.min is None and metric.max is None:
        return metric.goal is Goal.MAXIMIZE
    return metric.min is None
