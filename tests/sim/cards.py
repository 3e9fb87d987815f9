"""Scorecards and results with values that are made up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plimsoll.sim.measures import MEASURES
from plimsoll.sim.results import Key, Result
from plimsoll.sim.scorecard import Scorecard


def make_card(everything: float = 1.0, *, unplaced: Sequence[int] = (), **values: float) -> Scorecard:
    known = {measure.key: everything for measure in MEASURES}
    return Scorecard(known | values, (everything,) * 4, tuple(unplaced))


def cards_of(values: Sequence[float], *, key: str = "unserved_cpu", first: int = 0) -> dict[int, Scorecard]:
    """A card for each seed, that differ in one measure."""
    return {seed: make_card(**{key: value}) for seed, value in enumerate(values, start=first)}


def results_of(scenario: str, by_contender: Mapping[str, Mapping[int, Scorecard]]) -> list[Result]:
    return [
        Result(Key(scenario, seed, contender), card, cpu_s=0.5, wall_s=0.6)
        for contender, cards in by_contender.items()
        for seed, card in cards.items()
    ]
