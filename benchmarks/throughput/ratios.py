"""Two contenders, pair by pair."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median
from typing import NamedTuple

from benchmarks.throughput.result import RunResult


class Spread(NamedTuple):
    """Of several runs, or of several ratios."""

    median: float
    least: float
    most: float

    def text(self, digits: int) -> str:
        """The median, and the extremes where there is more than one value."""
        if self.least == self.most:
            return f"{self.median:,.{digits}f}"
        return f"{self.median:,.{digits}f} ({self.least:,.{digits}f} to {self.most:,.{digits}f})"


def spread(values: Iterable[float]) -> Spread | None:
    found = list(values)
    return Spread(median(found), min(found), max(found)) if found else None


def of_contender(runs: Sequence[RunResult], contender: str, figure: str) -> Spread | None:
    """Of its runs that finished: one that hung has no throughput, however fast it was until then."""
    finished = (run for run in runs if run.contender == contender and not run.unfinished)
    return spread(run.figures[figure] for run in finished if figure in run.figures)


def ratio(runs: Sequence[RunResult], one: str, other: str, figure: str) -> Spread | None:
    """The one's figure by the other's, of each pair that has both, of runs that finished.

    Never across pairs, since the machine changes.
    """
    pairs = sorted({run.pair for run in runs})
    values = ((_figure(runs, one, pair, figure), _figure(runs, other, pair, figure)) for pair in pairs)
    return spread(a / b for a, b in values if a is not None and b)


def _figure(runs: Sequence[RunResult], contender: str, pair: int, figure: str) -> float | None:
    finished = (run for run in runs if (run.contender, run.pair) == (contender, pair) and not run.unfinished)
    return next((run.figures.get(figure) for run in finished), None)
