"""A custom metric among the others: its limit as a utilisation, and what is presumed where it is not measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from plimsoll.load.custom_scale import Scale
from plimsoll.load.readings import Floats
from plimsoll.policy.compiled import Metric

# A limit once passed holds until the load is this far below it again, so that a node does not flap.
HYSTERESIS = 0.05


def on_scale(metric: Metric, scale: Scale | None) -> Metric:
    """The metric with its limit in utilisation, as those of the built-in metrics are."""
    if scale is None or metric.limit is None:
        return metric
    return replace(metric, limit=scale.utilisation(metric.limit))


def hysteresis(metric: Metric, scale: Scale | None) -> float:
    """In utilisation: 5 % of the scale; of an estimated one, which may be of any length, 5 % of the limit."""
    if scale is None or not scale.estimated or metric.limit is None:
        return HYSTERESIS
    return HYSTERESIS * abs(metric.limit) / scale.span


def typical(fresh: Floats, size: int) -> Floats:
    """[size], the median of the fresh nodes, of new ones as well: 0 is an end of the scale, not the absence of load."""
    return np.full(size, np.median(fresh) if len(fresh) else 0.0)
