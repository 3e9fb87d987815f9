"""The whole table: every scenario with every contender over 24 seeds, and the gate.

    .venv/bin/python -m benchmarks.quality [--traces DIR] [--seeds 24] [--other-seeds 8] [--scenarios services,jobs]

Interrupt it whenever you like: the same command goes on. On recorded load, and with every scenario, it writes
benchmarks/quality/scorecards and the tables of docs/quality.md; else everything goes to build/quality.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from benchmarks.quality.traces import found
from benchmarks.quality.writing import ABLATED, fill, shown_in, tables, write_scorecards
from plimsoll.cli.choosing import chosen
from plimsoll.cli.grids import console, draw
from plimsoll.cli.progress import progress_bar
from plimsoll.errors import PlimsollError
from plimsoll.sim.contenders.registry import CONTENDERS, PEERS
from plimsoll.sim.fingerprint import fingerprint
from plimsoll.sim.gate import CONTENDERS as JUDGED
from plimsoll.sim.gate import KUBE, OURS, Judged
from plimsoll.sim.inputs import Inputs
from plimsoll.sim.measures import HOT, UNSERVED
from plimsoll.sim.report.grid import gate
from plimsoll.sim.report.overall import against, gate_counts
from plimsoll.sim.report.page import page
from plimsoll.sim.results import ResultFile
from plimsoll.sim.running import Bench
from plimsoll.sim.scenarios import SCENARIOS
from plimsoll.sim.study import Study

_ROOT = Path(__file__).resolve().parent.parent.parent
_TRACES = _ROOT.parent / "shared" / "traces"
_BUILT = _ROOT / "build" / "quality"
_KEPT, _DOCUMENT = _ROOT / "benchmarks" / "quality" / "scorecards", _ROOT / "docs" / "quality.md"
_INTERRUPTED = 130


def main() -> int:
    options = _options()
    inputs = _inputs(options.traces)
    named = chosen(options.scenarios, SCENARIOS, what="scenario")
    scenarios = [name for name in named if not list(inputs.lacking(SCENARIOS[name]))]
    left_out = sorted(set(named) - set(scenarios))
    if left_out:
        print(f"left out, for want of the files that they need: {', '.join(left_out)}")
    study = _study(inputs, options.processes)
    try:
        judged = _replay(study, scenarios, range(options.seeds), others=range(options.other_seeds or options.seeds))
    except KeyboardInterrupt:
        print(f"interrupted after {len(study.results)} replays: the same command goes on", file=sys.stderr)
        return _INTERRUPTED
    kept = not inputs.generated and len(scenarios) == len(SCENARIOS)
    return _report(study, judged, inputs, scenarios, range(options.seeds), kept=kept)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", type=Path)
    parser.add_argument("--seeds", type=int, default=24)
    parser.add_argument("--other-seeds", type=int, help="for those whom the gate is not about; as many, if not given")
    parser.add_argument("--scenarios", default="all")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


def _inputs(folder: Path | None) -> Inputs:
    if folder is None and not _TRACES.is_dir():
        print("the load is generated: TRACES=DIR replays recorded load")
        return Inputs()
    inputs = found(folder or _TRACES)
    print(f"replaying {inputs.usage}")
    return inputs


def _study(inputs: Inputs, processes: int) -> Study:
    bench = Bench(inputs.load, SCENARIOS, {name: entry.make for name, entry in CONTENDERS.items()})
    file = ResultFile(_BUILT / "results.jsonl", fingerprint(inputs.digests().values()))
    study = Study(bench, processes=processes, file=file)
    if study.results:
        print(f"going on from {len(study.results)} replays in {file.path}")
    if study.unused:
        print(f"{study.unused} results in {file.path} are of other code or other files, and are not used")
    return study


def _replay(study: Study, scenarios: list[str], seeds: range, *, others: range) -> list[Judged]:
    """Whom the gate is about comes first."""
    with progress_bar("gate") as told:
        study.replay(scenarios, seeds, JUDGED, told=told)
    with progress_bar("gate, on fresh seeds") as told:
        judged = study.judged(scenarios, seeds, told=told)
    with progress_bar("all contenders") as told:
        study.replay(scenarios, others, list(PEERS), told=told)
    with progress_bar("ours without its parts") as told:
        study.replay([name for name in scenarios if name in ABLATED], others, list(CONTENDERS), told=told)
    return judged


def _report(
    study: Study, judged: list[Judged], inputs: Inputs, scenarios: list[str], seeds: range, *, kept: bool
) -> int:
    contenders = list(dict.fromkeys((*JUDGED, *PEERS, *CONTENDERS)))
    boards = [study.board(name, seeds, shown_in(name, contenders), baseline=KUBE) for name in scenarios]
    digests = inputs.digests()
    write_scorecards(_KEPT if kept else _BUILT / "scorecards", boards, inputs=digests, judged=judged)
    if kept:
        fill(_DOCUMENT, tables(boards, contenders=contenders, inputs=digests, judged=judged))
    descriptions = {name: f"{title}. {text}" for name, (title, text, _) in CONTENDERS.items()}
    shown = _BUILT / "report.html"
    shown.write_text(page(boards, descriptions=descriptions, inputs=digests, judged=judged), encoding="utf-8")
    on = console()
    for measure in (UNSERVED[0], HOT):
        draw(on, against(boards, measure, OURS, [name for name in JUDGED if name != OURS]))
    draw(on, gate_counts(judged))
    if not_at_once := [one for one in judged if not one.holds]:
        draw(on, gate(not_at_once))
    print(f"wrote {_KEPT if kept else _BUILT / 'scorecards'}, {f'{_DOCUMENT}, ' if kept else ''}{shown}")
    return 1 if any(one.failed for one in judged) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except PlimsollError as error:
        sys.exit(f"error: {error}")
