"""By how much the node that another scheduler chose for a pod scores below the best: a decision in hindsight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Bools, Snapshot
from plimsoll.filters.prepared import prepare_filters
from plimsoll.filters.run import run_filters
from plimsoll.load.estimate import PolicyLoad
from plimsoll.load.readings import Floats
from plimsoll.policy.compiled import OnOverload, Policy
from plimsoll.scheduling.decide import Caches, beyond
from plimsoll.scheduling.limits import Limited, within_limits
from plimsoll.scheduling.terms import weigh
from plimsoll.scores.load import least_loaded


@dataclass(frozen=True, slots=True)
class Regret:
    """One pod that another scheduler placed, judged by one policy.

    Attributes:
        pod: ``namespace/name``.
        node: where it is.
        score: of that node, 0..100, as the policy would have scored it for the pod before the pod came.
        best: where the policy would have placed it; the node itself where it would have placed it nowhere.
        best_score: of that one.
        feasible: to how many nodes the policy would have let it.
        refused: the node is not among them: a filter, the policy's nodes or its limits are against it.
    """

    policy: str
    pod: str
    node: str
    score: float
    best: str
    best_score: float
    feasible: int
    refused: bool

    @property
    def points(self) -> float:
        """0..100; 0 where the node scores no worse than the best, be it one that the policy refuses."""
        return max(self.best_score - self.score, 0.0)


def regret(
    *, view: Snapshot, load: PolicyLoad, policy: Policy, pod: PodInfo, node: str, caches: Caches
) -> Regret | None:
    """What ``decide`` would have said of the pod, against the node that was chosen; None where it cannot be judged.

    Args:
        view, load: the cluster without the pod.
        pod: as it was before it had a node.
        node: the one that was chosen, in the view. It is compared even where it is refused.
    """
    if beyond(pod):
        return None
    filters = prepare_filters(view, pod, policy)
    if filters.problem is not None:
        return None
    costs = caches.row_costs(view, load, pod)
    limited = within_limits(view, load, pod, run_filters(filters, caches.filters).rows, costs.over)
    feasible, overloaded = _feasible(limited, policy)
    row = view.row_of[node]
    compared = feasible.copy()
    compared[row] = True
    cost = weigh(
        view=view,
        policy=policy,
        pod=pod,
        feasible=compared,
        row_costs=costs,
        caches=caches.preferences,
    ).cost
    rank = least_loaded(load, load.projected(view, pod)) if overloaded else cost
    best = _first(rank, feasible, otherwise=row)
    return Regret(
        policy=policy.name,
        pod=pod.key,
        node=node,
        score=100 * (1 - float(cost[row])),
        best=view.name(best),
        best_score=100 * (1 - float(cost[best])),
        feasible=int(feasible.sum()),
        refused=not feasible[row],
    )


def _feasible(limited: Limited, policy: Policy) -> tuple[Bools, bool]:
    """[N], where the pod may go, and whether only because every fit node is above the limits."""
    overloaded = not limited.rows.any() and limited.over.any() and policy.on_overload is OnOverload.LEAST_LOADED
    return (limited.over, True) if overloaded else (limited.rows, False)


def _first(rank: Floats, feasible: Bools, *, otherwise: int) -> int:
    """The feasible row of the least rank; of equals the node that was chosen, if it is one of them."""
    rows = np.flatnonzero(feasible)
    if not len(rows):
        return otherwise
    best = int(rows[np.argmin(rank[rows])])
    return otherwise if feasible[otherwise] and rank[otherwise] <= rank[best] else best
