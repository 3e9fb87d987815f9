"""What is to be known beside a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.throughput.cells import expected, from_start
from benchmarks.throughput.figures import BOUND
from benchmarks.throughput.result import RunResult


def of_one(runs: Sequence[RunResult]) -> Iterator[str]:
    """Of the runs of one case."""
    if (states := len({(run.fingerprint, run.harness) for run in runs})) > 1:
        yield f"These runs are of {states} states of the code"
    if (machines := len({tuple(sorted(run.machine.items())) for run in runs})) > 1:
        yield f"These runs are of {machines} machines, or of {machines} sets of versions: ratios of them say nothing"
    for contender in sorted({run.contender for run in runs}):
        if (ways := len({run.flags for run in runs if run.contender == contender})) > 1:
            yield f"{contender} was run in {ways} ways, see the conditions"
    pairs = len({run.pair for run in runs})
    yield (
        f"Medians of {pairs} runs, least and most in brackets; ratios are taken pair by pair"
        if pairs > 1
        else "One run each"
    )
    if from_start(runs):
        yield "Most of the work comes before the first bind: pods/s are from the start to the last bind"
    for run in runs:
        if run.unfinished:
            bound = f"{run.figures.get(BOUND.key, 0):,.0f} of {expected(run):,} bound"
            yield f"{run.contender}, pair {run.pair + 1}: {run.unfinished}; {bound}"


def of_many(cases: Sequence[Sequence[RunResult]]) -> Iterator[str]:
    """Each once, with the cases that it is about."""
    about: dict[str, list[str]] = {}
    for runs in cases:
        for note in of_one(runs):
            about.setdefault(note, []).append(runs[0].case)
    return (f"{', '.join(names)}: {note}" for note, names in about.items())
