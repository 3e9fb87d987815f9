"""What came of the specs, and the table of it."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

_SPEC = re.compile(r"\[It\] (\[sig-\S+\] )?(?P<name>.*)")
_MISSING = "-"

Columns = Mapping[str, Mapping[str, "Result"]]


@dataclass(frozen=True, slots=True)
class Result:
    """One spec in one column; `took_s` in seconds, `problem` the first line of what went wrong."""

    passed: bool
    took_s: float
    problem: str = ""

    def __str__(self) -> str:
        return f"{'passed' if self.passed else 'FAILED'} {self.took_s:.0f} s"


def read(report: Path) -> dict[str, Result]:
    """The specs that ran, of a JUnit report; by their names without the labels of the group."""
    cases = ET.parse(report).getroot().iter("testcase")
    return {found["name"]: _result(case) for case in cases if (found := _ran(case))}


def _ran(case: ET.Element) -> re.Match[str] | None:
    return None if case.find("skipped") is not None else _SPEC.match(case.get("name", ""))


def _result(case: ET.Element) -> Result:
    problem = case.find("failure")
    if problem is None:
        problem = case.find("error")
    took_s = float(case.get("time", "0"))
    if problem is None:
        return Result(passed=True, took_s=took_s)
    words = (problem.get("message") or problem.text or "").strip()
    return Result(passed=False, took_s=took_s, problem=words.split("\n", 1)[0])


def table(columns: Columns) -> Iterator[str]:
    """A line per spec, and one that counts."""
    specs = sorted({spec for results in columns.values() for spec in results})
    width = max((len(spec) for spec in specs), default=4)
    yield "  ".join([f"{'spec':{width}}", *(f"{name:14}" for name in columns)]).rstrip()
    for spec in specs:
        told = (str(results.get(spec, _MISSING)) for results in columns.values())
        yield "  ".join([f"{spec:{width}}", *(f"{each:14}" for each in told)]).rstrip()
    counts = (f"{sum(each.passed for each in results.values())} of {len(results)}" for results in columns.values())
    yield "  ".join([f"{'passed':{width}}", *(f"{each:14}" for each in counts)]).rstrip()


def document(columns: Columns) -> dict[str, Any]:
    """The same as JSON: column -> spec -> result."""
    return {name: {spec: asdict(result) for spec, result in results.items()} for name, results in columns.items()}


def lost(columns: Columns) -> list[str]:
    """Specs that pass with kube-scheduler and not with Plimsoll; none where one of the two did not run."""
    if not {"kube", "plimsoll"} <= columns.keys():
        return []
    ours = columns["plimsoll"]
    return [spec for spec, his in columns["kube"].items() if his.passed and not (spec in ours and ours[spec].passed)]
