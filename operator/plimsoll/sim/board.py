"""All results of one scenario, as they are compared and shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from plimsoll.sim.compare import Mean, Paired, mean_of, paired
from plimsoll.sim.measures import Measure
from plimsoll.sim.results import Result
from plimsoll.sim.scorecard import Scorecard


@dataclass(frozen=True, slots=True)
class Board:
    """Attributes:
    contenders: in the order in which they are shown; without those that have no result.
    baseline: whom the others are compared with; may be absent.
    cards: by contender and seed.
    cpu_s: the mean that a replay took, by contender.
    """

    scenario: str
    title: str
    contenders: tuple[str, ...]
    baseline: str
    cards: dict[str, dict[int, Scorecard]]
    cpu_s: dict[str, float]

    @property
    def seeds(self) -> list[int]:
        return sorted({seed for cards in self.cards.values() for seed in cards})

    @property
    def compared(self) -> tuple[str, ...]:
        """All but the baseline; nobody, if it is not there."""
        present = self.baseline in self.contenders
        return tuple(c for c in self.contenders if c != self.baseline) if present else ()

    def mean(self, contender: str, measure: Measure) -> Mean:
        return mean_of([card.values[measure.key] for card in self.cards[contender].values()])

    def against(self, contender: str, other: str, measure: Measure) -> Paired:
        return paired(self.cards[contender], self.cards[other], measure)


def board_of(
    scenario: str, title: str, results: Iterable[Result], *, contenders: Sequence[str], baseline: str
) -> Board:
    """Args:
    results: those of other scenarios and contenders are left out.
    """
    here = [result for result in results if result.key.scenario == scenario and result.key.contender in contenders]
    cards: dict[str, dict[int, Scorecard]] = {}
    took: dict[str, list[float]] = {}
    for result in sorted(here, key=lambda result: result.key):
        cards.setdefault(result.key.contender, {})[result.key.seed] = result.card
        took.setdefault(result.key.contender, []).append(result.cpu_s)
    return Board(
        scenario=scenario,
        title=title,
        contenders=tuple(c for c in contenders if c in cards),
        baseline=baseline,
        cards=cards,
        cpu_s={contender: sum(taken) / len(taken) for contender, taken in took.items()},
    )
