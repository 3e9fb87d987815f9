"""What a large cluster costs, in thread CPU time.

    .venv/bin/python -m benchmarks.scale [--nodes 5000] [--pods 50000] [--metrics 10] [--wall] [--json OUT]

With ``--wall`` also how late the loop is while threads read and judge a source's answers, and with ``--live`` instead
what the operator takes from its start on, beside an API server; nothing else should run then.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks.files import writable
from benchmarks.numbers import count
from benchmarks.scale.live import measured_live
from benchmarks.scale.offline import Size, measured
from benchmarks.scale.report import as_json, show
from benchmarks.scale.timing import Cost

_BUILT = Path(__file__).resolve().parent.parent.parent / "build" / "scale"


def main() -> None:
    options = _options()
    if options.live:
        figures = measured_live(nodes=options.nodes, pods=options.pods, directory=options.directory)
        costs = list[Cost]()
    else:
        costs, figures = measured(_size(options), wall=options.wall)
    told = {name: value for name, value in vars(options).items() if name not in {"json", "directory"}}
    report = as_json(told, costs, figures)
    show(report)
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n")


def _size(options: argparse.Namespace) -> Size:
    return Size(nodes=options.nodes, pods=options.pods, metrics=options.metrics, times=options.times)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=count, default=5000)
    parser.add_argument("--pods", type=count, default=50_000, help="assigned ones")
    parser.add_argument("--metrics", type=count, default=10, help="of the policy; more than four are custom ones")
    parser.add_argument("--times", type=count, default=200, help="how often events are measured; refreshes a twentieth")
    parser.add_argument("--wall", action="store_true", help="measure the loop's lag as well, by the wall clock")
    parser.add_argument("--live", action="store_true", help="the operator as a process, from its start on")
    parser.add_argument("--directory", type=Path, default=_BUILT, help="of the control plane")
    parser.add_argument("--json", type=writable, metavar="OUT", help="where to keep the figures")
    return parser.parse_args()


if __name__ == "__main__":
    main()
