"""The cost of every node for one pod: the terms that apply, weighed by the policy's placement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Bools, Snapshot
from plimsoll.load.readings import Floats
from plimsoll.policy.compiled import Policy
from plimsoll.scheduling.row_costs import EXPECTED, LOAD, REQUESTS, RowCosts
from plimsoll.scores.preferences import Preferences, preferences_term
from plimsoll.scores.preferred.caches import PreferenceCaches
from plimsoll.scores.spreading import spreading_term

SPREADING, PREFERENCES = "spreading", "preferences"

__all__ = ["EXPECTED", "LOAD", "PREFERENCES", "REQUESTS", "SPREADING", "Terms", "weigh"]


@dataclass(frozen=True, slots=True)
class Terms:
    """Costs of shape [N], 0..1, lower is better.

    Attributes:
        by_name: the terms that applied.
        cost: their mean, weighted by ``placement``.
        preferences: what the term of that name is made of.
        scored: [M, N], the utilisation that was scored; None where metrics did not count.
    """

    by_name: Mapping[str, Floats]
    cost: Floats
    preferences: Preferences = field(default_factory=Preferences)
    scored: Floats | None = None


def weigh(
    *,
    view: Snapshot,
    policy: Policy,
    pod: PodInfo,
    feasible: Bools,
    row_costs: RowCosts,
    caches: PreferenceCaches,
) -> Terms:
    """With the strategy Pack nothing spreads but what the pod itself asks for.

    Args:
        feasible: [N], over which spreading and preferences are normalised.
        row_costs: the class's that the pod is of.
    """
    placement, spreads = policy.placement, policy.pack_target is None
    by_name, total, weights = dict(row_costs.by_name), row_costs.total, row_costs.weight
    if placement.spreading > 0 and spreads:
        by_name[SPREADING] = term = spreading_term(view, pod, feasible)
        total, weights = total + placement.spreading * term, weights + placement.spreading
    preferences = Preferences()
    if placement.preferences > 0:
        preferences = preferences_term(view, pod, feasible, caches, spread_by_default=spreads)
        if preferences.telling:
            weight = placement.preferences * preferences.wishes
            by_name[PREFERENCES] = preferences.cost
            total, weights = total + weight * preferences.cost, weights + weight
    if not by_name:
        # Nothing that the policy weighs applies, as where load is set aside: anything is better than blind chance.
        by_name[REQUESTS], weights = row_costs.requested(), 1.0
        total = total + by_name[REQUESTS]
    return Terms(by_name, total / weights, preferences, row_costs.scored)
