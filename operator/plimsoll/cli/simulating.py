"""What ``plimsoll simulate`` does, once its options are read."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from plimsoll.cli.grids import console, draw
from plimsoll.cli.progress import progress_bar
from plimsoll.errors import InvalidInput
from plimsoll.sim.board import Board
from plimsoll.sim.contenders.registry import CONTENDERS
from plimsoll.sim.fingerprint import fingerprint
from plimsoll.sim.gate import Judged
from plimsoll.sim.inputs import Inputs
from plimsoll.sim.measures import PRIMARY
from plimsoll.sim.report.as_json import dumps, report_json
from plimsoll.sim.report.grid import LEGEND, Cell, Grid, differences, gate, means
from plimsoll.sim.report.page import page
from plimsoll.sim.results import ResultFile
from plimsoll.sim.running import Bench
from plimsoll.sim.scenarios import SCENARIOS
from plimsoll.sim.study import Study

_INTERRUPTED, _FAILED = 130, 1
_GENERATED = "The load is generated, not recorded: --usage and --vms replay that of real machines."


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What was asked for.

    Attributes:
        baseline: one of the contenders.
        policy: the text of the SchedulingPolicy that ours is given; empty: its own.
        gate: judge, and let the exit code say so.
    """

    inputs: Inputs
    bench: Bench
    scenarios: tuple[str, ...]
    contenders: tuple[str, ...]
    baseline: str
    seeds: range
    processes: int
    policy: str
    gate: bool
    resume: Path | None
    json_file: Path | None
    html_file: Path | None


def simulated(wanted: Wanted) -> int:
    """Replays, shows, writes; the exit code.

    Raises:
        InvalidInput: a file cannot be read or written.
    """
    digests = wanted.inputs.digests()
    study = Study(wanted.bench, processes=wanted.processes, file=_result_file(wanted, digests))
    _say_what_it_is(wanted, study)
    complete, judged = _replay(study, wanted)
    boards = [study.board(s, wanted.seeds, wanted.contenders, baseline=wanted.baseline) for s in wanted.scenarios]
    boards = [board for board in boards if board.contenders]
    _show(boards, judged)
    if wanted.json_file:
        report = report_json(boards, inputs=digests, judged=judged, complete=complete)
        _write(wanted.json_file, dumps(report))
    if wanted.html_file:
        _write(wanted.html_file, _page(boards, wanted, digests=digests, judged=judged, complete=complete))
    if not complete:
        return _INTERRUPTED
    return _FAILED if any(one.failed for one in judged) else 0


def show_list() -> None:
    on = console()
    scenarios = tuple((Cell(name), Cell(scenario.title)) for name, scenario in SCENARIOS.items())
    draw(on, Grid("scenario", ("", "what it is"), scenarios))
    contenders = tuple((Cell(name), Cell(f"{title}. {text}")) for name, (title, text, _) in CONTENDERS.items())
    draw(on, Grid("policy", ("", "what it is"), contenders))


def _result_file(wanted: Wanted, digests: dict[str, str]) -> ResultFile | None:
    if wanted.resume is None:
        return None
    return ResultFile(wanted.resume, fingerprint([*digests.values(), wanted.policy]))


def _say_what_it_is(wanted: Wanted, study: Study) -> None:
    if wanted.inputs.generated:
        _remark(_GENERATED)
    if study.unused:
        _remark(f"{study.unused} results in {wanted.resume} are of other code or other files, and are not used.")


def _replay(study: Study, wanted: Wanted) -> tuple[bool, list[Judged]]:
    """Whether it came to its end, and the gate's lines."""
    try:
        with progress_bar("replaying") as told:
            study.replay(wanted.scenarios, wanted.seeds, wanted.contenders, told=told)
        if not wanted.gate:
            return True, []
        with progress_bar("again, on fresh seeds") as told:
            return True, study.judged(wanted.scenarios, wanted.seeds, told=told)
    except KeyboardInterrupt:
        kept = f" The same command goes on from {wanted.resume}." if wanted.resume else ""
        _remark(f"Interrupted: what follows is of what was done by then.{kept}")
        return False, []


def _show(boards: Sequence[Board], judged: Sequence[Judged]) -> None:
    on = console()
    for board in boards:
        on.print()
        on.print(f"{board.scenario}: {board.title}", style="bold")
        draw(on, means(board, PRIMARY))
        if board.compared:
            draw(on, differences(board, PRIMARY))
    if boards:
        on.print()
        on.print(LEGEND)
    if judged:
        draw(on, gate(judged))


def _page(
    boards: Sequence[Board], wanted: Wanted, *, digests: dict[str, str], judged: Sequence[Judged], complete: bool
) -> str:
    notes = [
        *([_GENERATED] if wanted.inputs.generated else []),
        *([] if complete else ["Interrupted: not all that was asked for is shown."]),
    ]
    descriptions = {name: f"{title}. {text}" for name, (title, text, _) in CONTENDERS.items()}
    return page(boards, descriptions=descriptions, inputs=digests, notes=notes, judged=judged)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"cannot write {path}: {error.strerror}: name another file") from error
    _remark(f"wrote {path}")


def _remark(text: str) -> None:
    click.echo(text, err=True)
    sys.stderr.flush()
