"""One self-contained HTML page: tables, plots, and how to read them."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from importlib import resources

from plimsoll.sim.board import Board
from plimsoll.sim.compare import Verdict
from plimsoll.sim.gate import Judged
from plimsoll.sim.measures import HOT, MEASURES, PRIMARY, UNSERVED
from plimsoll.sim.report.grid import LEGEND, Grid, differences, gate, means, transposed
from plimsoll.sim.report.overall import by_scenario
from plimsoll.sim.report.plots import Plot, plots

_READING = (
    "Each policy is given the same worlds: the same nodes, pods and load, seed by seed. <em>Unserved</em> is the "
    "demand above a node's capacity, in percent of all demand. A node-minute is <em>hot</em> above 80 % of cpu, "
    "memory or network. Lower is better, unless a measure says otherwise."
)


def page(
    boards: Sequence[Board],
    *,
    descriptions: Mapping[str, str],
    inputs: Mapping[str, str],
    notes: Iterable[str] = (),
    judged: Sequence[Judged] = (),
) -> str:
    """Args:
        descriptions: of the contenders.
        inputs: names of files to their sha256.
        notes: sentences on what the page is made of.

    Raises:
        InvalidInput: matplotlib is not installed.
    """
    css = resources.files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    parts = [
        "<h1>How well pods were placed</h1>",
        f"<p>{_READING}</p>",
        *(f'<p class="note">{escape(note)}</p>' for note in notes),
        *(_overview(boards) if len(boards) > 1 else ()),
        _table(gate(judged)) if judged else "",
        *map(_scenario, boards),
        _policies(boards, descriptions),
        _inputs(inputs) if inputs else "",
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>Placement quality</title><style>{css}</style></head>\n"
        f"<body>{''.join(parts)}</body></html>\n"
    )


def _scenario(board: Board) -> str:
    details = (transposed(board, MEASURES), differences(board, MEASURES))
    return "".join(
        (
            f'<section id="{escape(board.scenario)}"><h2>{escape(board.scenario)}</h2><p>{escape(board.title)}</p>',
            _table(means(board, PRIMARY)),
            _table(differences(board, PRIMARY)) if board.compared else "",
            f'<p class="note">{escape(LEGEND)}</p>',
            *map(_drawn, plots(board)),
            "<details><summary>All measures</summary>",
            _table(details[0]),
            _table(_turned(details[1])) if board.compared else "",
            "</details></section>",
        )
    )


def _turned(grid: Grid) -> Grid:
    """Rows to columns: there are many measures and few policies."""
    heads, *columns = zip(*grid.rows, strict=True)
    rows = tuple((type(column[0])(name), *column) for name, column in zip(grid.columns[1:], columns, strict=True))
    return Grid(grid.title, ("measure", *(head.text for head in heads)), rows, grid.notes)


def _overview(boards: Sequence[Board]) -> Iterator[str]:
    """Links, and a table for each of the two measures that people ask for first."""
    shown = tuple(dict.fromkeys(contender for board in boards for contender in board.contenders))
    yield _contents(boards)
    for measure in (UNSERVED[0], HOT):
        yield _table(by_scenario(boards, measure, shown))
    yield f'<p class="note">{escape(LEGEND)}</p>'


def _contents(boards: Sequence[Board]) -> str:
    links = (f'<a href="#{escape(board.scenario)}">{escape(board.scenario)}</a>' for board in boards)
    return f"<nav>{' · '.join(links)}</nav>"


def _table(grid: Grid) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in grid.columns)
    rows = ("".join(f"<td{_class(cell.verdict)}>{escape(cell.text)}</td>" for cell in row) for row in grid.rows)
    notes = "".join(f'<p class="note">{escape(note)}.</p>' for note in grid.notes)
    return (
        f'<div class="wide"><table><caption>{escape(grid.title)}</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(f'<tr>{row}</tr>' for row in rows)}</tbody></table></div>{notes}"
    )


def _class(verdict: Verdict) -> str:
    return f' class="{verdict.value}"' if verdict in (Verdict.BETTER, Verdict.WORSE) else ""


def _drawn(plot: Plot) -> str:
    name, png = escape(plot.name), base64.b64encode(plot.png).decode()
    return (
        f"<figure><figcaption>{escape(plot.title)} "
        f'<a download="{name}.png" href="data:image/png;base64,{png}">PNG</a></figcaption>{plot.svg}</figure>'
    )


def _policies(boards: Sequence[Board], descriptions: Mapping[str, str]) -> str:
    shown = dict.fromkeys(contender for board in boards for contender in board.contenders)
    terms = (f"<dt>{escape(name)}</dt><dd>{escape(descriptions.get(name, ''))}</dd>" for name in shown)
    return f"<section><h2>Policies</h2><dl>{''.join(terms)}</dl></section>"


def _inputs(inputs: Mapping[str, str]) -> str:
    rows = (
        f"<tr><td>{escape(name)}</td><td><code>{escape(digest)}</code></td></tr>" for name, digest in inputs.items()
    )
    return (
        '<section><h2>Files</h2><div class="wide"><table><thead><tr><th>name</th><th>sha256</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div></section>"
    )
