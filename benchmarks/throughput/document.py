"""The tables as Markdown, where a document has a place for them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from benchmarks.throughput.report import conditions, of_all, of_case, requests
from benchmarks.throughput.result import RunResult
from plimsoll.sim.report.markdown import markdown, put_between_markers


def tables(cases: Sequence[Sequence[RunResult]]) -> dict[str, str]:
    """By the names of their places: ``throughput``, and for each case ``throughput-<case>`` and ``requests-<case>``."""
    found = {
        "throughput": markdown(of_all(cases)),
        "throughput-conditions": markdown(conditions([run for runs in cases for run in runs])),
    }
    for runs in cases:
        found[f"throughput-{place(runs[0].case)}"] = markdown(of_case(runs))
        found[f"requests-{place(runs[0].case)}"] = markdown(requests(runs))
    return found


def place(case: str) -> str:
    """The case's name as a word."""
    return re.sub(r"[^a-z0-9]+", "-", case.lower()).strip("-")


def fill(document: Path, cases: Sequence[Sequence[RunResult]]) -> list[str]:
    """Only those that it asks for; their names.

    Raises:
        InvalidInput: a place has no end.
    """
    text = document.read_text(encoding="utf-8")
    wanted = {name: content for name, content in tables(cases).items() if f"<!-- {name} -->" in text}
    for name, content in wanted.items():
        text = put_between_markers(text, name, content)
    document.write_text(text, encoding="utf-8")
    return list(wanted)
