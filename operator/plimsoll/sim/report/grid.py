"""Tables as values: the terminal, Markdown and HTML show the same ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from plimsoll.sim.board import Board
from plimsoll.sim.compare import Mean, Paired, Verdict
from plimsoll.sim.gate import Judged
from plimsoll.sim.measures import Better, Measure

MARKS = {Verdict.BETTER: "*", Verdict.WORSE: "!", Verdict.SAME: "", Verdict.UNDECIDED: ""}
LEGEND = (
    "mean ± standard error (SE), seeds better:worse; * better, ! worse beyond 2 SE of the paired difference;\n"
    "pp: percentage points"
)


class Cell(NamedTuple):
    text: str
    verdict: Verdict = Verdict.UNDECIDED


class Grid(NamedTuple):
    """Attributes:
    columns: the first one names the rows.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()


def means(board: Board, measures: Sequence[Measure]) -> Grid:
    """A row for each contender."""
    rows = tuple(
        (Cell(contender), *(Cell(mean_text(board.mean(contender, measure))) for measure in measures))
        for contender in board.contenders
    )
    seeds = len(board.seeds)
    return Grid(f"mean of {seeds} seed{'s' * (seeds != 1)}", ("policy", *map(_headed, measures)), rows)


def differences(board: Board, measures: Sequence[Measure]) -> Grid:
    """A row for each contender but the baseline."""
    rows = tuple(
        (Cell(contender), *(_compared(board.against(contender, board.baseline, measure)) for measure in measures))
        for contender in board.compared
    )
    columns = ("policy", *(_headed(measure._replace(unit=difference_unit(measure))) for measure in measures))
    return Grid(f"difference to {board.baseline}", columns, rows, tuple(_left_out(board, measures)))


def transposed(board: Board, measures: Sequence[Measure]) -> Grid:
    """A row for each measure, for many of them."""
    rows = tuple(
        (Cell(_headed(measure)), *(Cell(mean_text(board.mean(contender, measure))) for contender in board.contenders))
        for measure in measures
    )
    return Grid("all measures", ("measure", *board.contenders), rows)


def gate(judged: Iterable[Judged]) -> Grid:
    """A row for each line."""
    rows = tuple((Cell(_says(one), _verdict(one)), Cell(str(one.line)), *_numbers(one)) for one in judged)
    return Grid("gate", ("", "line", "ours, %", "theirs, %", "difference, pp", "on fresh seeds, pp"), rows)


def figure(value: float) -> str:
    """Three digits or so; "-" where there is nothing."""
    if math.isnan(value):
        return "-"
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}"


def mean_text(mean: Mean) -> str:
    return figure(mean.mean) if math.isnan(mean.se) else f"{figure(mean.mean)} ± {figure(mean.se)}"


def difference_unit(measure: Measure) -> str:
    """Of one value minus another: of percents these are percentage points."""
    return "pp" if measure.unit == "%" else measure.unit


def _headed(measure: Measure) -> str:
    unit = f", {measure.unit}" if measure.unit else ""
    higher = " (higher is better)" if measure.better is Better.HIGHER else ""
    return f"{measure.title}{unit}{higher}"


def _compared(paired: Paired) -> Cell:
    if not paired.difference.count:
        return Cell("-")
    sign = "+" if paired.difference.mean > 0 else ""
    text = f"{sign}{mean_text(paired.difference)}  {paired.wins}:{paired.losses}"
    return Cell(f"{text} {MARKS[paired.verdict]}".rstrip(), paired.verdict)


def _left_out(board: Board, measures: Sequence[Measure]) -> Iterable[str]:
    for contender in board.compared:
        unlike = board.against(contender, board.baseline, measures[0]).unlike
        if unlike:
            seeds = ", ".join(map(str, unlike))
            yield f"{contender} and {board.baseline} did not place the same pods with the seeds {seeds}: left out"


def _says(one: Judged) -> str:
    if one.failed:
        if one.undecided:
            return "not decided"
        return "FAILED: more pods not placed" if one.last.more_unplaced > 0 else "FAILED"
    return "holds" if one.holds else "holds on fresh seeds"


def _verdict(one: Judged) -> Verdict:
    return Verdict.WORSE if one.failed else Verdict.SAME


def _numbers(one: Judged) -> tuple[Cell, ...]:
    again = _compared(one.again.paired) if one.again else Cell("")
    return Cell(figure(one.ours)), Cell(figure(one.theirs)), _compared(one.paired), again
