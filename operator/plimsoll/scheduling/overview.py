"""What a policy looks like at a moment: each node's load score without any pod, as values for the status."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from plimsoll.cluster.snapshot import Bools, Ints, Snapshot
from plimsoll.load.estimate import PolicyLoad
from plimsoll.load.readings import Floats, Readings, ReadingState
from plimsoll.policy.compiled import Policy
from plimsoll.scheduling.made_late import MadeLate
from plimsoll.scheduling.node_scores import percent
from plimsoll.scheduling.observing import Observed
from plimsoll.scores.load import load_term


@dataclass(frozen=True, slots=True)
class NodeLoad:
    """One node under one policy, no pod in view.

    Attributes:
        score: 100 * (1 - clip(L, 0, 1)), L the load term alone, packed with the strategy Pack; None where the policy
            weighs no metric.
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
        states: how many of them are in which state.
        readings: the set in force; None before the first answer.
        load_set_aside: why metrics do not count at the moment; "" if they do.
        bound: living pods whose decision names the policy.
        pending: pods in the queue that the policy selects.
        observed: what a policy with mode Observe has seen of other schedulers; None where that is nothing so far.
        metrics_aside: why single metrics do not count while others do, by name.
    """

    policy: Policy
    taken_at_s: float
    nodes: Sequence[NodeLoad]
    states: Mapping[ReadingState, int]
    readings: Readings | None
    load_set_aside: str
    bound: int
    pending: int
    observed: Observed | None = None
    metrics_aside: Mapping[str, str] = field(default_factory=dict)


def overview_of(
    load: PolicyLoad,
    view: Snapshot,
    selected: Bools,
    *,
    bound: int,
    pending: int,
    now_s: float,
    observed: Observed | None = None,
) -> PolicyOverview:
    """Args:
    load: aligned with the view.
    selected: [N], live nodes that the policy may use.
    """
    cost = _cost(load, view, selected)
    rows = np.flatnonzero(selected)
    if cost is not None:
        rows = rows[np.argsort(cost[rows], kind="stable")]
    states = load.state(view)[rows]
    return PolicyOverview(
        policy=load.policy,
        taken_at_s=now_s,
        nodes=_NodeLoads(load, view, rows, cost),
        states={state: int((states == state).sum()) for state in ReadingState},
        readings=load.readings,
        load_set_aside=load.set_aside,
        bound=bound,
        pending=pending,
        observed=observed,
        metrics_aside=load.metrics_aside,
    )


def _cost(load: PolicyLoad, view: Snapshot, selected: Bools) -> Floats | None:
    if not load.counts:
        return None
    return load_term(load, view, load.projected(view, None), selected)


class _NodeLoads(MadeLate[NodeLoad]):
    """Made one by one as they are looked at: of thousands a hundred are shown.

    Args:
        rows: best first.
        cost: [N]; None where the policy weighs no metric.
    """

    def __init__(self, load: PolicyLoad, view: Snapshot, rows: Ints, cost: Floats | None) -> None:
        self._rows, self._cost, self._state = rows, cost, load.state(view)
        # As they are now: rows may stand for other nodes later, and the estimate may have other metrics.
        self._nodes, self._metrics = view.nodes.copy(), load.answered
        self._sampled_at_s = load.sampled_at_s(rows)

    def __len__(self) -> int:
        return len(self._rows)

    def _made(self, place: int) -> NodeLoad:
        row = int(self._rows[place])
        node = self._nodes[row]
        return NodeLoad(
            node="" if node is None else node.name,
            score=None if self._cost is None else 100 * (1 - float(self._cost[row])),
            state=ReadingState(int(self._state[row])),
            metrics={m.metric.name: percent(float(m.utilisation[row])) for m in self._metrics},
            sampled_at_s=self._sampled_at_s[place],
        )
