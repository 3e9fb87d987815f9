"""What a policy looks like at a moment: each node's load score without any pod, as values for the status."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from plimsoll.cluster.snapshot import Bools, Snapshot
from plimsoll.load.estimate import PolicyLoad
from plimsoll.load.readings import Floats, Readings, ReadingState
from plimsoll.policy.compiled import Policy
from plimsoll.scheduling.decide import percent
from plimsoll.scores.load import load_term


@dataclass(frozen=True, slots=True)
class NodeLoad:
    """One node under one policy, no pod in view.

    Attributes:
        score: 100 * (1 - clip(L, 0, 1)), L the load term alone; None where the policy weighs no metric.
        state: the worst state among the policy's metrics on this node.
        metrics: measured utilisation in percent by metric; None where missing.
        sampled_at_s: the oldest sample time among the metrics; None where all are missing.
    """

    node: str
    score: float | None
    state: ReadingState
    metrics: Mapping[str, int | None]
    sampled_at_s: float | None


@dataclass(frozen=True, slots=True)
class PolicyOverview:
    """One policy at a moment.

    Attributes:
        nodes: the live nodes that the policy selects, best score first.
        readings: the set in force; None before the first answer.
        load_set_aside: why metrics do not count at the moment; "" if they do.
        bound: living pods whose decision names the policy.
        pending: pods in the queue that the policy selects.
    """

    policy: Policy
    taken_at_s: float
    nodes: tuple[NodeLoad, ...]
    readings: Readings | None
    load_set_aside: str
    bound: int
    pending: int


def overview_of(
    load: PolicyLoad, view: Snapshot, selected: Bools, *, bound: int, pending: int, now_s: float
) -> PolicyOverview:
    """Args:
    load: aligned with the view.
    selected: [N], live nodes that the policy may use.
    """
    cost = _cost(load, view, selected)
    state = load.state(view)
    rows = np.flatnonzero(selected)
    if cost is not None:
        rows = rows[np.argsort(cost[rows], kind="stable")]
    nodes = tuple(_node_load(load, view, int(row), cost, ReadingState(int(state[row]))) for row in rows)
    return PolicyOverview(load.policy, now_s, nodes, load.readings, load.set_aside, bound, pending)


def _cost(load: PolicyLoad, view: Snapshot, selected: Bools) -> Floats | None:
    if not load.counts:
        return None
    return load_term(load, view, load.projected(view, None), selected)


def _node_load(load: PolicyLoad, view: Snapshot, row: int, cost: Floats | None, state: ReadingState) -> NodeLoad:
    return NodeLoad(
        node=view.name(row),
        score=None if cost is None else 100 * (1 - float(cost[row])),
        state=state,
        metrics={m.metric.name: percent(float(m.utilisation[row])) for m in load.metrics},
        sampled_at_s=load.sampled_at_s(row),
    )
