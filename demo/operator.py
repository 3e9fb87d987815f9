"""Plimsoll itself: the chart installed by helm, and the operator as a process beside the cluster."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

from devcluster import DevCluster

NAMESPACE = "plimsoll-system"
_CHART = Path(__file__).parent.parent / "helm" / "plimsoll"
_SERVICE_ACCOUNT = "plimsoll"
_NAME = "plimsoll"


def install(cluster: DevCluster) -> None:
    """The chart without its pods: nothing here can run a container. The CRD, the account and its rights are real."""
    cluster.helm(
        "install", "plimsoll", str(_CHART), "--namespace", NAMESPACE, "--create-namespace", "--set", "replicaCount=0"
    )


def start(cluster: DevCluster) -> str:
    """Runs the operator with the chart's service account; answers its URL. It ends with the cluster."""
    kubeconfig = cluster.directory / "plimsoll.kubeconfig"
    cluster.service_account_kubeconfig(NAMESPACE, _SERVICE_ACCOUNT, kubeconfig)
    address = f"127.0.0.1:{_free_port()}"
    served_at = f"http://{address}"
    command = (
        *(sys.executable, "-m", "plimsoll", "run"),
        *("--kubeconfig", str(kubeconfig)),
        *("--namespace", NAMESPACE),
        *("--metrics-address", address),
        *("--log-format", "text"),
    )
    cluster.run_beside(_NAME, command, url=served_at, health_url=f"{served_at}/readyz")
    return served_at


def url(cluster: DevCluster) -> str:
    """Where the operator answers."""
    return next(component.url for component in cluster.components if component.name == _NAME)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
