"""Plimsoll and kube-scheduler in turn (A B A B), each run on a fresh control plane of its own.

    .venv/bin/python -m benchmarks.throughput [--workloads basic,...] [--pairs 5] [--nodes 5000] [--pods 10000]
    .venv/bin/python -m benchmarks.throughput --mode steady --rate 200
    .venv/bin/python -m benchmarks.throughput --table --json build/throughput.json --resume

Interrupt it whenever you like: with --resume the same command goes on.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

from benchmarks.throughput.case import Case
from benchmarks.throughput.contenders import CONTENDERS
from benchmarks.throughput.document import fill
from benchmarks.throughput.options import chosen, parsed
from benchmarks.throughput.report import conditions, of_all, of_case, requests
from benchmarks.throughput.result import RunResult
from benchmarks.throughput.results_file import ResultsFile
from benchmarks.throughput.run import planned, run
from devcluster.errors import ClusterRunningError
from plimsoll.cli.grids import console, draw
from plimsoll.sim.report.grid import Grid

_INTERRUPTED = 130
# Of a run, as soon as it is made.
_TOLD = {
    "pods_per_s_10_90": "{:,.0f} pods/s",
    "cpu_ms_per_pod": "{:.2f} ms CPU per pod",
    "peak_rss_mib": "peak {:,.0f} MiB",
}


def main() -> int:
    options = parsed(__doc__)
    cases = chosen(options)
    file = ResultsFile(options.json, resume=options.resume or options.report_only)
    failures = 0
    try:
        if not options.report_only:
            failures = _play(cases, file, options.directory)
    except KeyboardInterrupt:
        kept = "with --resume the same command goes on" if options.json else "nothing is kept of them without --json"
        print(f"interrupted after {file.added} runs: {kept}", file=sys.stderr)
        return _INTERRUPTED
    return 1 if not _tell(cases, file, options) or failures else 0


def _play(cases: list[Case], file: ResultsFile, directory: Path) -> int:
    """How many runs could not be made."""
    failures = 0
    runs = [(case, pair, name) for case in cases for pair in range(case.pairs) for name in case.contenders]
    for number, (case, pair, name) in enumerate(runs, 1):
        place = f"[{number}/{len(runs)}] {case.name}, {pair + 1} of {case.pairs}, {name}"
        plan = planned(case, CONTENDERS[name], pair)
        kept = file.find(plan)
        if kept is not None:
            print(f"{place}: is there, {_short(kept)}", flush=True)
            continue
        began_s = time.monotonic()
        try:
            result = run(case, CONTENDERS[name], plan, directory=directory / "cluster")
        except ClusterRunningError as error:
            used = f"error: another run uses {directory}: wait for its end, or give another --directory"
            raise SystemExit(used) from error
        except Exception:  # noqa: BLE001 - hours of other runs do not end with this one; it is made again by --resume
            traceback.print_exc()
            print(f"{place}: the harness failed, and nothing is kept of it", flush=True)
            failures += 1
            continue
        file.add(result)
        print(f"{place}: {_short(result)} ({time.monotonic() - began_s:.0f} s in all)", flush=True)
    return failures


def _short(result: RunResult) -> str:
    found = {words: result.figures.get(key) for key, words in _TOLD.items()}
    told = [words.format(value) for words, value in found.items() if value is not None]
    bound = f"{result.figures.get('bound', 0):,.0f} bound"
    return ", ".join((bound, *told)) + (result.unfinished and f"; {result.unfinished}")


def _tell(cases: list[Case], file: ResultsFile, options: argparse.Namespace) -> bool:
    """Whether there was anything to tell."""
    told = [runs for case in cases if (runs := list(_of(case, file)))]
    if not told:
        print("there are no runs of these cases")
        return False
    on = console()
    for runs in told:
        draw(on, of_case(runs))
        draw(on, requests(runs))
    draw(on, of_all(told))
    _tell_conditions(conditions([run for runs in told for run in runs]))
    if options.document is not None:
        places = ", ".join(fill(options.document, told)) or "it has no place for these tables"
        print(f"filled in {options.document}: {places}")
    return True


def _tell_conditions(grid: Grid) -> None:
    """Command lines are longer than any column."""
    print(f"\n{grid.title}")
    for row in grid.rows:
        print(f"  {': '.join(cell.text for cell in row)}")


def _of(case: Case, file: ResultsFile) -> Iterator[RunResult]:
    return (run for run in file.runs if run.case == case.name)


if __name__ == "__main__":
    sys.exit(main())
