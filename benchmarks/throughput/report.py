"""The tables: all figures of one case, and one line for each case."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import orjson

from benchmarks.throughput import notes
from benchmarks.throughput.cells import figure_text, ratio_text, throughput
from benchmarks.throughput.contenders import BINDS_EVENTS, CONTENDERS, KUBE, KUBE_DEFAULT, PLIMSOLL
from benchmarks.throughput.figures import BOUND, CPU, FIGURES, FIRST_BIND, LAST_BIND, MEMORY, THROUGHPUT, WAIT_P99
from benchmarks.throughput.result import RunResult
from plimsoll.sim.report.grid import Cell, Grid

# Whose figures ours are divided by.
_OTHERS = (KUBE, KUBE_DEFAULT, BINDS_EVENTS)
_LINE = (CPU, MEMORY, FIRST_BIND, LAST_BIND, WAIT_P99)
_SCHEDULER = "scheduler"


def of_case(runs: Sequence[RunResult]) -> Grid:
    """Medians with extremes, and ratios pair by pair; runs of one case."""
    contenders = [name for name in CONTENDERS if any(run.contender == name for run in runs)]
    others = [name for name in _OTHERS if name in contenders and PLIMSOLL in contenders]
    finished = [run for run in runs if not run.unfinished]
    always = (BOUND, THROUGHPUT)
    shown = [each for each in FIGURES if each in always or any(each.key in run.figures for run in finished)]
    rows = tuple(
        (
            Cell(figure.label),
            *(Cell(figure_text(runs, name, figure)) for name in contenders),
            *(Cell(ratio_text(runs, name, figure)) for name in others),
        )
        for figure in shown
    )
    columns = (*(CONTENDERS[name].title for name in contenders), *(f"Plimsoll / {name}" for name in others))
    return Grid(_title(runs[0]), ("", *columns), rows, tuple(notes.of_one(runs)))


def of_all(cases: Sequence[Sequence[RunResult]]) -> Grid:
    """A line for each case that both were in: the medians of throughput, and the ratios of what matters."""
    compared = [(runs, other) for runs in cases if (other := _rival(runs))]
    rows = tuple(
        (
            Cell(runs[0].case),
            Cell(figure_text(runs, PLIMSOLL, throughput(runs))),
            Cell(figure_text(runs, other, throughput(runs))),
            *(Cell(ratio_text(runs, other, figure)) for figure in (throughput(runs), *_LINE)),
        )
        for runs, other in compared
    )
    ratios = (f"{what}, ratio" for what in ("pods/s", "CPU/pod", "peak memory", "first bind", "last bind", "p99 wait"))
    columns = ("", "Plimsoll, pods/s", "kube-scheduler, pods/s", *ratios)
    told = tuple(notes.of_many([runs for runs, _ in compared]))
    return Grid("Plimsoll / kube-scheduler", columns, rows, told)


def requests(runs: Sequence[RunResult], *, most: int = 8) -> Grid:
    """What the API server answered during the first run of each contender."""
    newest = {run.contender: run for run in reversed(runs)}
    first = {name: newest[name] for name in CONTENDERS if name in newest}
    kinds = dict.fromkeys(kind for run in first.values() for kind in list(run.requests)[:most])
    rows = tuple((Cell(kind), *(Cell(f"{run.requests.get(kind, 0):,}") for run in first.values())) for kind in kinds)
    return Grid("requests answered", ("", *(CONTENDERS[name].title for name in first)), rows)


def conditions(runs: Sequence[RunResult]) -> Grid:
    """Versions and command lines of everything, as the runs had them; all that occur, where runs differ."""
    found: dict[str, dict[str, None]] = {}
    for run in runs:
        for what, version in run.versions.items():
            found.setdefault(what, {})[version] = None
        for program, command in run.commands.items():
            if program != _SCHEDULER:
                found.setdefault(f"{program}, command", {})[f"`{command}`"] = None
    for name in CONTENDERS:
        if own := [run for run in runs if run.contender == name]:
            found[f"{CONTENDERS[name].title}, command"] = dict.fromkeys(map(_started, own))
    return Grid("conditions", ("", ""), tuple((Cell(what), Cell("; ".join(told))) for what, told in found.items()))


def _rival(runs: Iterable[RunResult]) -> str:
    """Whom Plimsoll is compared with; "" where there is no such pair."""
    there = {run.contender for run in runs}
    return next((other for other in (KUBE, KUBE_DEFAULT) if {PLIMSOLL, other} <= there), "")


def _started(run: RunResult) -> str:
    if _SCHEDULER not in run.commands:
        return "not recorded"
    configuration = () if run.configuration is None else (f"`{orjson.dumps(run.configuration).decode()}`",)
    return ", ".join((f"`{run.commands[_SCHEDULER]}`", *configuration))


def _title(run: RunResult) -> str:
    size = run.parameters
    return f"{run.case}: {size['nodes']:,} nodes, {size['pods']:,} pods"
