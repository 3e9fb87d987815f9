from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.kube import Kube, deployment, eventually, pod

if TYPE_CHECKING:
    from devcluster import DevCluster
    from tests.e2e.operator_process import OperatorProcess

pytestmark = pytest.mark.cluster

_NOT_HELPFUL = (
    " no new claims to deallocate, preemption: 0/6 nodes are available: 6 Preemption is not helpful for scheduling."
)
_UNALLOCATED = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaim",
    "metadata": {"name": "gpu"},
    "spec": {"devices": {"requests": [{"name": "one", "exactly": {"deviceClassName": "any"}}]}},
}


def test_a_pod_with_a_constraint_that_is_not_supported_waits_and_says_so(kube: Kube, operator: OperatorProcess) -> None:
    field = "spec.resourceClaims[0]"
    kube.create(_UNALLOCATED, pod("asks-too-much", resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}]))
    condition = eventually("the condition is written", lambda: kube.condition("asks-too-much"))
    assert condition["reason"] == "SchedulerError", "autoscalers must not add nodes for it"
    assert field in condition["message"]
    [event] = eventually("the event is there", lambda: kube.events("asks-too-much", "FailedScheduling"))
    assert field in event["note"]
    assert not kube.bound("asks-too-much")


def test_a_pod_that_fits_nowhere_gets_kube_schedulers_sentence(kube: Kube, operator: OperatorProcess) -> None:
    kube.create(pod("huge", cpu="100"))
    condition = eventually("the condition is written", lambda: kube.condition("huge"))
    assert condition["reason"] == "Unschedulable"
    assert condition["message"] == "0/6 nodes are available: 6 Insufficient cpu." + _NOT_HELPFUL
    [event] = eventually("the event is there", lambda: kube.events("huge", "FailedScheduling"))
    assert (event["type"], event["action"], event["note"]) == ("Warning", "Scheduling", condition["message"])


def test_a_cordoned_node_gets_nothing_until_it_is_uncordoned(
    kube: Kube, operator: OperatorProcess, cluster: DevCluster
) -> None:
    for i in range(1, 6):
        cluster.kubectl("cordon", f"node-{i}")
    kube.create(deployment("elsewhere", 8))
    assert {p["spec"]["nodeName"] for p in kube.all_bound("elsewhere", 8)} == {"node-6"}
    cluster.kubectl("cordon", "node-6")
    kube.create(pod("waits"))
    condition = eventually("it is refused", lambda: kube.condition("waits"))
    assert condition["message"] == "0/6 nodes are available: 6 node(s) were unschedulable." + _NOT_HELPFUL
    cluster.kubectl("uncordon", "node-2")
    [bound] = kube.all_bound("waits", 1)
    assert bound["spec"]["nodeName"] == "node-2"


def test_a_new_node_takes_the_pod_that_waited_for_it_and_a_deleted_one_none(
    kube: Kube, operator: OperatorProcess, cluster: DevCluster
) -> None:
    from devcluster import NodeSpec

    kube.create(pod("picky", nodeSelector={"disk": "fast"}))
    condition = eventually("it is refused", lambda: kube.condition("picky"))
    assert condition["message"] == (
        "0/6 nodes are available: 6 node(s) didn't match Pod's node affinity/selector." + _NOT_HELPFUL
    )
    cluster.add_nodes([NodeSpec(name="node-fast", labels={"disk": "fast"})])
    try:
        [bound] = kube.all_bound("picky", 1)
        assert bound["spec"]["nodeName"] == "node-fast"
    finally:
        cluster.kubectl("delete", "node", "node-fast")
    kube.create(pod("too-late", nodeSelector={"disk": "fast"}))
    assert eventually("it is refused", lambda: kube.condition("too-late"))["message"].startswith("0/6 nodes")


def test_a_gated_pod_waits_silently_until_its_gate_is_removed(
    kube: Kube, operator: OperatorProcess, cluster: DevCluster
) -> None:
    kube.create(pod("gated", schedulingGates=[{"name": "example.com/quota"}]), pod("free"))
    kube.all_bound("free", 1)
    assert not kube.events("gated", "FailedScheduling")
    cluster.kubectl(
        "patch", "pod", "gated", "-n", kube.namespace, "--type=json",
        "-p", '[{"op": "remove", "path": "/spec/schedulingGates"}]',
    )  # fmt: skip
    kube.all_bound("gated", 1)


def test_host_ports_and_taints_are_honoured(kube: Kube, operator: OperatorProcess, cluster: DevCluster) -> None:
    cluster.kubectl("taint", "nodes", "node-1", "dedicated=db:NoSchedule")
    try:
        container = {"name": "main", "image": "app", "ports": [{"containerPort": 80, "hostPort": 8080}]}
        for i in range(6):
            kube.create(pod(f"port-{i}", app="port", containers=[container]))
        bound = kube.all_bound("port", 5)
        assert len({p["spec"]["nodeName"] for p in bound}) == 5
        assert "node-1" not in {p["spec"]["nodeName"] for p in bound}
        [waiting] = [p for p in kube.pods("port") if not p["spec"].get("nodeName")]
        condition = eventually("it is refused", lambda: kube.condition(waiting["metadata"]["name"]))
        assert condition["message"] == (
            "0/6 nodes are available: 1 node(s) had untolerated taint(s), "
            "5 node(s) didn't have free ports for the requested pod ports. "
            "no new claims to deallocate, preemption: 0/6 nodes are available: "
            "1 Preemption is not helpful for scheduling, 5 No preemption victims found for incoming pod."
        )
    finally:
        cluster.kubectl("taint", "nodes", "node-1", "dedicated-")


def test_a_pod_deleted_while_it_waits_is_forgotten(kube: Kube, operator: OperatorProcess) -> None:
    kube.create(pod("gone", cpu="100"))
    eventually("it is refused", lambda: kube.condition("gone"))
    eventually(
        "it is counted", lambda: 'plimsoll_pending_pods{queue="unschedulable"} 1.0' in operator.get("/metrics")[1]
    )
    kube.delete("pod", "gone")
    eventually(
        "the queue is empty", lambda: 'plimsoll_pending_pods{queue="unschedulable"} 0.0' in operator.get("/metrics")[1]
    )
    kube.create(pod("next"))
    kube.all_bound("next", 1)


def test_a_pod_that_names_a_missing_policy_waits_for_it(kube: Kube, operator: OperatorProcess) -> None:
    from tests.e2e.kube import policy

    waiting = pod("faithful", labels={"anything": "else"})
    waiting["metadata"]["annotations"] = {"plimsoll.dev/policy": "not-yet"}
    kube.create(waiting)
    condition = eventually("it is told", lambda: kube.condition("faithful"))
    assert condition["reason"] == "SchedulerError"
    assert "not-yet" in condition["message"]
    kube.apply(policy("not-yet", labels={"nobody": "has-this"}, refreshInterval="5s"))
    kube.all_bound("faithful", 1)
