"""Claims of WaitForFirstConsumer on a real volume controller; the provisioner is this test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.e2e.kube import Json, Kube, eventually, pod
from tests.e2e.scenes import storage_class

if TYPE_CHECKING:
    from tests.e2e.operator_process import OperatorProcess

pytestmark = pytest.mark.cluster

_SELECTED = "volume.kubernetes.io/selected-node"
_HOST = "kubernetes.io/hostname"


@pytest.fixture
def storage(kube: Kube) -> Iterator[str]:
    """A class without, and one with a provisioner, named after the namespace: ``<it>-local`` and ``<it>-made``."""
    name = kube.namespace
    kube.create(
        storage_class(f"{name}-local", "kubernetes.io/no-provisioner"),
        storage_class(f"{name}-made", "csi.example.com"),
    )
    yield name
    kube.cluster.kubectl("delete", "pv", "-l", f"test={name}", "--wait=false")
    kube.cluster.kubectl("delete", "storageclass", f"{name}-local", f"{name}-made")


def test_a_pod_is_bound_only_after_its_volume_was_made(kube: Kube, operator: OperatorProcess, storage: str) -> None:
    kube.create(_claim("data", f"{storage}-made"), _pod("web", "data"))
    node = eventually("the provisioner is asked", lambda: _selected(kube, "data"))
    assert not kube.bound("web")
    status = eventually("the node is told", lambda: kube.get("pod", "web")["status"].get("nominatedNodeName"))
    assert status == node
    _make(kube, storage, "data", node)
    [bound] = kube.all_bound("web", 1)
    assert bound["spec"]["nodeName"] == node
    assert kube.get("pvc", "data")["status"]["phase"] == "Bound"
    assert not kube.events("web", "FailedScheduling")


def test_a_pod_goes_to_the_volume_that_is_there(kube: Kube, operator: OperatorProcess, storage: str) -> None:
    kube.create(_volume(f"{storage}-v", storage, f"{storage}-local", "node-4"))
    eventually("it is available", lambda: kube.get("pv", f"{storage}-v").get("status", {}).get("phase") == "Available")
    kube.create(_claim("data", f"{storage}-local"), _pod("web", "data"))
    [bound] = kube.all_bound("web", 1)
    assert bound["spec"]["nodeName"] == "node-4"
    assert kube.get("pvc", "data")["spec"]["volumeName"] == f"{storage}-v"
    # The second one finds it taken.
    kube.create(_claim("more", f"{storage}-local"), _pod("late", "more"))
    condition = eventually("it is refused", lambda: kube.condition("late"))
    assert "6 node(s) didn't find available persistent volumes to bind" in condition["message"]


def test_a_provisioner_that_gives_up_has_the_pod_tried_again(
    kube: Kube, operator: OperatorProcess, storage: str
) -> None:
    kube.create(_claim("data", f"{storage}-made"), _pod("web", "data"))
    eventually("the provisioner is asked", lambda: _selected(kube, "data"))
    kube.cluster.kubectl("annotate", "pvc", "data", "--namespace", kube.namespace, f"{_SELECTED}-")
    [event] = eventually("it is told", lambda: kube.events("web", "FailedScheduling"))
    assert event["note"] == (
        'running PreBind plugin "VolumeBinding": binding volumes: provisioning failed for PVC "data"'
    )
    node = eventually("the provisioner is asked again", lambda: _selected(kube, "data"))
    _make(kube, storage, "data", node)
    [bound] = kube.all_bound("web", 1)
    assert bound["spec"]["nodeName"] == node


def test_after_a_restart_the_pod_still_goes_where_its_volume_is_made(
    kube: Kube, operator: OperatorProcess, storage: str
) -> None:
    kube.create(_claim("data", f"{storage}-made"), _pod("web", "data"))
    node = eventually("the provisioner is asked", lambda: _selected(kube, "data"))
    operator.kill()
    operator.start()
    _make(kube, storage, "data", node)
    [bound] = kube.all_bound("web", 1, timeout_s=90)
    assert bound["spec"]["nodeName"] == node


@pytest.mark.parametrize(
    ("claims", "sentence"),
    [
        pytest.param([], 'persistentvolumeclaim "data" not found', id="missing"),
        pytest.param([""], "pod has unbound immediate PersistentVolumeClaims", id="to be bound at once"),
    ],
)
def test_a_pod_whose_claim_cannot_be_used_waits_with_kube_schedulers_sentence(
    kube: Kube, operator: OperatorProcess, claims: list[str], sentence: str
) -> None:
    kube.create(*(_claim("data", storage_class) for storage_class in claims), _pod("web", "data"))
    condition = eventually("it is refused", lambda: kube.condition("web"))
    assert condition["reason"] == "Unschedulable"
    assert condition["message"].startswith(f"0/6 nodes are available: {sentence}.")


def _selected(kube: Kube, claim: str) -> str | None:
    node: str | None = kube.get("pvc", claim)["metadata"].get("annotations", {}).get(_SELECTED)
    return node


def _make(kube: Kube, storage: str, claim: str, node: str) -> None:
    """As a provisioner does: a volume that is bound to the claim from the beginning."""
    metadata = kube.get("pvc", claim)["metadata"]
    ref = {"apiVersion": "v1", "kind": "PersistentVolumeClaim"} | {k: metadata[k] for k in ("namespace", "name", "uid")}
    volume = _volume(f"{storage}-{claim}", storage, f"{storage}-made", node)
    volume["metadata"]["annotations"] = {"pv.kubernetes.io/provisioned-by": "csi.example.com"}
    kube.create(volume | {"spec": volume["spec"] | {"claimRef": ref}})


def _volume(name: str, storage: str, storage_class: str, node: str) -> Json:
    affinity = {"matchExpressions": [{"key": _HOST, "operator": "In", "values": [node]}]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "labels": {"test": storage}},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": storage_class,
            "nodeAffinity": {"required": {"nodeSelectorTerms": [affinity]}},
            "local": {"path": "/data"},
        },
    }


def _claim(name: str, storage_class: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": storage_class,
        },
    }


def _pod(name: str, claim: str) -> Json:
    return pod(name, volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": claim}}])
