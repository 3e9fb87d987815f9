"""One cluster for each column of the table; they differ in who schedules the pods that name no scheduler."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from devcluster import ClusterSpec, DevCluster, NodeSpec

_CHART = Path(__file__).parents[2] / "helm" / "plimsoll"
_NAMESPACE = "plimsoll-system"


@contextmanager
def cluster(column: str, *, nodes: int, folder: Path) -> Iterator[DevCluster]:
    """A running cluster with that column's scheduler; it ends with the context."""
    spec = ClusterSpec(nodes=[_node(number) for number in range(1, nodes + 1)], kube_scheduler=column == "kube")
    with DevCluster.start(spec, directory=folder) as running:
        COLUMNS[column](running)
        yield running


def _node(number: int) -> NodeSpec:
    # Specs about host ports put pods on the addresses of nodes, which must therefore differ; others fill the
    # local storage that nodes say they have.
    return NodeSpec(
        name=f"node-{number}",
        cpu="32",
        memory="256Gi",
        zone="abc"[number % 3],
        internal_ip=f"127.0.1.{number}",
        extra_resources={"ephemeral-storage": "100Gi"},
    )


def _plimsoll(cluster: DevCluster) -> None:
    """Plimsoll as the working tree has it, with the rights that the chart grants."""
    cluster.helm(
        *("install", "plimsoll", str(_CHART), "--namespace", _NAMESPACE, "--create-namespace"),
        *("--set", "replicaCount=0"),
    )
    kubeconfig = cluster.directory / "operator.kubeconfig"
    cluster.service_account_kubeconfig(_NAMESPACE, "plimsoll", kubeconfig)
    address = f"127.0.0.1:{_free_port()}"
    cluster.run_beside(
        "plimsoll",
        (
            *(str(Path(sys.executable).with_name("plimsoll")), "run"),
            *("--kubeconfig", str(kubeconfig)),
            # The chart refuses this name, which two schedulers would share elsewhere; here nobody else has it.
            *("--scheduler-name", "default-scheduler"),
            *("--lease-name", "plimsoll"),
            *("--namespace", _NAMESPACE),
            *("--metrics-address", address),
        ),
        url=f"http://{address}",
        health_url=f"http://{address}/readyz",
    )


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _nothing_more(_: DevCluster) -> None:
    """The cluster has its scheduler, or is to have none."""


COLUMNS: dict[str, Callable[[DevCluster], None]] = {
    "kube": _nothing_more,
    "plimsoll": _plimsoll,
    # The negative control: a spec that passes here says nothing about a scheduler.
    "none": _nothing_more,
}
