"""Scorecards as files of the repository, and the tables of a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from plimsoll.sim.board import Board
from plimsoll.sim.gate import CONTENDERS, OURS, Judged
from plimsoll.sim.measures import HOT, UNSERVED
from plimsoll.sim.report import as_json
from plimsoll.sim.report.grid import Cell, Grid
from plimsoll.sim.report.grid import gate as gate_lines
from plimsoll.sim.report.markdown import markdown, put_between_markers
from plimsoll.sim.report.overall import against, by_scenario, cpu_time, gate_counts

_UNSERVED_CPU = UNSERVED[0]
# Where ours is also replayed without its parts.
ABLATED = ("services", "jobs", "singles")


def shown_in(scenario: str, contenders: Sequence[str]) -> list[str]:
    """Whom the scorecard of a scenario holds."""
    return [name for name in contenders if scenario in ABLATED or not _is_variant(name)]


def _is_variant(contender: str) -> bool:
    return contender.startswith(f"{OURS}-")


def write_scorecards(
    folder: Path, boards: Sequence[Board], *, inputs: Mapping[str, str], judged: Sequence[Judged]
) -> None:
    """One file for each scenario, its lines of the gate included."""
    folder.mkdir(parents=True, exist_ok=True)
    for board in boards:
        of_board = [one for one in judged if one.line.scenario == board.scenario]
        report = as_json.report_json([board], inputs=inputs, judged=of_board, complete=True)
        (folder / f"{board.scenario}.json").write_text(as_json.dumps(report), encoding="utf-8")


def tables(
    boards: Sequence[Board], *, contenders: Sequence[str], inputs: Mapping[str, str], judged: Sequence[Judged]
) -> dict[str, str]:
    """By the names of the places that docs/quality.md has for them."""
    others = [name for name in CONTENDERS if name != OURS]
    variants = [name for name in contenders if name == OURS or _is_variant(name)]
    peers = [name for name in contenders if not _is_variant(name)]
    ablated = [board for board in boards if board.scenario in ABLATED]
    not_at_once = [one for one in judged if not one.holds]
    return {
        "files": markdown(_files(inputs, boards)),
        "gate": markdown(gate_counts(judged)),
        "gate-again": markdown(gate_lines(not_at_once)) if not_at_once else "Every line held at once.\n",
        "ours-unserved-cpu": markdown(against(boards, _UNSERVED_CPU, OURS, others)),
        "ours-hot": markdown(against(boards, HOT, OURS, others)),
        "peers-unserved-cpu": markdown(by_scenario(boards, _UNSERVED_CPU, peers)),
        "peers-hot": markdown(by_scenario(boards, HOT, peers)),
        **{f"peers-{m.key.replace('_', '-')}": markdown(by_scenario(boards, m, peers)) for m in UNSERVED[1:]},
        "variants-unserved-cpu": markdown(by_scenario(ablated, _UNSERVED_CPU, variants)),
        "variants-hot": markdown(by_scenario(ablated, HOT, variants)),
        "cpu-time": markdown(cpu_time(boards, contenders)),
    }


def fill(document: Path, filled: Mapping[str, str]) -> None:
    """Raises:
    InvalidInput: the document has no place for one of them.
    """
    text = document.read_text(encoding="utf-8")
    for name, content in filled.items():
        text = put_between_markers(text, name, content)
    document.write_text(text, encoding="utf-8")


def _files(inputs: Mapping[str, str], boards: Sequence[Board]) -> Grid:
    seeds = max((len(board.seeds) for board in boards), default=0)
    rows = tuple((Cell(name), Cell(f"`{digest[:16]}`")) for name, digest in inputs.items())
    return Grid("files", ("file", "sha256, begin"), rows, (f"{len(boards)} scenarios, {seeds} seeds each",))
