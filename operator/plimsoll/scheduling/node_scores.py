"""How the best nodes did, for people: figures are taken out of the arrays column by column, once per decision."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from plimsoll.cluster.snapshot import Ints, Snapshot
from plimsoll.load.estimate import PolicyLoad
from plimsoll.load.readings import Floats
from plimsoll.scheduling.decision import NodeScore
from plimsoll.scheduling.terms import Terms

# A custom metric's scale may be tiny beside its values; the API keeps percents as 32 bits.
_MOST_SHOWN = 1e6


def node_scores(rows: Sequence[int], *, view: Snapshot, load: PolicyLoad, terms: Terms) -> tuple[NodeScore, ...]:
    """Of each of the rows, in their order."""
    at, projected = np.array(rows, dtype=np.int64), terms.projected
    counted = () if projected is None else load.metrics
    names = [metric.metric.name for metric in counted]
    columns = zip(
        rows,
        (100 * (1 - terms.cost[at])).tolist(),
        _by_row([term[at] for term in terms.by_name.values()], at),
        _by_row(percents(np.array([metric.utilisation[at] for metric in counted])) if counted else [], at),
        _by_row([] if projected is None else percents(projected.take(at, axis=1)), at),
        load.sampled_at_s(at) if counted else [None] * len(rows),
        terms.preferences.at(at),
        strict=True,
    )
    return tuple(
        NodeScore(
            node=view.name(row),
            score=round(score, 2),
            terms={name: round(cost, 4) for name, cost in zip(terms.by_name, costs, strict=True)},
            readings={name: whole(share) for name, share in zip(names, measured, strict=True)},
            projected={name: int(share) for name, share in zip(names, shares, strict=True)},
            sampled_at_s=sampled_at_s,
            preferences=preferences,
        )
        for row, score, costs, measured, shares, sampled_at_s, preferences in columns
    )


def percents(utilisation: Floats) -> Floats:
    """[..], whole percents; NaN where the reading is missing."""
    shown: Floats = np.rint(100 * np.minimum(np.maximum(utilisation, -_MOST_SHOWN), _MOST_SHOWN))
    return shown


def percent(utilisation: float) -> int | None:
    """None where the reading is missing."""
    return None if math.isnan(utilisation) else round(100 * min(max(utilisation, -_MOST_SHOWN), _MOST_SHOWN))


def whole(share: float) -> int | None:
    return None if math.isnan(share) else int(share)


def _by_row(lines: Sequence[Floats] | Floats, at: Ints) -> list[list[float]]:
    """[R][L] of [L, R]."""
    if not len(lines):
        return [[] for _ in at]
    rows: list[list[float]] = np.array(lines).T.tolist()
    return rows
