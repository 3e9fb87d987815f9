"""Tables of scorecards on the terminal, in plain text where there is none."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.table import Table
from rich.text import Text

from plimsoll.sim.compare import Verdict
from plimsoll.sim.report.grid import Cell, Grid

_STYLES = {Verdict.BETTER: "green", Verdict.WORSE: "red"}
# What a table is laid out for where nobody's terminal says how wide it is.
_WIDTH = 120


def console() -> Console:
    width = None if sys.stdout.isatty() else _WIDTH
    return Console(width=width, highlight=False, markup=False, emoji=False)


def draw(on: Console, grid: Grid) -> None:
    heads = [grid.title, *(column.replace(" ", "\n", 1) for column in grid.columns[1:])]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for head in heads:
        table.add_column(head, no_wrap=True, overflow="ignore")
    for row in grid.rows:
        table.add_row(*map(_styled, row))
    # A terminal that is too narrow breaks lines, but nothing is left out.
    on.width = max(on.width, _needed(grid, heads))
    on.print()
    on.print(table)
    for note in grid.notes:
        on.print(note)


def _needed(grid: Grid, heads: list[str]) -> int:
    cells = [[*head.split("\n"), *(row[i].text for row in grid.rows)] for i, head in enumerate(heads)]
    return sum(max(map(len, texts)) + 2 for texts in cells)


def _styled(cell: Cell) -> Text:
    return Text(cell.text, style=_STYLES.get(cell.verdict, ""))
