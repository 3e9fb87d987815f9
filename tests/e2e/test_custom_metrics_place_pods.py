from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.kube import Json, Kube, deployment, eventually, policy

if TYPE_CHECKING:
    from devcluster import DevCluster
    from tests.e2e.operator_process import OperatorProcess

pytestmark = pytest.mark.cluster

_GI = 2**30
# The whole of what a node sends, against 1 GB/s.
_SENT = {
    "name": "sent",
    "query": "sum by (instance) (rate(node_network_transmit_bytes_total{device=~$deviceName}[$timeRange])) / 1e9",
    "weight": 1,
    "min": "0",
    "max": "1",
}
# As it is now; that the query names the window lets pods be in flight for so long.
_MEMORY_LEFT = {
    "name": "memory-left",
    "query": "node_memory_MemAvailable_bytes and count_over_time(node_memory_MemAvailable_bytes[$timeRange])",
    "weight": 1,
    "goal": "Maximize",
    "min": "0",
    "max": "32Gi",
    "limit": "16Gi",
    "perPod": "2Gi",
}


def _measuring(cluster: DevCluster, *metrics: Json, **spec: Any) -> Json:
    fields = {
        "weights": {"cpu": 0},
        "timeRange": "30s",
        "refreshInterval": "5s",
        "metricsSource": {"prometheus": {"url": cluster.prometheus_url}},
        "metrics": list(metrics),
        **spec,
    }
    return policy("custom", labels={"policy": "custom"}, **fields)


def _status(kube: Kube) -> Json:
    status: Json = kube.get("schedulingpolicy", "custom").get("status", {})
    return status


def _ready(kube: Kube) -> Json:
    return next((c for c in _status(kube).get("conditions", ()) if c["type"] == "Ready"), {})


def _shown(kube: Kube, metric: str) -> dict[str, int]:
    """Percent of the scale by node."""
    return {s["node"]: s["metrics"][metric] for s in _status(kube).get("scores", ()) if metric in s.get("metrics", {})}


def _by_node(pods: list[Json]) -> Counter[str]:
    return Counter(pod["spec"]["nodeName"] for pod in pods)


def _memory_left(cluster: DevCluster, gi: dict[str, int]) -> None:
    assert cluster.exporter
    cluster.exporter.set_many({node: {"memory_used_bytes": (32 - left) * _GI} for node, left in gi.items()})


def test_pods_go_where_the_query_says_that_there_is_room(
    kube: Kube, operator: OperatorProcess, cluster: DevCluster
) -> None:
    assert cluster.exporter
    for i in range(1, 7):
        cluster.exporter.set(f"node-{i}", transmit_bytes_per_s={"eth0": 0.9e9 if i <= 3 else 0.05e9})
    kube.apply(_measuring(cluster, _SENT, deviceName="eth0"))
    want = {f"node-{i}": 90 if i <= 3 else 5 for i in range(1, 7)}
    eventually(
        "the status shows where each node is on the scale",
        lambda: (
            (shown := _shown(kube, "sent")).keys() == want.keys() and all(abs(shown[n] - want[n]) <= 2 for n in want)
        ),
        timeout_s=90,
    )
    assert _ready(kube)["reason"] == "InForce"
    kube.create(deployment("senders", 18, labels={"policy": "custom"}))
    assert set(_by_node(kube.all_bound("senders", 18))) <= {"node-4", "node-5", "node-6"}


@pytest.mark.timeout(600)
def test_a_limit_in_the_metrics_own_unit_is_kept_with_what_each_pod_adds(
    kube: Kube, operator: OperatorProcess, cluster: DevCluster
) -> None:
    # Pods of earlier tests that left within the window would rightly be subtracted; a new process never saw them.
    operator.stop()
    operator.start()
    idle, full = {"node-4": 24, "node-5": 24, "node-6": 24}, {"node-1": 12, "node-2": 12, "node-3": 12}
    _memory_left(cluster, idle | full)
    # Long enough for pods to stay in flight meanwhile; a query about a window is believed once most of it is filled.
    kube.apply(_measuring(cluster, _MEMORY_LEFT, timeRange="4m", onOverload="Wait"))
    # Each of them: where nothing is known of a node its limit refuses nobody.
    want = dict.fromkeys(idle, 25) | dict.fromkeys(full, 62)
    eventually("all nodes are measured", lambda: _shown(kube, "memory-left") == want, timeout_s=240)
    kube.create(deployment("eaters", 20, labels={"policy": "custom"}))
    assert _by_node(kube.all_bound("eaters", 12)) == Counter(dict.fromkeys(idle, 4))
    waiting = [p["metadata"]["name"] for p in kube.pods("eaters") if not p["spec"].get("nodeName")]
    told = eventually("a pod that waits says why", lambda: kube.condition(waiting[0]))
    assert "6 node(s) were above the scheduling policy's load limit" in told["message"]
    _memory_left(cluster, {"node-1": 24})
    assert _by_node(kube.all_bound("eaters", 16)) == Counter(dict.fromkeys([*idle, "node-1"], 4))


def test_a_metric_that_fails_is_set_aside_alone_and_named(
    kube: Kube, operator: OperatorProcess, cluster: DevCluster
) -> None:
    _memory_left(cluster, {f"node-{i}": 8 if i > 3 else 30 for i in range(1, 7)})
    broken = {"name": "typo", "query": "max by (instance (up)", "weight": 1}
    nothing = {"name": "nothing", "query": "no_such_series", "weight": 1}
    lost = {"name": "lost", "query": "max(node_memory_MemAvailable_bytes)", "weight": 1}
    kube.apply(_measuring(cluster, broken, nothing, lost, _MEMORY_LEFT | {"limit": "1Gi", "perPod": "0"}))
    ready = eventually(
        "Ready names what fails",
        lambda: (c := _ready(kube)).get("status") == "False" and "lost" in c["message"] and c,
        timeout_s=60,
    )
    assert "typo: " in ready["message"]
    assert "parse error" in ready["message"]
    assert "nothing: Prometheus answers the query with no series" in ready["message"]
    assert "lost: None of the series of the query can be used: they name no node of this cluster" in ready["message"]
    assert "memory-left" not in ready["message"]
    want = {f"node-{i}": 75 if i > 3 else 6 for i in range(1, 7)}
    eventually("the other metric counts", lambda: _shown(kube, "memory-left") == want, timeout_s=60)
    kube.create(deployment("others", 9, labels={"policy": "custom"}))
    assert set(_by_node(kube.all_bound("others", 9))) <= {"node-1", "node-2", "node-3"}
