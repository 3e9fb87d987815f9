"""What stands in a cell: medians, ratios, and in place of them that a run did not finish."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.throughput.contenders import PLIMSOLL
from benchmarks.throughput.figures import BOUND, FROM_START, THROUGHPUT, Figure
from benchmarks.throughput.ratios import Spread, of_contender, ratio, spread
from benchmarks.throughput.result import RunResult
from benchmarks.throughput.workloads import WORKLOADS

NONE = "-"


def from_start(runs: Sequence[RunResult]) -> bool:
    """Whether the throughput of this case counts from the scheduler's start."""
    workload = WORKLOADS.get(str(runs[0].parameters.get("workload")))
    return workload is not None and workload.from_start and any(FROM_START.key in run.figures for run in runs)


def throughput(runs: Sequence[RunResult]) -> Figure:
    return FROM_START if from_start(runs) else THROUGHPUT


def figure_text(runs: Sequence[RunResult], contender: str, figure: Figure) -> str:
    """Of the runs that finished; how many pods were bound is said of all."""
    if figure is BOUND:
        everywhere = spread(run.figures.get(BOUND.key, 0.0) for run in runs if run.contender == contender)
        return everywhere.text(0) if everywhere else NONE
    found = of_contender(runs, contender, figure.key)
    told = found.text(figure.digits) if found else ""
    hung = unfinished_text(runs, contender) if figure in (THROUGHPUT, FROM_START) else ""
    return "; ".join(filter(None, (told, hung))) or NONE


def ratio_text(runs: Sequence[RunResult], other: str, figure: Figure) -> str:
    found = ratio(runs, PLIMSOLL, other, figure.key) if figure.matters else None
    return found.text(2) if found else NONE


def unfinished_text(runs: Sequence[RunResult], contender: str) -> str:
    """Nothing where all finished."""
    own = [run for run in runs if run.contender == contender]
    hung = [run for run in own if run.unfinished]
    if not hung:
        return ""
    bound = spread(run.figures.get(BOUND.key, 0.0) for run in hung)
    assert bound is not None
    some = f"{len(hung)} of {len(own)} " if len(own) > 1 else ""
    return f"{some}did not finish: {_range(bound)} of {expected(hung[0]):,} bound"


def expected(run: RunResult) -> int:
    """How many could be bound; of runs that were kept before this was, how many there were."""
    return run.expected or int(str(run.parameters["pods"]))


def _range(found: Spread) -> str:
    return f"{found.least:,.0f}" if found.least == found.most else f"{found.least:,.0f} to {found.most:,.0f}"
