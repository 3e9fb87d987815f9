"""Tables for documents, and the places in a document that hold them."""

from __future__ import annotations

import re

from plimsoll.errors import InvalidInput
from plimsoll.sim.report.grid import Grid


def markdown(grid: Grid) -> str:
    lines = [
        _row(grid.columns),
        _row(["---", *["---:"] * (len(grid.columns) - 1)]),
        *(_row([cell.text for cell in row]) for row in grid.rows),
    ]
    return "\n".join([*lines, *(f"\n{note}." for note in grid.notes)]) + "\n"


def put_between_markers(document: str, name: str, content: str) -> str:
    """The document, with the content in place of what stood between ``<!-- name -->`` and ``<!-- /name -->``.

    Raises:
        InvalidInput: the markers are not there.
    """
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if not pattern.search(document):
        raise InvalidInput(f"the document has no place for {name}: put the lines {begin} and {end} where it belongs")
    return pattern.sub(lambda _: f"{begin}\n{content}\n{end}", document, count=1)


def _row(cells: tuple[str, ...] | list[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
