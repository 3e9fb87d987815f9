"""One cluster for the end-to-end tests: chart installed, operator running with its service account."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.e2e.kube import Kube
from tests.e2e.operator_process import OperatorProcess
from tests.image.fixtures import installed_plimsoll

if TYPE_CHECKING:
    from devcluster import DevCluster
    from tests.image.installation import Installation

__all__ = ["installed_plimsoll"]

_ROOT = Path(__file__).parent.parent.parent
_NODES = 6
_namespaces = itertools.count(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What judges the whole run comes after the rest of it."""
    items.sort(key=lambda item: item.get_closest_marker("last") is not None)


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevCluster]:
    from devcluster import ClusterSpec, DevCluster

    spec = ClusterSpec.of(
        _NODES, cpu="8", memory="32Gi", prometheus=True, metrics_server=True, kube_scheduler=True, audit=True
    )
    with DevCluster.start(spec, directory=tmp_path_factory.mktemp("e2e")) as running:
        running.helm(
            "install", "plimsoll", str(_ROOT / "helm" / "plimsoll"),
            "--namespace", "plimsoll-system", "--create-namespace", "--set", "replicaCount=0",
        )  # fmt: skip
        yield running


@pytest.fixture(scope="session")
def kubeconfig(cluster: DevCluster, installed_plimsoll: Installation) -> Path:
    """Of the chart's service account: the operator may do what the chart grants, and nothing else."""
    path = cluster.directory / "operator.kubeconfig"
    cluster.service_account_kubeconfig("plimsoll-system", "plimsoll", path)
    return installed_plimsoll.lend("operator.kubeconfig", path.read_text())


@pytest.fixture(scope="session")
def running_operator(
    cluster: DevCluster, kubeconfig: Path, installed_plimsoll: Installation
) -> Iterator[OperatorProcess]:
    process = OperatorProcess(installed_plimsoll, kubeconfig=kubeconfig, folder=cluster.directory)
    try:
        yield process
    finally:
        process.end()


@pytest.fixture
def operator(running_operator: OperatorProcess) -> OperatorProcess:
    """The operator, running and ready, also after a test that ended it."""
    if not running_operator.running:
        running_operator.start()
    return running_operator


@pytest.fixture
def kube(cluster: DevCluster) -> Iterator[Kube]:
    """A namespace of its own; what is in it is deleted afterwards."""
    from tests.e2e.kube import eventually

    name = f"test-{next(_namespaces)}"
    cluster.kubectl("create", "namespace", name)
    kube = Kube(cluster, name)
    eventually("the namespace has its account", lambda: kube.list("serviceaccounts"))
    yield kube
    for kind in ("deployments", "jobs", "pods"):
        cluster.kubectl("delete", kind, "--all", "--namespace", name, "--wait=false", "--grace-period=0", "--force")
    cluster.kubectl("delete", "schedulingpolicies", "--all")
    for node in cluster.kubectl("get", "nodes", "-o", "name").split():
        cluster.kubectl("uncordon", node)
