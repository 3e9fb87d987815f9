from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from plimsoll.reporting.annotation import DecisionNote, render

if TYPE_CHECKING:
    from devcluster import DevCluster

pytestmark = pytest.mark.cluster

NAMESPACE = "explained"
NOTE = DecisionNote(node="node-7", score=91.2, policy="network-first", readings={"memory": 30})


@pytest.fixture(scope="module")
def cluster(api: DevCluster) -> Iterator[DevCluster]:
    """With a namespace whose service account nobody else creates here."""
    api.kubectl("create", "namespace", NAMESPACE)
    api.kubectl("create", "serviceaccount", "default", "-n", NAMESPACE)
    yield api
    api.kubectl("delete", "namespace", NAMESPACE, "--wait=false")


@pytest.fixture
def explain(cluster: DevCluster, plimsoll: Callable[..., object]) -> Callable[[str], object]:
    def explain_pod(name: str) -> object:
        return plimsoll("explain", "pod", name, "-n", NAMESPACE, "--kubeconfig", str(cluster.kubeconfig))

    return explain_pod


@pytest.fixture
def create(cluster: DevCluster) -> Callable[..., None]:
    def create_pod(name: str, *, annotations: dict[str, str] | None = None, **spec: object) -> None:
        body = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": NAMESPACE, "annotations": annotations or {}},
            "spec": {"schedulerName": "plimsoll", "containers": [{"name": "main", "image": "app"}], **spec},
        }
        cluster.kubectl("create", "-f", "-", input=json.dumps(body))

    return create_pod


def test_a_pod_that_waits(create, explain):
    create("waits")
    result = explain("waits")
    assert result.exit_code == 0
    assert result.stdout.startswith(f"{NAMESPACE}/waits waits, and has not been tried yet")


def test_a_pod_that_is_gated(create, explain):
    create("gated", schedulingGates=[{"name": "example.com/quota"}])
    assert explain("gated").stdout.endswith("held back until its scheduling gates are removed: example.com/quota\n")


def test_a_pod_with_a_decision(create, explain):
    create("placed", annotations={"plimsoll.dev/decision": render(NOTE)}, nodeName="node-7")
    assert explain("placed").stdout.startswith(f"{NAMESPACE}/placed was placed on node-7 (score 91.2) by policy")


def test_a_pod_that_is_not_there(explain):
    result = explain("ghost")
    assert (result.exit_code, result.stderr) == (1, f"Error: pod {NAMESPACE}/ghost not found\n")
