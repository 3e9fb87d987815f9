"""What a decision costs, for each workload and size of cluster, without an API server: thread CPU time of the core.

    .venv/bin/python -m benchmarks.decisions [--nodes 500,5000] [--workloads basic,affinity|all] [--pods 2000]
        [--json] [--plot FILE.svg] [--read FILE.jsonl] [--profile basic]

The same manifests as in ``benchmarks/throughput``, as the API server would serve them, are handed to a Scheduler by the
calls that the operator makes. Bindings are confirmed some decisions later, and pods that are refused come back with
their condition. ``--profile`` prints where a workload's decisions spend their time instead.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import sys
from pathlib import Path

from benchmarks.decisions.records import line, read
from benchmarks.decisions.run import Run, run
from benchmarks.decisions.table import table
from benchmarks.files import existing, writable
from benchmarks.numbers import count
from benchmarks.throughput.workloads import WORKLOADS

_LINES = 25


def main() -> None:
    options = _options()
    if options.profile:
        _profile(options)
        return
    runs = read(options.read) if options.read else _measure(options)
    if options.plot:
        _plot(runs, options.plot)


def _measure(options: argparse.Namespace) -> list[Run]:
    runs = []
    for name in options.workloads:
        for nodes in options.nodes:
            done = run(WORKLOADS[name], nodes=nodes, pods=options.pods)
            # A whole table takes minutes: one sees how far it is.
            print(line(done) if options.json else f"{table(done)}\n", flush=True)
            runs.append(done)
    return runs


def _profile(options: argparse.Namespace) -> None:
    for nodes in options.nodes:
        profile = cProfile.Profile()
        run(WORKLOADS[options.profile], nodes=nodes, pods=options.pods, profile=profile)
        print(f"{options.profile}: {nodes} nodes")
        pstats.Stats(profile, stream=sys.stdout).sort_stats("tottime").print_stats(_LINES)


def _plot(runs: list[Run], path: Path) -> None:
    # Slow to import, and not part of what the operator needs.
    from benchmarks.decisions.plot import draw  # noqa: PLC0415

    draw(runs, path)
    print(f"plot: {path}", file=sys.stderr)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=_sizes, default=[5000], help="sizes of the cluster, with commas between them")
    parser.add_argument("--workloads", type=_names, default=["basic"], help=f"all, or some of {', '.join(WORKLOADS)}")
    parser.add_argument("--pods", type=count, default=2000, help="how many are to be placed")
    parser.add_argument("--json", action="store_true", help="a line of JSON per run")
    parser.add_argument("--plot", type=writable, help="where to write the costs against the size, as SVG")
    parser.add_argument("--read", type=existing, metavar="FILE", help="measure nothing, draw what --json wrote")
    parser.add_argument("--profile", choices=WORKLOADS, help="profile the decisions of this workload instead")
    return parser.parse_args()


def _sizes(text: str) -> list[int]:
    return [count(size) for size in text.split(",")]


def _names(text: str) -> list[str]:
    names = list(WORKLOADS) if text == "all" else text.split(",")
    if unknown := sorted(set(names) - WORKLOADS.keys()):
        raise argparse.ArgumentTypeError(f"no such workload: {', '.join(unknown)}; there are {', '.join(WORKLOADS)}")
    return names


if __name__ == "__main__":
    main()
