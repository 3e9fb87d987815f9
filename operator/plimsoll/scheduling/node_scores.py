"""How the best nodes did, for people: figures are taken out of the arrays at once, and put into words if asked for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from plimsoll.cluster.snapshot import Snapshot
from plimsoll.load.estimate import PolicyLoad
from plimsoll.load.readings import Floats
from plimsoll.scheduling.decision import NodeScore
from plimsoll.scheduling.made_late import MadeLate
from plimsoll.scheduling.terms import Terms

# A custom metric's scale may be tiny beside its values; the API keeps percents as 32 bits.
_MOST_SHOWN = 1e6


def node_scores(rows: Sequence[int], *, view: Snapshot, load: PolicyLoad, terms: Terms) -> Sequence[NodeScore]:
    """Of each of the rows, in their order."""
    at, scored = np.array(rows, dtype=np.int64), terms.scored
    metrics = () if scored is None else load.metrics
    lines = [terms.cost[at], *(term[at] for term in terms.by_name.values())]
    if scored is not None:
        lines += [*load.utilisation_at(at), *scored.take(at, axis=1), load.oldest_sample_s(at)]
    return NodeScores(
        names=tuple(map(view.name, rows)),
        terms=tuple(terms.by_name),
        metrics=tuple(metric.metric.name for metric in metrics),
        figures=np.array(lines),
        preferences=terms.preferences.at(at) if terms.preferences.telling else (),
    )


@dataclass(frozen=True, slots=True, eq=False)
class NodeScores(MadeLate[NodeScore]):
    """Some nodes' scores, made when they are asked for: of most decisions nobody reads more than two.

    Attributes:
        figures: [L, n], by line: the cost; the terms; by metric the utilisation and what was scored, and the time of
            the oldest sample.
        preferences: per node, if there are any.
    """

    names: tuple[str, ...]
    terms: tuple[str, ...]
    metrics: tuple[str, ...]
    figures: Floats
    preferences: Sequence[Mapping[str, int]] = field(default=())

    def __len__(self) -> int:
        return len(self.names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def _made(self, place: int) -> NodeScore:
        cost, *rest = self.figures[:, place].tolist()
        terms, counted, counts = rest[: len(self.terms)], rest[len(self.terms) :], len(self.metrics)
        return NodeScore(
            node=self.names[place],
            score=round(100 * (1 - cost), 2),
            terms={name: round(cost, 4) for name, cost in zip(self.terms, terms, strict=True)},
            readings={name: percent(share) for name, share in zip(self.metrics, counted[:counts], strict=True)},
            projected={
                name: _percent(share) for name, share in zip(self.metrics, counted[counts : 2 * counts], strict=True)
            },
            sampled_at_s=None if not counted or math.isnan(counted[-1]) else counted[-1],
            preferences=self.preferences[place] if self.preferences else {},
        )


def percent(utilisation: float) -> int | None:
    """None where the reading is missing."""
    return None if math.isnan(utilisation) else _percent(utilisation)


def _percent(utilisation: float) -> int:
    return round(100 * min(max(utilisation, -_MOST_SHOWN), _MOST_SHOWN))
