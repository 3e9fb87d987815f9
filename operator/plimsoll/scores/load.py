"""The load term: what each node would carry with the pod on it, by the policy's metrics.

Capacity (the default), per metric m with weight w and projected utilisation d:

    L = 1/2 * max over m of (w_m / w_max) * d_m  +  1/2 * weighted mean of d_m

The dominant part protects the bottleneck, the mean breaks ties. Absolute utilisation is comparable across metrics
and does not blow up noise on an idle cluster.

Relative is the classic plugins' formula: a node's share of the busiest node's value (network, cpu), and of memory
what is missing to the memory that earns the full score; L is the weighted mean alone.
"""

from __future__ import annotations

import numpy as np

from plimsoll.cluster.snapshot import Bools, Snapshot
from plimsoll.load.estimate import PolicyLoad
from plimsoll.load.metric_load import MetricLoad
from plimsoll.load.readings import Floats, ReadingState
from plimsoll.policy.compiled import MEMORY, NETWORK_METRICS, Formula, Policy
from plimsoll.scores.normalise import share_of_most

# Beyond this overload is overload; one metric must not drown the others.
_MOST = 1.5


def load_term(load: PolicyLoad, view: Snapshot, projected: Floats, selected: Bools) -> Floats | None:
    """[N], L clipped to 0..1; None where no metric that answers has a weight.

    Args:
        projected: [M, N], by ``PolicyLoad.projected``.
        selected: [N], the policy's nodes, over which Relative normalises.
    """
    weights = np.array([metric.metric.weight for metric in load.metrics])
    if not (weights > 0).any():
        return None
    if load.policy.formula is Formula.RELATIVE:
        fresh = selected & (load.state(view) == ReadingState.OK)
        costs = np.array([_relative(m, d, fresh, load.policy) for m, d in zip(load.metrics, projected, strict=True)])
        return np.clip(_mean(costs, weights), 0.0, 1.0)
    d = np.clip(projected, 0.0, _MOST)
    dominant = ((weights / weights.max())[:, None] * d).max(axis=0)
    term: Floats = np.clip(0.5 * dominant + 0.5 * _mean(d, weights), 0.0, 1.0)
    return term


def least_loaded(load: PolicyLoad, projected: Floats) -> Floats:
    """[N], how far each node is into its limits: the largest projected utilisation over its limit."""
    limits = np.array([metric.metric.limit or np.inf for metric in load.metrics])
    worst: Floats = (projected / limits[:, None]).max(axis=0)
    return worst


def _mean(costs: Floats, weights: Floats) -> Floats:
    mean: Floats = (weights[:, None] * costs).sum(axis=0) / weights.sum()
    return mean


def _relative(metric: MetricLoad, projected: Floats, fresh: Bools, policy: Policy) -> Floats:
    """[N], the cost of one metric: 0 is the score 100 of an idle node, 1 the score 0 of the busiest.

    A node without a fresh reading is put on the same scale by what its requests suggest, and never below that: among
    nodes that are all about as busy it would else be the best of all.
    """
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
