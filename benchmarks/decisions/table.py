"""A run as text."""

from __future__ import annotations

from benchmarks.decisions.run import Run

_HEAD = ("", "count", "p50", "p99", "max", "all")


def table(run: Run) -> str:
    left = f", {run.left} of them can have no node" if run.left else ""
    title = f"{run.workload}: {run.nodes} nodes, {run.pods} pods{left}; placement {run.placement}"
    rows = [
        _row(step, str(cost.count), *map(_whole, (cost.p50_us, cost.p99_us, cost.max_us, cost.total_ms)))
        for step, cost in run.costs.items()
    ]
    return "\n".join([title, _row(*_HEAD), *rows, "  thread CPU time in µs, all in ms"])


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def _row(name: str, *cells: str) -> str:
    return f"  {name:<34}" + "".join(f"{cell:>10}" for cell in cells)
