"""The load term: what each node would carry with the pod on it, by the policy's metrics.

Capacity (the default), per metric m with weight w and projected utilisation d:

    L = 1/2 * max over m of (w_m / w_max) * d_m  +  1/2 * weighted mean of d_m

The dominant part protects the bottleneck, the mean breaks ties. Absolute utilisation is comparable across metrics
and does not blow up noise on an idle cluster.

Relative is the classic plugins' formula: a node's share of the busiest node's value (network, cpu), and of memory
what is missing to the memory that earns the full score; L is the weighted mean alone. Custom metrics are on their
own scale with either formula.

With the strategy Pack this is the cost of nodes above the target; ``scores/pack.py`` has the others'.
"""

from __future__ import annotations

import numpy as np

from plimsoll.cluster.row_log import ALL, At
from plimsoll.cluster.snapshot import Bools, Snapshot
from plimsoll.load.estimate import PolicyLoad
from plimsoll.load.metric_load import MetricLoad
from plimsoll.load.readings import Floats, ReadingState
from plimsoll.policy.compiled import MEMORY, NETWORK_METRICS, Formula, Metric, Policy
from plimsoll.scores.normalise import share_of_most, weighted_mean
from plimsoll.scores.pack import packed

# Beyond this overload is overload; one metric must not drown the others.
_MOST = 1.5


def load_term(load: PolicyLoad, view: Snapshot, projected: Floats, selected: Bools, *, at: At = ALL) -> Floats | None:
    """[n], 0..1, L or what Pack makes of it; None where no metric that answers has a weight (and, to Pack, ends).

    Args:
        projected: [M, n], by ``PolicyLoad.projected_at``.
        selected: [N], the policy's nodes, over which Relative normalises.
        at: the rows; Relative compares all of them.
    """
    weights = np.array([metric.metric.weight for metric in load.metrics])
    if not (weights > 0).any():
        return None
    spread = _spread(load, view, projected, selected, weights)
    target = load.policy.pack_target
    return spread if target is None else _pack(load, view, projected, weights, at, spread=spread, target=target)


def _spread(load: PolicyLoad, view: Snapshot, projected: Floats, selected: Bools, weights: Floats) -> Floats:
    """[n], L clipped to 0..1."""
    if load.policy.formula is Formula.RELATIVE:
        fresh = selected & (load.state(view) == ReadingState.OK)
        costs = np.array([_relative(m, d, fresh, load.policy) for m, d in zip(load.metrics, projected, strict=True)])
        return np.clip(weighted_mean(costs, weights), 0.0, 1.0)
    d = _between(projected, 0.0, _MOST)
    dominant = ((weights / weights.max())[:, None] * d).max(axis=0)
    return _between(0.5 * dominant + 0.5 * weighted_mean(d, weights), 0.0, 1.0)


def _pack(
    load: PolicyLoad, view: Snapshot, projected: Floats, weights: Floats, at: At, *, spread: Floats, target: float
) -> Floats | None:
    counts = (weights > 0) & [_has_capacity(m.metric) for m in load.metrics]
    if not counts.any():
        return None
    seen = _seen(load, view, projected, at)
    return packed(projected[counts], weights[counts], spread, target, seen=seen[counts])


def _has_capacity(metric: Metric) -> bool:
    """Whether a target can be a share of it: where the ends of a scale are guessed, the worst node is always full."""
    return not metric.custom or (metric.min is not None and metric.max is not None)


def _seen(load: PolicyLoad, view: Snapshot, projected: Floats, at: At) -> Floats:
    """[M, n], what of the projected utilisation is measured rather than presumed: a node is not filled further for
    being out of sight.
    """
    pod = projected - load.projected_at(view, load.uses(None), at)
    measured = np.nan_to_num(load.measured_at(at), nan=0.0)
    believed = np.array([metric.confidence[at] for metric in load.metrics])
    seen: Floats = believed * (measured + pod)
    return seen


def least_loaded(load: PolicyLoad, projected: Floats) -> Floats:
    """[N], how far each node is into its limits, 1 being at one: the largest projected utilisation over its limit.

    A custom metric's limit may be at 0 of its scale or below; there the distance to it counts instead of the ratio.
    """
    worst: Floats = np.max([_into_limit(metric, d) for metric, d in zip(load.metrics, projected, strict=True)], axis=0)
    return worst


def _into_limit(metric: MetricLoad, projected: Floats) -> Floats:
    limit = np.inf if metric.metric.limit is None else metric.metric.limit
    return 1.0 + (projected - limit) if metric.metric.custom else projected / limit


def _between(values: Floats, least: float, most: float) -> Floats:
    """What numpy.clip answers; it takes longer over few values than all else."""
    between: Floats = np.minimum(np.maximum(values, least), most)
    return between


def _relative(metric: MetricLoad, projected: Floats, fresh: Bools, policy: Policy) -> Floats:
    """[N], the cost of one metric: 0 is the score 100 of an idle node, 1 the score 0 of the busiest.

    A node without a fresh reading is put on the same scale by what its requests suggest, and never below that: among
    nodes that are all about as busy it would else be the best of all.
    """
    if metric.metric.custom:
        return np.clip(projected, 0.0, 1.0)
    match metric.metric.name:
        case name if name in NETWORK_METRICS:
            cost = share_of_most(projected * metric.capacity, fresh)
        case name if name == MEMORY:
            cost = _memory_missing(metric.capacity * (1 - projected), fresh, policy.max_memory_bytes)
        case _:
            cost = share_of_most(projected, fresh)
    return np.where(fresh, cost, np.clip(np.fmax(cost, projected), 0.0, 1.0))


def _memory_missing(available: Floats, fresh: Bools, enough_bytes: int | None) -> Floats:
    enough = enough_bytes or available[fresh].max(initial=0.0)
    return 1 - np.clip(available / enough, 0.0, 1.0) if enough > 0 else np.ones_like(available)
