"""The last step of a decision: which of the feasible nodes."""

from __future__ import annotations

import numpy as np

from plimsoll.cluster.snapshot import Bools, Ints
from plimsoll.load.readings import Floats
from plimsoll.policy.compiled import Policy

# Nodes this close to the best are as good: readings are not that exact, and always taking the first would herd.
TIE = 0.01
# Herding is what Pack is for: the fuller of two nodes is taken however little fuller it is.
_EXACT = 1e-9
_KEPT = 10


def tie_of(policy: Policy) -> float:
    """How far apart costs may be for two nodes to be equally good."""
    return TIE if policy.pack_target is None else _EXACT


def choose(cost: Floats, feasible: Bools, rng: np.random.Generator, *, tie: float = TIE) -> int:
    """A row uniformly among the feasible nodes within ``tie`` of the best cost. At least one must be feasible."""
    compared = cost if feasible.all() else np.where(feasible, cost, np.inf)
    rows = (compared <= compared.min() + tie).nonzero()[0]
    return int(rows[rng.integers(len(rows))])


def best_rows(cost: Floats, feasible: Bools) -> Ints:
    """Up to ten feasible rows, lowest cost first."""
    if feasible.all():
        rows = np.arange(len(cost)) if len(cost) <= _KEPT else cost.argpartition(_KEPT - 1)[:_KEPT]
    else:
        rows = feasible.nonzero()[0]
        if len(rows) > _KEPT:
            rows = rows[cost[rows].argpartition(_KEPT - 1)[:_KEPT]]
    ordered: Ints = rows[cost[rows].argsort(kind="stable")]
    return ordered
