from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.e2e.kube import Kube, deployment, eventually, pod, policy

if TYPE_CHECKING:
    from devcluster import DevCluster
    from tests.e2e.operator_process import OperatorProcess

pytestmark = pytest.mark.cluster

_GBIT_10 = 1.25e9


def _by_network(cluster: DevCluster, name: str = "by-network", **spec: object) -> dict[str, object]:
    fields: dict[str, object] = {
        "weights": {"networkReceive": 1},
        "deviceName": "eth0",
        "timeRange": "30s",
        "refreshInterval": "5s",
        "metricsSource": {"prometheus": {"url": cluster.prometheus_url}},
        **spec,
    }
    return policy(name, labels={"policy": name}, **fields)


def _status(kube: Kube, name: str) -> dict[str, object]:
    status: dict[str, object] = kube.get("schedulingpolicy", name).get("status", {})
    return status


def _condition(kube: Kube, name: str, kind: str) -> dict[str, str]:
    conditions = _status(kube, name).get("conditions", [])
    return next((c for c in conditions if c["type"] == kind), {})  # type: ignore[union-attr]


def _scores(kube: Kube, name: str) -> dict[str, dict[str, object]]:
    return {s["node"]: s for s in _status(kube, name).get("scores", [])}  # type: ignore[union-attr,index]


def _all_fresh(kube: Kube, name: str) -> bool:
    return _status(kube, name).get("nodes", {}).get("summary") == "6/6"  # type: ignore[union-attr]


def _load_network(cluster: DevCluster) -> None:
    assert cluster.exporter
    for i in range(1, 7):
        share = 0.9 if i <= 3 else 0.05
        cluster.exporter.set(
            f"node-{i}",
            receive_bytes_per_s={"eth0": share * _GBIT_10},
            speed_bytes={"eth0": _GBIT_10},
            cpu_utilisation=0.2,
            memory_used_bytes=8 * 2**30,
        )


def test_pods_go_where_prometheus_says_the_network_is_idle(
    kube: Kube, operator: OperatorProcess, cluster: DevCluster
) -> None:
    _load_network(cluster)
    kube.apply(_by_network(cluster))
    eventually("all nodes are scored", lambda: _all_fresh(kube, "by-network"), timeout_s=60)
    eventually("the busy nodes score worst", lambda: _scores(kube, "by-network")["node-1"]["score"] < 50, timeout_s=60)
    kube.create(deployment("web", 20, labels={"policy": "by-network"}))
    bound = kube.all_bound("web", 20)
    assert {p["spec"]["nodeName"] for p in bound} <= {"node-4", "node-5", "node-6"}
    eventually("the policy counts its pods", lambda: _status(kube, "by-network").get("bound") == 20)
    ready = _condition(kube, "by-network", "Ready")
    assert ready["status"] == "True", ready


def test_a_bound_pod_says_why_it_is_where_it_is(kube: Kube, operator: OperatorProcess, cluster: DevCluster) -> None:
    _load_network(cluster)
    kube.apply(_by_network(cluster))
    eventually("all nodes are scored", lambda: _all_fresh(kube, "by-network"), timeout_s=60)
    kube.create(pod("explained", labels={"policy": "by-network"}))
    [bound] = kube.all_bound("explained", 1)
    decision = json.loads(bound["metadata"]["annotations"]["plimsoll.dev/decision"])
    assert (decision["policy"], decision["node"]) == ("by-network", bound["spec"]["nodeName"])
    [event] = eventually("the event is there", lambda: kube.events("explained", "Scheduled"))
    assert event["note"] == f"Successfully assigned {kube.namespace}/explained to {bound['spec']['nodeName']}"
    assert event["action"] == "Binding"
    status, body = operator.get(f"/debug/decisions?pod={kube.namespace}/explained")
    assert status == 200
    assert json.loads(body)["decisions"][0]["node"] == bound["spec"]["nodeName"]


def test_metrics_server_is_enough(kube: Kube, operator: OperatorProcess, cluster: DevCluster) -> None:
    assert cluster.exporter
    for i in range(1, 7):
        used = 28 if i > 3 else 2
        cluster.exporter.set(f"node-{i}", memory_used_bytes=used * 2**30, cpu_utilisation=0.1)
    kube.apply(policy("by-memory", labels={"policy": "by-memory"}, weights={"memory": 1}, refreshInterval="5s"))
    eventually("all nodes are scored", lambda: _all_fresh(kube, "by-memory"), timeout_s=60)
    eventually("full nodes score low", lambda: _scores(kube, "by-memory")["node-6"]["score"] < 40, timeout_s=60)
    kube.create(deployment("cache", 12, labels={"policy": "by-memory"}))
    bound = kube.all_bound("cache", 12)
    assert {p["spec"]["nodeName"] for p in bound} <= {"node-1", "node-2", "node-3"}
    assert _status(kube, "by-memory")["source"] == "MetricsServer"
    # Fake nodes measure no containers.
    looks = 'plimsoll_pod_use_looks_total{result="empty",source="MetricsServer"}'
    eventually("what the pods use is asked for", lambda: looks in operator.get("/metrics")[1], timeout_s=60)


def test_a_changed_weight_shows_without_restart(kube: Kube, operator: OperatorProcess, cluster: DevCluster) -> None:
    _load_network(cluster)
    assert cluster.exporter
    cluster.exporter.set("node-6", cpu_utilisation=0.95)
    kube.apply(_by_network(cluster, weights={"networkReceive": 1, "cpu": 0}))
    eventually("all nodes are scored", lambda: _all_fresh(kube, "by-network"), timeout_s=60)
    tried = eventually(
        "every query is found good",
        lambda: (c := _condition(kube, "by-network", "Preflight")).get("status") == "True" and c,
        timeout_s=60,
    )
    assert re.search(r"networkReceive: 6 series, 6 of 6 nodes, e\.g\. eth0 of node-1 at about", tried["message"])
    eventually("node-1 is worst", lambda: _scores(kube, "by-network")["node-1"]["score"] < 50, timeout_s=60)
    kube.apply(_by_network(cluster, weights={"networkReceive": 0, "cpu": 1}))
    eventually(
        "cpu decides now: node-6 is worst and node-1 is not",
        lambda: (s := _scores(kube, "by-network"))["node-6"]["score"] < 60 < s["node-1"]["score"],
        timeout_s=60,
    )
    generation = kube.get("schedulingpolicy", "by-network")["metadata"]["generation"]
    assert _status(kube, "by-network")["observedGeneration"] == generation


def test_prometheus_dies_and_comes_back(kube: Kube, operator: OperatorProcess, cluster: DevCluster) -> None:
    _load_network(cluster)
    kube.apply(_by_network(cluster))
    eventually("all nodes are scored", lambda: _all_fresh(kube, "by-network"), timeout_s=60)
    cluster.stop_process("prometheus")
    try:
        down = eventually(
            "the condition says that metrics are away",
            lambda: (c := _condition(kube, "by-network", "MetricsAvailable")).get("status") == "False" and c,
            timeout_s=60,
        )
        assert str(cluster.prometheus_url) in down["message"]
        kube.create(deployment("meanwhile", 10, labels={"policy": "by-network"}))
        kube.all_bound("meanwhile", 10)
        for score in _scores(kube, "by-network").values():
            assert all(value != 0 for value in score.get("metrics", {}).values()), score  # type: ignore[union-attr]
    finally:
        cluster.start_process("prometheus")
    eventually(
        "metrics count again",
        lambda: _condition(kube, "by-network", "MetricsAvailable").get("status") == "True",
        timeout_s=90,
    )


def test_a_device_name_is_data_and_never_query(kube: Kube, operator: OperatorProcess, cluster: DevCluster) -> None:
    kube.apply(_by_network(cluster, deviceName='eth0"} or vector(1) #'))
    ready = eventually(
        "the policy says that no node has such a device",
        lambda: (c := _condition(kube, "by-network", "Ready")).get("status") == "False" and c,
        timeout_s=60,
    )
    asked = 'Prometheus has no series of node_network_receive_bytes_total for device eth0"} or vector(1) #: set'
    assert f"networkReceive: {asked} spec.deviceName to a device that there is: eth0" in ready["message"]
    tried = _condition(kube, "by-network", "Preflight")
    assert (tried["status"], tried["reason"]) == ("False", "QueryFailed")
    assert f"networkReceive: {asked}" in tried["message"]
    kube.create(pod("still-placed", labels={"policy": "by-network"}))
    kube.all_bound("still-placed", 1)


def test_valid_fields_without_effect_yet_are_named(kube: Kube, operator: OperatorProcess, cluster: DevCluster) -> None:
    key = {"name": "prometheus", "key": "token"}
    source = {"prometheus": {"url": cluster.prometheus_url, "auth": {"bearerToken": key}}}
    kube.apply(_by_network(cluster, metricsSource=source))
    ready = eventually("Ready is written", lambda: _condition(kube, "by-network", "Ready"), timeout_s=60)
    assert (ready["status"], ready["reason"]) == ("True", "NotYetEnforced")
    assert "spec.metricsSource.prometheus.auth" in ready["message"]
