"""All scenarios on one table."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.sim.board import Board
from plimsoll.sim.compare import Verdict
from plimsoll.sim.gate import Judged
from plimsoll.sim.measures import Measure
from plimsoll.sim.report.grid import MARKS, Cell, Grid, difference_unit, figure, mean_text


def by_scenario(boards: Sequence[Board], measure: Measure, contenders: Sequence[str]) -> Grid:
    """A row for each scenario; marked where a contender differs from the baseline beyond 2 SE."""
    rows = tuple(
        (Cell(board.scenario), *(_mean(board, contender, measure) for contender in contenders)) for board in boards
    )
    return Grid(f"{measure.title}, {measure.unit}", ("scenario", *contenders), rows)


def against(boards: Sequence[Board], measure: Measure, contender: str, others: Sequence[str]) -> Grid:
    """A row for each scenario: the contender's paired difference to each of the others, in percent of theirs too."""
    rows = tuple(
        (Cell(board.scenario), *(_difference(board, contender, other, measure) for other in others))
        for board in boards
        if contender in board.contenders
    )
    return Grid(f"{measure.title}, {contender} against ({difference_unit(measure)})", ("scenario", *others), rows)


def cpu_time(boards: Sequence[Board], contenders: Sequence[str]) -> Grid:
    """What one replay took, in CPU seconds."""
    rows = tuple(
        (Cell(board.scenario), *(Cell(figure(board.cpu_s.get(c, float("nan")))) for c in contenders))
        for board in boards
    )
    return Grid("CPU seconds of a replay", ("scenario", *contenders), rows)


def gate_counts(judged: Sequence[Judged]) -> Grid:
    """How many lines held, by scenario."""
    scenarios = dict.fromkeys(one.line.scenario for one in judged)
    rows = []
    for scenario in scenarios:
        here = [one for one in judged if one.line.scenario == scenario]
        held, failed = sum(one.holds for one in here), sum(one.failed for one in here)
        verdict = Verdict.WORSE if failed else Verdict.SAME
        rows.append(
            (
                Cell(scenario),
                Cell(str(len(here))),
                Cell(str(held)),
                Cell(str(len(here) - held - failed)),
                Cell(str(failed), verdict),
            )
        )
    return Grid("gate", ("scenario", "lines", "held", "held on fresh seeds", "failed"), tuple(rows))


def _mean(board: Board, contender: str, measure: Measure) -> Cell:
    if contender not in board.contenders:
        return Cell("-")
    text = mean_text(board.mean(contender, measure))
    if contender not in board.compared:
        return Cell(text)
    verdict = board.against(contender, board.baseline, measure).verdict
    return Cell(f"{text} {MARKS[verdict]}".rstrip(), verdict)


def _difference(board: Board, contender: str, other: str, measure: Measure) -> Cell:
    if other not in board.contenders or other == contender:
        return Cell("-")
    paired = board.against(contender, other, measure)
    if not paired.difference.count:
        return Cell("other pods placed")
    theirs = board.mean(other, measure).mean
    share = f" ({100 * paired.difference.mean / theirs:+.0f} %)" if theirs > 0 else ""
    text = f"{mean_text(paired.difference)}{share}  {paired.wins}:{paired.losses} {MARKS[paired.verdict]}"
    return Cell(text.rstrip(), paired.verdict)
