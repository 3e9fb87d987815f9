"""What ours is held to, scenario by scenario, as lines that hold or fail.

Among hundreds of comparisons some fail by chance, so a line that fails is tried again on fresh seeds, and has failed
only if it fails there too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from plimsoll.sim.compare import Paired, Verdict, enough, mean_of, paired
from plimsoll.sim.measures import HOT, HOT_OF, UNSERVED, Measure
from plimsoll.sim.scorecard import Scorecard

OURS, KUBE, KOORDINATOR, RANDOM = "ours", "kube", "koordinator", "random"
CONTENDERS = (OURS, KUBE, KOORDINATOR, RANDOM)
_UNSERVED_CPU = UNSERVED[0]
# Of kube-scheduler's unserved cpu, no more than this share in the mean.
_AT_MOST = {"jobs": 0.1, "services": 0.5, "singles": 0.5}
_NOTHING = 1e-9

Cards = Mapping[str, Mapping[int, Scorecard]]


class Line(NamedTuple):
    """Attributes:
    at_most: of the other's mean, as a share; None: never worse beyond two standard errors.
    """

    scenario: str
    measure: Measure
    against: str
    at_most: float | None = None

    def __str__(self) -> str:
        if self.at_most is None:
            return f"{self.scenario}: {self.measure.title} never worse than {self.against}'s beyond 2 SE"
        below = round(100 * (1 - self.at_most))
        return f"{self.scenario}: {self.measure.title} at least {below} % below {self.against}'s"


@dataclass(frozen=True, slots=True)
class Judged:
    """Attributes:
    ours, theirs: means over the seeds that count.
    missing: nothing could be compared, or in fewer than five sixths of the seeds; such a line does not hold.
    more_unplaced: how many more pods ours left without a node, over the seeds that both have; above 0 no line holds.
    again: the same line on fresh seeds, where it failed and was tried again.
    """

    line: Line
    ours: float
    theirs: float
    paired: Paired
    holds: bool
    missing: bool
    more_unplaced: int = 0
    again: Judged | None = None

    @property
    def failed(self) -> bool:
        return not self.holds and (self.again is None or not self.again.holds)

    @property
    def last(self) -> Judged:
        """What the line was decided by: fresh seeds, where it was tried again."""
        return self.again or self

    @property
    def undecided(self) -> bool:
        """Failed for want of a comparison; who leaves pods without a node has failed whatever can be compared."""
        return self.failed and self.last.missing and self.last.more_unplaced <= 0


def lines(scenario: str) -> Iterator[Line]:
    """All that ours is held to in the scenario."""
    for against in (KUBE, RANDOM):
        for measure in (*UNSERVED, HOT, *HOT_OF):
            yield Line(scenario, measure, against)
    yield Line(scenario, _UNSERVED_CPU, KOORDINATOR)
    if scenario in _AT_MOST:
        yield Line(scenario, _UNSERVED_CPU, KUBE, _AT_MOST[scenario])


def judge(line: Line, cards: Cards) -> Judged:
    """Args:
    cards: of the line's scenario, by contender and seed.
    """
    ours, theirs = cards.get(OURS, {}), cards.get(line.against, {})
    compared = paired(ours, theirs, line.measure)
    counted = sorted((ours.keys() & theirs.keys()) - set(compared.unlike))
    mean, other = (mean_of([of[seed].values[line.measure.key] for seed in counted]).mean for of in (ours, theirs))
    missing = compared.verdict is Verdict.UNDECIDED or not enough(
        compared.difference.count, len(ours.keys() | theirs.keys())
    )
    more_unplaced = sum(len(ours[seed].unplaced) - len(theirs[seed].unplaced) for seed in ours.keys() & theirs.keys())
    kept = compared.verdict is not Verdict.WORSE if line.at_most is None else mean <= line.at_most * other + _NOTHING
    return Judged(
        line=line,
        ours=mean,
        theirs=other,
        paired=compared,
        holds=kept and not missing and more_unplaced <= 0,
        missing=missing,
        more_unplaced=more_unplaced,
    )


def judge_scenario(scenario: str, cards: Cards) -> list[Judged]:
    return [judge(line, cards) for line in lines(scenario)]


def repeated(judged: Iterable[Judged], fresh: Mapping[str, Cards]) -> list[Judged]:
    """Args:
    fresh: by scenario, from seeds that no line was judged by before.
    """
    return [
        one if one.holds else replace(one, again=judge(one.line, fresh.get(one.line.scenario, {}))) for one in judged
    ]


def to_repeat(judged: Iterable[Judged]) -> dict[str, tuple[str, ...]]:
    """Scenario to the contenders that have to be replayed on fresh seeds."""
    again: dict[str, set[str]] = {}
    for one in judged:
        if not one.holds:
            again.setdefault(one.line.scenario, {OURS}).add(one.line.against)
    return {scenario: tuple(c for c in CONTENDERS if c in wanted) for scenario, wanted in again.items()}


def fresh_seeds(seeds: range) -> range:
    """As many as there were, right after them."""
    return range(seeds.stop, seeds.stop + len(seeds))
