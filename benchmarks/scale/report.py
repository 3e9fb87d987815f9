"""What was measured, for people and as JSON."""

from __future__ import annotations

import platform
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.scale.timing import Cost

Json = dict[str, Any]


def as_json(options: Json, costs: list[Cost], figures: Json) -> Json:
    """Milliseconds of thread CPU time, and single figures by name with their units in it."""
    machine = {"python": platform.python_version(), "machine": platform.machine()}
    return {"options": options, "on": machine, "figures": figures, "costs": [asdict(cost) for cost in costs]}


def show(report: Json) -> None:
    console = Console()
    table = Table("CPU time of one thread", "where", "median, ms", "longest, ms", "times")
    for cost in report["costs"]:
        row = (f"{cost['median_ms']:.3f}", f"{cost['max_ms']:.3f}", str(cost["times"]))
        table.add_row(cost["what"], cost["where"], *row)
    if report["costs"]:
        console.print(table)
    for name, figure in report["figures"].items():
        console.print(f"{name}: {figure}")
