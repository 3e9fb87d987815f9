"""What a decision costs, against the size of the cluster."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from benchmarks.decisions.run import Run
from benchmarks.decisions.stopwatch import Step
from benchmarks.throughput.workloads import WORKLOADS

# Told apart with every kind of colour vision: Okabe and Ito, Color Universal Design, 2008.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_STYLES = ("-", "--", ":")
_GRID = "#9a9a9a"
_CURVES = {Step.DECISION: "{}", Step.PREEMPTION: "{}, with dry runs"}

Curve = dict[int, float]


def draw(runs: Iterable[Run], path: Path) -> None:
    """An SVG with one line per workload, the median over the number of nodes."""
    figure = Figure(figsize=(9.0, 5.0), layout="constrained")
    axes = figure.add_subplot()
    curves = _curves(runs)
    for number, (name, curve) in enumerate(curves.items()):
        colour, style = _COLOURS[number % len(_COLOURS)], _STYLES[number // len(_COLOURS)]
        axes.plot(list(curve), list(curve.values()), style, marker="o", markersize=3.5, color=colour, label=name)
    _dress(axes, sorted({nodes for curve in curves.values() for nodes in curve}))
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "decisions"}):
        figure.savefig(path, format="svg", facecolor="white", metadata={"Date": None, "Creator": None})


def _curves(runs: Iterable[Run]) -> dict[str, Curve]:
    """Medians in milliseconds, by the name of the line and the number of nodes."""
    curves: dict[str, Curve] = defaultdict(dict)
    order = list(WORKLOADS)
    for run in sorted(runs, key=lambda run: (order.index(run.workload), run.nodes)):
        for step, name in _CURVES.items():
            if step in run.costs:
                curves[name.format(run.workload)][run.nodes] = run.costs[step].p50_us / 1000
    return curves


def _dress(axes: Axes, sizes: list[int]) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_xlabel("nodes")
    axes.set_ylabel("CPU time of one decision, median, ms")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(which="both", color=_GRID, alpha=0.25, linewidth=0.6)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=9)
