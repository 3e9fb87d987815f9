"""The cost of every node for one pod: the terms that apply, weighed by the policy's placement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Bools, Snapshot
from plimsoll.load.estimate import PolicyLoad
from plimsoll.load.readings import Floats
from plimsoll.scores.load import load_term
from plimsoll.scores.preferences import Preferences, preferences_term
from plimsoll.scores.preferred.caches import PreferenceCaches
from plimsoll.scores.requests import requests_term
from plimsoll.scores.spreading import spreading_term

LOAD, REQUESTS, SPREADING, PREFERENCES = "load", "requests", "spreading", "preferences"


@dataclass(frozen=True, slots=True)
class Terms:
    """Costs of shape [N], 0..1, lower is better.

    Attributes:
        by_name: the terms that applied.
        cost: their mean, weighted by ``placement``.
        preferences: what the term of that name is made of.
    """

    by_name: Mapping[str, Floats]
    cost: Floats
    preferences: Preferences = field(default_factory=Preferences)


def weigh(
    *,
    view: Snapshot,
    load: PolicyLoad,
    pod: PodInfo,
    feasible: Bools,
    selected: Bools,
    projected: Floats | None,
    caches: PreferenceCaches,
) -> Terms:
    """Args:
    feasible: [N], over which spreading and preferences are normalised.
    selected: [N], the policy's nodes, over which the formula Relative is.
    projected: [M, N], with this pod; None where metrics do not count.
    """
    placement = load.policy.placement
    costs: list[tuple[str, float, Floats]] = []
    if projected is not None and placement.load > 0:
        term = load_term(load, view, projected, selected)
        if term is not None:
            costs.append((LOAD, placement.load, term))
    if placement.requests > 0:
        costs.append((REQUESTS, placement.requests, requests_term(view, pod)))
    if placement.spreading > 0:
        costs.append((SPREADING, placement.spreading, spreading_term(view, pod, feasible)))
    preferences = Preferences()
    if placement.preferences > 0:
        preferences = preferences_term(view, pod, feasible, caches)
        if preferences.telling:
            costs.append((PREFERENCES, placement.preferences * preferences.wishes, preferences.cost))
    if not costs:
        # Load was all that the policy weighs, and it is set aside: anything is better than blind chance.
        costs.append((REQUESTS, 1.0, requests_term(view, pod)))
    return Terms({name: term for name, _, term in costs}, _mean(costs, view.size), preferences)


def _mean(costs: list[tuple[str, float, Floats]], size: int) -> Floats:
    total = np.zeros(size)
    for _, weight, term in costs:
        total += weight * term
    return total / sum(weight for _, weight, _ in costs)
