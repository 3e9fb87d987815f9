"""The last step of a decision: which of the feasible nodes."""

from __future__ import annotations

import numpy as np

from plimsoll.cluster.snapshot import Bools, Ints
from plimsoll.load.readings import Floats

# Nodes this close to the best are as good: readings are not that exact, and always taking the first would herd.
_TIE = 0.01
_KEPT = 10


def choose(cost: Floats, feasible: Bools, rng: np.random.Generator) -> int:
    """A row uniformly among the feasible nodes within 0.01 of the best cost. At least one must be feasible."""
    limit = cost[feasible].min() + _TIE
    return int(rng.choice(np.flatnonzero(feasible & (cost <= limit))))


def best_rows(cost: Floats, feasible: Bools) -> Ints:
    """Up to ten feasible rows, lowest cost first."""
    rows = np.flatnonzero(feasible)
    if len(rows) > _KEPT:
        rows = rows[np.argpartition(cost[rows], _KEPT - 1)[:_KEPT]]
    ordered: Ints = rows[np.argsort(cost[rows], kind="stable")]
    return ordered
