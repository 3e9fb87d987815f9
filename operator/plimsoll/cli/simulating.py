"""What ``plimsoll simulate`` does, once its options are read."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from plimsoll.cli.grids import console, draw
from plimsoll.cli.progress import progress_bar
from plimsoll.cli.simulate_policy import GivenPolicy
from plimsoll.cli.simulate_stops import Terminated, exit_code, sigterm_stops
from plimsoll.errors import InvalidInput
from plimsoll.sim.board import Board
from plimsoll.sim.contenders.registry import CONTENDERS
from plimsoll.sim.fingerprint import fingerprint
from plimsoll.sim.gate import Judged
from plimsoll.sim.inputs import Inputs
from plimsoll.sim.measures import PRIMARY
from plimsoll.sim.report.as_json import PolicyUsed, dumps, report_json
from plimsoll.sim.report.grid import LEGEND, Cell, Grid, differences, gate, means
from plimsoll.sim.report.page import page
from plimsoll.sim.results import ResultFile
from plimsoll.sim.running import Bench
from plimsoll.sim.scenario import Scenario
from plimsoll.sim.scenarios import SCENARIOS
from plimsoll.sim.study import Study

_FAILED = 1
_GENERATED = "The load is generated, not recorded: --usage and --vms replay that of real machines."


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What was asked for.

    Attributes:
        baseline: one of the contenders.
        policy: the SchedulingPolicy that ours is given; None: its own.
        remarks: sentences to begin with.
        gate: judge, and let the exit code say so.
    """

    inputs: Inputs
    bench: Bench
    scenarios: tuple[str, ...]
    contenders: tuple[str, ...]
    baseline: str
    seeds: range
    processes: int
    policy: GivenPolicy | None
    remarks: tuple[str, ...]
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
    stopped, judged = _replay(study, wanted)
    complete = stopped is None
    boards = [study.board(s, wanted.seeds, wanted.contenders, baseline=wanted.baseline) for s in wanted.scenarios]
    boards = [board for board in boards if board.contenders]
    _show(boards, judged)
    if wanted.json_file:
        report = report_json(boards, inputs=digests, judged=judged, complete=complete, policy=_policy_used(wanted))
        _write(wanted.json_file, dumps(report))
    if wanted.html_file:
        _write(wanted.html_file, _page(boards, wanted, digests=digests, judged=judged, complete=complete))
    if stopped is not None:
        return exit_code(stopped)
    return _FAILED if any(one.failed for one in judged) else 0


def show_list() -> None:
    on = console()
    scenarios = tuple((Cell(name), Cell(f"{s.title}{_needed(s)}")) for name, s in SCENARIOS.items())
    draw(on, Grid("scenario", ("", "what it is"), scenarios))
    contenders = tuple((Cell(name), Cell(f"{title}. {text}")) for name, (title, text, _) in CONTENDERS.items())
    draw(on, Grid("policy", ("", "what it is"), contenders))


def _needed(scenario: Scenario) -> str:
    options = " and ".join(f"--{name} FILE" for name in Inputs().lacking(scenario))
    return f" (needs {options})" if options else ""


def _policy_used(wanted: Wanted) -> PolicyUsed:
    return PolicyUsed(wanted.policy.policy.name, wanted.policy.text) if wanted.policy else PolicyUsed()


def _result_file(wanted: Wanted, digests: dict[str, str]) -> ResultFile | None:
    if wanted.resume is None:
        return None
    return ResultFile(wanted.resume, fingerprint([*digests.values(), wanted.policy.text if wanted.policy else ""]))


def _say_what_it_is(wanted: Wanted, study: Study) -> None:
    for remark in _remarks(wanted):
        _remark(remark)
    if study.unused:
        _remark(f"{study.unused} results in {wanted.resume} are of other code or other files, and are not used.")


def _remarks(wanted: Wanted) -> Iterator[str]:
    if wanted.inputs.generated:
        yield _GENERATED
    yield from wanted.remarks
    if wanted.policy:
        yield from wanted.policy.remarks


def _replay(study: Study, wanted: Wanted) -> tuple[KeyboardInterrupt | None, list[Judged]]:
    """What stopped it, if anything did, and the gate's lines."""
    try:
        with sigterm_stops():
            return None, _judged(study, wanted)
    except KeyboardInterrupt as stop:
        ended = "Terminated" if isinstance(stop, Terminated) else "Interrupted"
        kept = f" The same command goes on from {wanted.resume}." if wanted.resume else ""
        _remark(f"{ended}: what follows is of what was done by then.{kept}")
        return stop, []


def _judged(study: Study, wanted: Wanted) -> list[Judged]:
    with progress_bar("replaying") as told:
        study.replay(wanted.scenarios, wanted.seeds, wanted.contenders, told=told)
    if not wanted.gate:
        return []
    with progress_bar("again, on fresh seeds") as told:
        return study.judged(wanted.scenarios, wanted.seeds, told=told)


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
        _say_what_is_not_decided(judged)


def _say_what_is_not_decided(judged: Sequence[Judged]) -> None:
    open_lines = sum(one.undecided for one in judged)
    if open_lines:
        _remark(
            f"{open_lines} of {len(judged)} lines are not decided: too few seeds can be compared; give more --seeds."
        )


def _page(
    boards: Sequence[Board], wanted: Wanted, *, digests: dict[str, str], judged: Sequence[Judged], complete: bool
) -> str:
    notes = [
        *_remarks(wanted),
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
