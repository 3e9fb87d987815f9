"""The local control plane on the command line: up, down, status, build, kubectl, helm."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import get_args

from devcluster import binaries, clients, report
from devcluster.cluster import DevCluster, tear_down
from devcluster.errors import ClusterMissingError, DevClusterError
from devcluster.folder import ClusterFolder
from devcluster.spec import ClusterSpec, InstanceLabel
from devcluster.state import ClusterState
from devcluster.tools import TOOLS

_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    options = _parser().parse_args(arguments)
    try:
        code: int = options.command(options)
    except DevClusterError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return _INTERRUPTED
    return code


def _up(options: argparse.Namespace) -> int:
    spec = ClusterSpec.of(
        options.nodes,
        zones=options.zones,
        cpu=options.cpu,
        memory=options.memory,
        pods=options.pods,
        controllers=options.controllers,
        prometheus=options.prometheus,
        metrics_server=options.metrics_server,
        kube_scheduler=options.kube_scheduler,
        audit=options.audit,
        scrape_interval_s=options.scrape_interval,
        instance_label=options.instance_label,
    )
    cluster = DevCluster.start(spec, directory=options.dir)
    cluster.release()
    print(report.usage(cluster))
    return 0


def _down(options: argparse.Namespace) -> int:
    if not ClusterFolder(options.dir.resolve()).mark.exists():
        raise ClusterMissingError(f"no cluster in {options.dir.resolve()}")
    tear_down(options.dir)
    return 0


def _status(options: argparse.Namespace) -> int:
    statuses = report.statuses(DevCluster.attach(options.dir))
    print(report.table(statuses))
    return 0 if all(each.healthy for each in statuses) else 1


def _build(options: argparse.Namespace) -> int:
    unknown = [name for name in options.names if name not in TOOLS]
    if unknown:
        raise DevClusterError(f"no such program: {', '.join(unknown)}; there are {', '.join(TOOLS)}")
    for name in options.names or TOOLS:
        print(f"{name}: {binaries.ensure(name)}")
    return 0


def _client(options: argparse.Namespace) -> int:
    folder = ClusterFolder(options.dir.resolve())
    ClusterState.load(folder)  # a sentence of ours instead of one about a server on port 8080
    program = str(binaries.ensure(options.client))
    arguments = options.arguments[1:] if options.arguments[:1] == ["--"] else options.arguments
    os.execve(program, [program, *arguments], clients.environment(folder))  # noqa: S606 - no shell


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m devcluster", description=__doc__)
    commands = parser.add_subparsers(required=True)
    _add_up(_add(commands, "up", _up, "start a cluster that lives until `down`"))
    _add(commands, "down", _down, "end a cluster and remove its data; the logs stay")
    _add(commands, "status", _status, "say what runs; the exit code is 0 if all of it does")
    for name in ("kubectl", "helm"):
        client = _add(commands, name, _client, f"run {name} against a cluster")
        client.add_argument("arguments", nargs=argparse.REMAINDER)
        client.set_defaults(client=name)
    build = commands.add_parser("build", help="build programs ahead; all, if none is named")
    build.add_argument("names", nargs="*", metavar="NAME", help=", ".join(TOOLS))
    build.set_defaults(command=_build)
    return parser


def _add(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    command: Callable[[argparse.Namespace], int],
    text: str,
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=text, description=text)
    parser.add_argument("--dir", type=Path, required=True, help="the folder of the cluster")
    parser.set_defaults(command=command)
    return parser


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text} is not a number of nodes")
    return int(text)


def _add_up(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--nodes", type=_count, default=3, help="how many fake nodes (default: %(default)s)")
    add("--cpu", default="16", help="of each node (default: %(default)s)")
    add("--memory", default="64Gi", help="of each node (default: %(default)s)")
    add("--pods", default="110", help="of each node (default: %(default)s)")
    add("--zones", type=int, default=3, help="over which nodes are spread (default: %(default)s)")
    add("--no-controllers", dest="controllers", action="store_false", help="etcd and API server alone")
    add("--prometheus", action="store_true", help="with Prometheus, which scrapes the nodes' load")
    add("--metrics-server", action="store_true", help="with metrics-server")
    add("--kube-scheduler", action="store_true", help="with kube-scheduler, for pods that name no other")
    add("--audit", action="store_true", help="write every request to audit.log")
    add("--scrape-interval", type=float, default=2.0, metavar="SECONDS", help="(default: %(default)s)")
    add("--instance-label", choices=get_args(InstanceLabel), default="node", help="(default: %(default)s)")


if __name__ == "__main__":
    sys.exit(main())
