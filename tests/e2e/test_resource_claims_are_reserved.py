"""A claim whose devices somebody else has allocated; no driver is needed for that."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.e2e.kube import Json, Kube, eventually, pod

if TYPE_CHECKING:
    from tests.e2e.operator_process import OperatorProcess

pytestmark = pytest.mark.cluster

_NODE = "node-5"
_CLAIM = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaim",
    "metadata": {"name": "gpu"},
    "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}]}},
}
_DEVICE = {"request": "gpu", "driver": "gpu.example.com", "pool": _NODE, "device": "gpu-0"}
_ONLY_THERE = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [_NODE]}]}


def test_a_pod_goes_to_the_devices_of_its_claim_which_is_reserved_for_it(kube: Kube, operator: OperatorProcess) -> None:
    kube.create(_CLAIM)
    allocation = {"devices": {"results": [_DEVICE]}, "nodeSelector": {"nodeSelectorTerms": [_ONLY_THERE]}}
    _patch_status(kube, {"allocation": allocation})
    kube.create(pod("web", resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}]))
    [bound] = kube.all_bound("web", 1)
    assert bound["spec"]["nodeName"] == _NODE
    [consumer] = kube.get("resourceclaim", "gpu")["status"]["reservedFor"]
    assert consumer == {"resource": "pods", "name": "web", "uid": bound["metadata"]["uid"]}


def test_a_pod_whose_claim_is_not_allocated_waits_and_says_so(kube: Kube, operator: OperatorProcess) -> None:
    kube.create(_CLAIM, pod("web", resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}]))
    condition = eventually("the condition is written", lambda: kube.condition("web"))
    assert condition["reason"] == "SchedulerError", "autoscalers must not add nodes for it"
    assert "spec.resourceClaims" in condition["message"]


def _patch_status(kube: Kube, status: Json) -> None:
    patch = json.dumps({"status": status})
    flags = ("--subresource=status", "--type=merge", "-p", patch)
    kube.cluster.kubectl("patch", "resourceclaim", "gpu", "--namespace", kube.namespace, *flags)
