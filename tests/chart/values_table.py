"""The table of values in the chart's README, made from the comments in values.yaml.

`python -m tests.chart.values_table` writes it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from tests.chart.chart import CHART

VALUES, README = CHART / "values.yaml", CHART / "README.md"
_BEGIN, _END = "<!-- values: begin -->", "<!-- values: end -->"
_MARK = re.compile(r"\s*# -- (.*)")
_MORE = re.compile(r"\s*# (?!-- )(.*)")


@dataclass(frozen=True, slots=True)
class Row:
    """One value; `text` is "" where it has no comment of its own."""

    path: str
    default: object
    text: str

    @property
    def markdown(self) -> str:
        return f"| `{self.path}` | `{json.dumps(self.default)}` | {self.text} |"


def rows(text: str) -> list[Row]:
    """Every value with a comment, and every value without one that no commented value contains."""
    lines = text.splitlines()
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    assert isinstance(root, yaml.MappingNode)
    return list(_rows(root, lines, prefix=""))


def _rows(node: yaml.MappingNode, lines: list[str], *, prefix: str) -> Iterator[Row]:
    for key, value in node.value:
        path = prefix + key.value
        comment = _comment(lines, before=key.start_mark.line)
        if not comment and isinstance(value, yaml.MappingNode) and value.value:
            yield from _rows(value, lines, prefix=f"{path}.")
        else:
            yield Row(path, _plain(value), comment)


def _comment(lines: list[str], *, before: int) -> str:
    """What stands right above a line, from its `# --` on."""
    found: list[str] = []
    for line in reversed(lines[:before]):
        if mark := _MARK.fullmatch(line):
            return " ".join([mark[1], *found])
        if not (more := _MORE.fullmatch(line)):
            break
        found.insert(0, more[1])
    return ""


def _plain(node: yaml.Node) -> object:
    return yaml.safe_load(yaml.serialize(node))


def table(text: str) -> str:
    """All rows as Markdown."""
    return "\n".join(["| value | default | meaning |", "|---|---|---|", *(row.markdown for row in rows(text))])


def with_table(readme: str, values: str) -> str:
    """The README with its table made anew."""
    before, begin, rest = readme.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    assert begin, f"{README} has no line {_BEGIN}"
    assert end, f"{README} has no line {_END}"
    return f"{before}{begin}\n\n{table(values)}\n\n{end}{after}"


if __name__ == "__main__":
    README.write_text(with_table(README.read_text(), VALUES.read_text()))
