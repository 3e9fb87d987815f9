"""The cost of every node for one pod: the terms that apply, weighed by the policy's placement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Bools, Snapshot
from plimsoll.load.estimate import PolicyLoad
from plimsoll.load.readings import Floats
from plimsoll.policy.compiled import Formula, InFlight
from plimsoll.scores.load import load_term
from plimsoll.scores.preferences import Preferences, preferences_term
from plimsoll.scores.preferred.caches import PreferenceCaches
from plimsoll.scores.requests import requests_term
from plimsoll.scores.spreading import spreading_term

LOAD, REQUESTS, SPREADING, PREFERENCES = "load", "requests", "spreading", "preferences"
# What stands for load while the metrics are set aside.
EXPECTED = "expected"


@dataclass(frozen=True, slots=True)
class Terms:
    """Costs of shape [N], 0..1, lower is better.

    Attributes:
        by_name: the terms that applied.
        cost: their mean, weighted by ``placement``.
        preferences: what the term of that name is made of.
        projected: [M, N], the utilisation that was scored; None where metrics did not count.
    """

    by_name: Mapping[str, Floats]
    cost: Floats
    preferences: Preferences = field(default_factory=Preferences)
    projected: Floats | None = None


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
    """With the strategy Pack nothing spreads but what the pod itself asks for.

    Args:
        feasible: [N], over which spreading and preferences are normalised.
        selected: [N], the policy's nodes, over which the formula Relative is.
        projected: [M, N], with this pod; None where metrics do not count.
    """
    placement, pack_target = load.policy.placement, load.policy.pack_target
    scored = None if projected is None else _scored(load, view, pod, projected)
    costs: list[tuple[str, float, Floats]] = []
    if scored is not None and placement.load > 0:
        term = load_term(load, view, scored, selected)
        if term is not None:
            costs.append((LOAD, placement.load, term))
    elif (term := _expected(load, view, pod, selected)) is not None:
        costs.append((EXPECTED, placement.load, term))
    if placement.requests > 0:
        costs.append((REQUESTS, placement.requests, requests_term(view, pod, pack_target=pack_target)))
    if placement.spreading > 0 and pack_target is None:
        costs.append((SPREADING, placement.spreading, spreading_term(view, pod, feasible)))
    preferences = Preferences()
    if placement.preferences > 0:
        preferences = preferences_term(view, pod, feasible, caches, spread_by_default=pack_target is None)
        if preferences.telling:
            costs.append((PREFERENCES, placement.preferences * preferences.wishes, preferences.cost))
    if not costs:
        # Nothing that the policy weighs applies, as where load is set aside: anything is better than blind chance.
        costs.append((REQUESTS, 1.0, requests_term(view, pod, pack_target=pack_target)))
    return Terms({name: term for name, _, term in costs}, _mean(costs, view.size), preferences, scored)


def _expected(load: PolicyLoad, view: Snapshot, pod: PodInfo, selected: Bools) -> Floats | None:
    """[N], the load term by what pods are expected to use, while nothing that was measured counts; None where the
    policy wants no such estimates, or nothing has been answered yet.
    """
    policy = load.policy
    if not policy.placement.load or policy.in_flight is InFlight.IGNORE or policy.pack_target is not None:
        return None
    return load_term(load, view, load.presumed(view, pod), selected) if load.set_aside and load.metrics else None


def _scored(load: PolicyLoad, view: Snapshot, pod: PodInfo, projected: Floats) -> Floats:
    """[M, N], by what nodes are scored: no less than they carry in the long run. Limits look at what is there now.

    The classic plugins' formula stays theirs; and without accounting in flight it is bare, as they score nodes as
    they are.
    """
    relative, ignore = load.policy.formula is Formula.RELATIVE, load.policy.in_flight is InFlight.IGNORE
    if relative and ignore:
        return load.projected(view, None)
    return projected if relative or ignore else np.maximum(projected, load.lasting(view, pod))


def _mean(costs: list[tuple[str, float, Floats]], size: int) -> Floats:
    total = np.zeros(size)
    for _, weight, term in costs:
        total += weight * term
    return total / sum(weight for _, weight, _ in costs)
