"""Kubernetes' own scheduling tests, with kube-scheduler and with Plimsoll: `python -m tests.upstream`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from devcluster.errors import DevClusterError
from devcluster.progress import timed
from tests.upstream import programs, running
from tests.upstream.columns import COLUMNS, cluster
from tests.upstream.results import Result, document, lost, table


def main() -> int:
    options = _options()
    try:
        results = {column: _run(column, options) for column in options.columns}
    except (DevClusterError, running.SpecsDidNotRunError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    (options.out / "results.json").write_text(json.dumps(document(results), indent=2) + "\n")
    sys.stdout.writelines(f"{line}\n" for line in table(results))
    if missing := lost(results):
        sys.stdout.write("\n  ".join(["\nThese pass with kube-scheduler and not with Plimsoll:", *missing]) + "\n")
    return 1 if missing else 0


def _run(column: str, options: argparse.Namespace) -> dict[str, Result]:
    program = programs.e2e_test()
    folder = options.out / column
    with cluster(column, nodes=options.nodes, folder=folder / "cluster") as running_cluster, timed(f"column {column}"):
        return running.run(
            program,
            kubeconfig=running_cluster.kubeconfig,
            nodes=options.nodes,
            folder=folder,
            focus=options.focus,
            skip=options.skip,
        )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.upstream", description=__doc__)
    add = parser.add_argument
    add(
        "--columns",
        type=_columns,
        default=["kube", "plimsoll"],
        help=f"of {', '.join(COLUMNS)} (default: kube,plimsoll)",
    )
    add("--focus", default=running.FOCUS, metavar="REGEX", help="specs to run (default: %(default)s)")
    add("--skip", default=running.SKIP, metavar="REGEX", help="and of these not (default: %(default)s)")
    add("--nodes", type=int, default=5, metavar="COUNT", help="(default: %(default)s)")
    out = Path(__file__).parents[2] / "build" / "upstream"
    add("--out", type=lambda text: Path(text).resolve(), default=out, metavar="FOLDER", help="(default: %(default)s)")
    return parser.parse_args()


def _columns(text: str) -> list[str]:
    names = text.split(",")
    if unknown := sorted({*names} - {*COLUMNS}):
        raise argparse.ArgumentTypeError(f"no columns {', '.join(unknown)}; there are {', '.join(COLUMNS)}")
    return names


if __name__ == "__main__":
    sys.exit(main())
