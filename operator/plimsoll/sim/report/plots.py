"""Plots of a scenario, each as SVG and as PNG.

Drawn with matplotlib, which the extra ``simulate`` brings; without pyplot, so that nothing is global.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from plimsoll.errors import InvalidInput
from plimsoll.sim.board import Board
from plimsoll.sim.compare import mean_of
from plimsoll.sim.measures import HOT, UNSERVED, Measure
from plimsoll.sim.report.grid import figure as figure_text
from plimsoll.sim.scorecard import CURVE_STEP_S

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Told apart with every kind of colour vision: Okabe and Ito, Color Universal Design, 2008.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_REST = "#9a9a9a"
# In the SVG it becomes the colour of the text around it, so that the plot reads in the light and in the dark.
_INK = "#1b1b1d"
_WIDTH_IN, _DPI = 9.0, 130
# So many lines with a band can be told from each other.
_BANDS = len(_COLOURS)


class Plot(NamedTuple):
    """Attributes:
    name: for files and links.
    svg: an element, without a document around it.
    """

    name: str
    title: str
    svg: str
    png: bytes


def plots(board: Board) -> list[Plot]:
    """Raises:
    InvalidInput: matplotlib is not installed.
    """
    drawn = [hot_over_time(board), unserved(board)]
    return [*drawn, seed_by_seed(board)] if board.compared else drawn


def hot_over_time(board: Board) -> Plot:
    figure = _figure(3.4)
    axes = figure.add_subplot()
    if len(board.contenders) > _BANDS:
        axes.plot([], [], color=_REST, linewidth=0.8, label="others")
    for contender in reversed(board.contenders):
        _curve(axes, board, contender)
    axes.set_xlabel("hours since the start")
    axes.set_ylabel("hot nodes, %")
    axes.set_ylim(bottom=0)
    axes.margins(x=0)
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(handles[::-1], labels[::-1], loc="upper left", ncols=7, frameon=False, fontsize=9)
    axes.set_ylim(top=1.15 * axes.get_ylim()[1])
    title = "Hot nodes over time: any of cpu, memory, network above 80 % (mean over seeds, band ± SE)"
    return _plot(figure, board, "hot-over-time", title)


def unserved(board: Board) -> Plot:
    figure = _figure(0.9 + 0.28 * len(board.contenders))
    for axes, measure in zip(figure.subplots(1, len(UNSERVED), sharey=True), UNSERVED, strict=True):
        _bars(axes, board, measure)
    return _plot(figure, board, "unserved", "Demand that was not served, % of what was asked for (± SE)")


def seed_by_seed(board: Board) -> Plot:
    figure = _figure(0.9 + 0.34 * len(board.compared))
    measures = (UNSERVED[0], HOT)
    for axes, measure in zip(figure.subplots(1, len(measures), sharey=True), measures, strict=True):
        _differences(axes, board, measure)
    title = f"Seed by seed: difference to {board.baseline}, percentage points (left is better; ± 2 SE)"
    return _plot(figure, board, "seed-by-seed", title)


def _curve(axes: Axes, board: Board, contender: str) -> None:
    points = [mean_of(values) for values in zip(*(c.hot_curve for c in board.cards[contender].values()), strict=True)]
    hours = (np.arange(len(points)) + 0.5) * CURVE_STEP_S / 3600
    mean, se = np.array([p.mean for p in points]), np.array([p.se for p in points])
    colour = _colour(board, contender)
    told = colour != _REST
    axes.plot(hours, mean, color=colour, linewidth=1.8 if told else 0.8, label=contender if told else None)
    if told and np.isfinite(se).all():
        axes.fill_between(hours, mean - se, mean + se, color=colour, alpha=0.18, linewidth=0)


def _bars(axes: Axes, board: Board, measure: Measure) -> None:
    means = [board.mean(contender, measure) for contender in board.contenders]
    at = np.arange(len(means))
    colours = [_colour(board, contender) for contender in board.contenders]
    values = np.nan_to_num([mean.mean for mean in means])
    errors = np.nan_to_num([mean.se for mean in means])
    axes.barh(at, values, color=colours, height=0.7)
    axes.errorbar(values, at, xerr=errors, fmt="none", ecolor=_INK, elinewidth=1, capsize=2)
    for y, mean, end in zip(at, means, values + errors, strict=True):
        axes.annotate(figure_text(mean.mean), (end, y), (4, 0), textcoords="offset points", va="center", fontsize=8)
    axes.set_yticks(at, board.contenders)
    axes.set_ylim(len(means) - 0.4, -0.6)
    axes.set_xlim(0, 1.25 * max((values + errors).max(), 1e-3))
    axes.set_title(measure.title.removeprefix("unserved "), fontsize=10, color=_INK)


def _differences(axes: Axes, board: Board, measure: Measure) -> None:
    for at, contender in enumerate(board.compared):
        one, other = board.cards[contender], board.cards[board.baseline]
        compared = board.against(contender, board.baseline, measure)
        seeds = sorted((one.keys() & other.keys()) - set(compared.unlike))
        found = [one[seed].values[measure.key] - other[seed].values[measure.key] for seed in seeds]
        colour = _colour(board, contender)
        axes.scatter(found, np.full(len(found), at + 0.22), s=14, color=colour, alpha=0.45, linewidths=0)
        mean = compared.difference
        error = 2 * float(np.nan_to_num(mean.se))
        axes.errorbar(mean.mean, at, xerr=error, fmt="D", color=colour, ecolor=_INK, markersize=5, capsize=3)
    axes.axvline(0, color=_INK, linewidth=0.8)
    axes.set_yticks(range(len(board.compared)), board.compared)
    axes.set_ylim(len(board.compared) - 0.5, -0.5)
    axes.set_title(measure.title, fontsize=10, color=_INK)


def _colour(board: Board, contender: str) -> str:
    """The first ones have each their own."""
    at = board.contenders.index(contender)
    return _COLOURS[at] if at < _BANDS else _REST


def _figure(height_in: float) -> Figure:
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an extra, and slow to import
    except ImportError as error:
        raise InvalidInput(
            "plots are drawn with matplotlib, which is not installed: pip install 'plimsoll-scheduler[simulate]'"
        ) from error
    return Figure(figsize=(_WIDTH_IN, height_in), layout="constrained")


def _plot(figure: Figure, board: Board, name: str, title: str) -> Plot:
    for axes in figure.axes:
        _plain(axes)
    name = f"{board.scenario}-{name}"
    svg = _svg(figure, name)
    # What is downloaded has no page around it.
    figure.suptitle(f"{board.scenario}: {title}", fontsize=10)
    return Plot(name, title, svg, _png(figure))


def _plain(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[:].set_color(_INK)
    axes.tick_params(colors=_INK, labelsize=9)
    axes.xaxis.label.set_color(_INK)
    axes.yaxis.label.set_color(_INK)
    axes.grid(axis="both", color=_REST, alpha=0.25, linewidth=0.6)
    axes.set_axisbelow(True)
    for text in axes.texts:
        text.set_color(_INK)
    legend = axes.get_legend()
    for text in legend.get_texts() if legend else ():
        text.set_color(_INK)


def _svg(figure: Figure, name: str) -> str:
    from matplotlib import rc_context  # noqa: PLC0415 - as above

    # Ids begin with the plot's name: many plots stand in one document.
    written = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": name, "svg.id": name}):
        figure.savefig(written, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = written.getvalue()
    return text[text.index("<svg") :].replace(_INK, "currentColor")


def _png(figure: Figure) -> bytes:
    written = io.BytesIO()
    figure.savefig(written, format="png", dpi=_DPI, facecolor="white", metadata={"Software": None})
    return written.getvalue()
