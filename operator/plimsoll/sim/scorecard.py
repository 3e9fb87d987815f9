"""How well the pods of one replayed world were placed.

All shares of (node, minute) are taken over the steps of the replay, in which load is constant, and over nodes while
they are part of the cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from plimsoll.sim.engine import Outcome
from plimsoll.sim.landing import largest_herd, siblings_together
from plimsoll.sim.measures import RESOURCES
from plimsoll.sim.world import CPU_AT, MEMORY_AT, RECEIVE_AT, TRANSMIT_AT, Bools, Floats, World

HOT_ABOVE = 0.8
CURVE_STEP_S = 900.0


@dataclass(frozen=True, slots=True)
class Scorecard:
    """Attributes:
    values: by the keys of ``measures.MEASURES``; NaN where there is nothing to measure.
    hot_curve: percent of the nodes that were hot in each ``CURVE_STEP_S``, in order.
    unplaced: the pods that no node was found for, or none again after they were evicted. Who comes anew differs from
        contender to contender: each is named by the pod that arrived by itself.
    """

    values: Mapping[str, float]
    hot_curve: tuple[float, ...]
    unplaced: tuple[int, ...]


def scorecard(outcome: Outcome) -> Scorecard:
    live = _live(outcome.world)
    use = utilisation(outcome)
    fullest = use.max(axis=0)
    hot = fullest > HOT_ABOVE
    values = {
        **_unserved(outcome, live),
        "hot": _percent(hot, live),
        "over": _percent(fullest > 1, live),
        **{f"hot_{name}": _percent(use[i] > HOT_ABOVE, live) for i, name in enumerate(RESOURCES)},
        **{f"over_{name}": _percent(use[i] > 1, live) for i, name in enumerate(RESOURCES)},
        "fullest": 100 * float(np.where(live, fullest, 0.0).max(axis=0).mean()),
        "p99": 100 * float(np.percentile(fullest[live], 99)),
        **_means(use, live, outcome.world.capacity),
        **_spread(use, live),
        **_pods(outcome),
    }
    unplaced = tuple(sorted(pod for pod, node in zip(outcome.origin, outcome.node, strict=True) if node < 0))
    return Scorecard(values, _curve(hot, live, every=int(CURVE_STEP_S / outcome.world.step_s)), unplaced)


def utilisation(outcome: Outcome) -> Floats:
    """[3, N, K], demand over capacity of cpu, memory and the fuller direction of the network."""
    share = np.maximum(outcome.demand, 0.0) / outcome.world.capacity[:, :, None]
    network = np.maximum(share[RECEIVE_AT], share[TRANSMIT_AT])
    return np.stack([share[CPU_AT], share[MEMORY_AT], network])


def _live(world: World) -> Bools:
    """[N, K], the node is part of the cluster."""
    at_s = np.arange(world.steps) * world.step_s
    joins = np.array([node.joins_s for node in world.nodes])[:, None]
    drains = np.array([node.drains_s for node in world.nodes])[:, None]
    return (at_s >= joins) & (at_s < drains)


def _unserved(outcome: Outcome, live: Bools) -> dict[str, float]:
    demand = np.where(live, np.maximum(outcome.demand, 0.0), 0.0)
    above = np.maximum(demand - outcome.world.capacity[:, :, None], 0.0).sum(axis=(1, 2))
    asked = demand.sum(axis=(1, 2))
    share = np.divide(100 * above, asked, out=np.full(len(asked), np.nan), where=asked > 0)
    names = {"cpu": CPU_AT, "memory": MEMORY_AT, "receive": RECEIVE_AT, "transmit": TRANSMIT_AT}
    return {f"unserved_{name}": float(share[at]) for name, at in names.items()}


def _means(use: Floats, live: Bools, capacity: Floats) -> dict[str, float]:
    """Of the cluster as a whole: nodes count by their size."""
    values = {}
    for name, share, size in zip(RESOURCES, use, capacity, strict=False):
        offered = np.where(live, size[:, None], 0.0)
        values[f"mean_{name}"] = 100 * float((share * offered).sum() / offered.sum())
    return values


def _spread(use: Floats, live: Bools) -> dict[str, float]:
    """How even the nodes are, as the mean over time.

    Jain, Chiu, Hawe: A Quantitative Measure of Fairness and Discrimination, DEC-TR-301, 1984: (sum u)^2 / (N sum u^2).
    """
    count = np.maximum(live.sum(axis=0), 1)
    values = {}
    for name, share in zip(RESOURCES, use, strict=True):
        of_live = np.where(live, share, 0.0)
        total, squares = of_live.sum(axis=0), (of_live**2).sum(axis=0)
        mean = total / count
        variance = np.maximum(squares / count - mean**2, 0.0)
        jain = np.divide(total**2, count * squares, out=np.ones_like(total), where=squares > 0)
        values[f"stddev_{name}"] = 100 * float(np.sqrt(variance).mean())
        values[f"jain_{name}"] = float(jain.mean())
    return values


def _pods(outcome: Outcome) -> dict[str, float]:
    node, placed_s = np.array(outcome.node, dtype=np.int64), np.array(outcome.placed_s, dtype=np.float64)
    arrived_s = np.array([pod.arrives_s for pod in outcome.world.pods])
    placed = node >= 0
    waited = (placed_s - arrived_s)[placed]
    return {
        "siblings": 100 * siblings_together(outcome),
        "herd": 100 * largest_herd(placed_s[placed], node[placed]),
        "wait": float(waited.mean()) if len(waited) else float("nan"),
        "unplaced": float((~placed).sum()),
    }


def _percent(which: Bools, live: Bools) -> float:
    return 100 * float((which & live).sum() / live.sum())


def _curve(hot: Bools, live: Bools, *, every: int) -> tuple[float, ...]:
    begins = np.arange(0, hot.shape[1], every)
    hot_steps = np.add.reduceat((hot & live).sum(axis=0), begins)
    all_steps = np.add.reduceat(live.sum(axis=0), begins)
    return tuple(float(share) for share in 100 * hot_steps / np.maximum(all_steps, 1))
