"""Both schedulers are asked for the same, and for nothing that cannot be done."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from benchmarks.throughput.workloads import WORKLOADS
from benchmarks.throughput.workloads.objects import HOSTNAME, ZONE
from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.pod import PodInfo
from plimsoll.policy.compile import compile_policy

_NODES, _PODS = 30, 60
_each = pytest.mark.parametrize("workload", WORKLOADS.values(), ids=WORKLOADS.keys())


def parsed(things):
    bodies = [thing.body for thing in things if thing.body["kind"] == "Pod"]
    return [PodInfo.parse({**b, "metadata": {"uid": b["metadata"]["name"], **b["metadata"]}}) for b in bodies]


def test_the_plain_one_comes_first():
    assert next(iter(WORKLOADS)) == "basic"
    assert all(name == workload.name for name, workload in WORKLOADS.items())


@_each
def test_there_are_as_many_pods_as_were_asked_for(workload):
    pods = parsed(workload.pods(_PODS, "ours", _NODES))
    assert len({pod.key for pod in pods}) == _PODS
    assert {pod.scheduler_name for pod in pods} == {"ours"}
    assert not any(pod.node for pod in pods)
    assert 0 <= workload.left(_PODS) < _PODS


@_each
def test_the_schedulers_are_asked_for_the_same(workload):
    ours, theirs = (
        [thing.body for thing in workload.pods(_PODS, name, _NODES)] for name in ("ours", "default-scheduler")
    )
    for body in (*ours, *theirs):
        del body["spec"]["schedulerName"]
    assert ours == theirs


@_each
def test_what_is_there_before_concerns_no_scheduler(workload):
    pods = parsed(workload.before(_NODES))
    names = {workload.node(i)["metadata"]["name"] for i in range(_NODES)}
    assert all(pod.node in names and pod.scheduler_name == "somebody-else" for pod in pods)


@_each
def test_nodes_are_born_ready_in_three_zones(workload):
    manifests = [workload.node(i) for i in range(_NODES)]
    nodes = [NodeInfo.parse(manifest) for manifest in manifests]
    assert len({node.name for node in nodes}) == _NODES
    assert set(Counter(node.labels[ZONE] for node in nodes).values()) == {_NODES // 3}
    assert all(node.labels[HOSTNAME] == node.name and not node.taints for node in nodes)
    for manifest in manifests:
        assert {"type": "Ready", "status": "True"}.items() <= manifest["status"]["conditions"][0].items()


@pytest.mark.parametrize("nodes", [2, 30, 5000])
def test_groups_that_keep_apart_have_a_node_for_each_pod(nodes):
    workload = WORKLOADS["anti-affinity"]
    for things in (workload.before(nodes), workload.pods(200, "ours", nodes)):
        assert max(Counter(pod.labels["app"] for pod in parsed(things)).values()) <= nodes


def test_groups_that_keep_together_have_begun_to_in_one_zone_each():
    workload, zones = WORKLOADS["affinity"], defaultdict(set)
    zone_of = {f"node-{i}": workload.node(i)["metadata"]["labels"][ZONE] for i in range(200)}
    for pod in parsed(workload.before(200)):
        zones[pod.labels["app"]].add(zone_of[pod.node])
    assert {len(found) for found in zones.values()} == {1}
    assert {pod.labels["app"] for pod in parsed(workload.pods(200, "ours", 200))} <= zones.keys()


@pytest.mark.parametrize("pods", [10, 30, 70])
def test_preemption_has_room_for_all_once_others_are_gone(pods):
    workload = WORKLOADS["preemption"]
    node = NodeInfo.parse(workload.node(0))
    low, high = parsed(workload.before(_NODES)), parsed(workload.pods(pods, "ours", _NODES))
    assert Counter(pod.node for pod in low) == {f"node-{i}": 1 for i in range(_NODES)}
    assert low[0].requests["cpu"] + high[0].requests["cpu"] > node.allocatable["cpu"]
    assert len(high) <= _NODES * (node.allocatable["cpu"] // high[0].requests["cpu"])


def test_the_policy_reads_four_metrics_and_limits_each():
    policy = compile_policy(WORKLOADS["policy"].policy("http://prometheus:9090"))
    assert [metric.name for metric in policy.metrics] == ["networkReceive", "networkTransmit", "memory", "cpu"]
    assert all(metric.weight and metric.limit for metric in policy.metrics)
    assert not policy.problems
    assert not policy.not_yet_enforced
