"""The tables: all figures of one case, and one line for each case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.throughput.contenders import BINDS_EVENTS, CONTENDERS, KUBE, KUBE_DEFAULT, PLIMSOLL
from benchmarks.throughput.figures import CPU, FIGURES, FIRST_BIND, LAST_BIND, MEMORY, THROUGHPUT, WAIT_P99, Figure
from benchmarks.throughput.ratios import of_contender, ratio
from benchmarks.throughput.result import RunResult
from plimsoll.sim.report.grid import Cell, Grid

_NONE = "-"
# Whose figures ours are divided by.
_OTHERS = (KUBE, KUBE_DEFAULT, BINDS_EVENTS)
_LINE = (THROUGHPUT, CPU, MEMORY, FIRST_BIND, LAST_BIND, WAIT_P99)


def of_case(runs: Sequence[RunResult]) -> Grid:
    """Medians with extremes, and ratios pair by pair; runs of one case."""
    contenders = [name for name in CONTENDERS if any(run.contender == name for run in runs)]
    others = [name for name in _OTHERS if name in contenders and PLIMSOLL in contenders]
    shown = [figure for figure in FIGURES if any(figure.key in run.figures for run in runs)]
    rows = tuple(
        (
            Cell(figure.label),
            *(Cell(_median(runs, name, figure)) for name in contenders),
            *(Cell(_ratio(runs, name, figure)) for name in others),
        )
        for figure in shown
    )
    columns = (*(CONTENDERS[name].title for name in contenders), *(f"Plimsoll / {name}" for name in others))
    return Grid(_title(runs[0]), ("", *columns), rows, tuple(_notes(runs)))


def of_all(cases: Sequence[Sequence[RunResult]]) -> Grid:
    """A line for each case that both were in: the medians of throughput, and the ratios of what matters."""
    compared = [runs for runs in cases if {PLIMSOLL, KUBE} <= {run.contender for run in runs}]
    rows = tuple(
        (
            Cell(runs[0].case),
            Cell(_median(runs, PLIMSOLL, THROUGHPUT)),
            Cell(_median(runs, KUBE, THROUGHPUT)),
            *(Cell(_ratio(runs, KUBE, figure)) for figure in _LINE),
        )
        for runs in compared
    )
    ratios = (f"{what}, ratio" for what in ("pods/s", "CPU/pod", "peak memory", "first bind", "last bind", "p99 wait"))
    return Grid("Plimsoll / kube-scheduler", ("", "Plimsoll, pods/s", "kube-scheduler, pods/s", *ratios), rows)


def requests(runs: Sequence[RunResult], *, most: int = 8) -> Grid:
    """What the API server answered during the first run of each contender."""
    newest = {run.contender: run for run in reversed(runs)}
    first = {name: newest[name] for name in CONTENDERS if name in newest}
    kinds = dict.fromkeys(kind for run in first.values() for kind in list(run.requests)[:most])
    rows = tuple((Cell(kind), *(Cell(f"{run.requests.get(kind, 0):,}") for run in first.values())) for kind in kinds)
    return Grid("requests answered", ("", *(CONTENDERS[name].title for name in first)), rows)


def conditions(runs: Sequence[RunResult]) -> Grid:
    """Versions and flags of everything; all values that occur, where runs differ."""
    found: dict[str, dict[str, None]] = {}
    for run in runs:
        for what, version in run.versions.items():
            found.setdefault(what, {})[version] = None
    used = [CONTENDERS[name] for name in CONTENDERS if any(run.contender == name for run in runs)]
    rows = [(Cell(what), Cell("; ".join(values))) for what, values in found.items()]
    return Grid("conditions", ("", ""), (*rows, *((Cell(one.title), Cell(one.flags)) for one in used)))


def _title(run: RunResult) -> str:
    size = run.parameters
    return f"{run.case}: {size['nodes']:,} nodes, {size['pods']:,} pods"


def _median(runs: Sequence[RunResult], contender: str, figure: Figure) -> str:
    found = of_contender(runs, contender, figure.key)
    return found.text(figure.digits) if found else _NONE


def _ratio(runs: Sequence[RunResult], other: str, figure: Figure) -> str:
    found = ratio(runs, PLIMSOLL, other, figure.key) if figure.matters else None
    return found.text(2) if found else _NONE


def _notes(runs: Sequence[RunResult]) -> Iterator[str]:
    if (states := len({run.fingerprint for run in runs})) > 1:
        yield f"These runs are of {states} states of the code"
    pairs = len({run.pair for run in runs})
    yield (
        f"Medians of {pairs} runs, least and most in brackets; ratios are taken pair by pair"
        if pairs > 1
        else ("One run each")
    )
    for run in runs:
        if run.unfinished:
            yield f"{run.contender}, pair {run.pair + 1}: {run.unfinished}; {run.figures.get('bound', 0):,.0f} bound"
