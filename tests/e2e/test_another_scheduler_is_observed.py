from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.kube import Kube, deployment, eventually, policy

if TYPE_CHECKING:
    from devcluster import DevCluster
    from tests.e2e.operator_process import OperatorProcess

pytestmark = pytest.mark.cluster

_GBIT_10 = 1.25e9
_NAME = "watching"
_BUSY = {"node-1", "node-2", "node-3"}
_PODS = 12


@pytest.fixture
def watching(kube: Kube, operator: OperatorProcess, cluster: DevCluster) -> Kube:
    """Half of the nodes have a busy network, of which kube-scheduler knows nothing; a policy observes it."""
    assert cluster.exporter
    for i in range(1, 7):
        cluster.exporter.set(
            f"node-{i}",
            receive_bytes_per_s={"eth0": (0.9 if f"node-{i}" in _BUSY else 0.05) * _GBIT_10},
            speed_bytes={"eth0": _GBIT_10},
            cpu_utilisation=0.2,
            memory_used_bytes=8 * 2**30,
        )
    fields: dict[str, Any] = {
        "mode": "Observe",
        "weights": {"networkReceive": 1},
        "deviceName": "eth0",
        "timeRange": "30s",
        "refreshInterval": "5s",
        "metricsSource": {"prometheus": {"url": cluster.prometheus_url}},
    }
    kube.apply(policy(_NAME, labels={"policy": _NAME}, **fields))
    eventually("the busy nodes score worst", lambda: _worst(kube) <= _BUSY, timeout_s=90)
    return kube


def _status(kube: Kube) -> dict[str, Any]:
    status: dict[str, Any] = kube.get("schedulingpolicy", _NAME).get("status", {})
    return status


def _worst(kube: Kube) -> set[str]:
    """The last three nodes by score, once all are fresh."""
    status = _status(kube)
    if status.get("nodes", {}).get("summary") != "6/6" or status["scores"][-3].get("score", 100) > 50:
        return {"not yet"}
    return {row["node"] for row in status["scores"][-3:]}


def _counted(operator: OperatorProcess, series: str) -> float:
    lines = (line.rsplit(" ", 1) for line in operator.get("/metrics")[1].splitlines())
    return sum(float(value) for name, value in lines if name.startswith(series) and f'policy="{_NAME}"' in name)


def test_what_kube_scheduler_chose_is_regretted_and_nothing_is_placed(
    watching: Kube, operator: OperatorProcess
) -> None:
    theirs = deployment("web", _PODS, labels={"policy": _NAME})
    theirs["spec"]["template"]["spec"]["schedulerName"] = "default-scheduler"
    watching.create(theirs)
    bound = watching.all_bound("web", _PODS)
    status = eventually(
        "all pods are in the status",
        lambda: (s := _status(watching)).get("observed") == _PODS and s,
        timeout_s=60,
    )
    # Least requested and spread by default: kube-scheduler puts as many on busy nodes as on idle ones.
    on_busy = [pod for pod in bound if pod["spec"]["nodeName"] in _BUSY]
    assert len(on_busy) >= 3
    assert 5 <= status["regret"] <= 60
    assert status["worst"]["node"] in _BUSY
    assert status["worst"]["best"] not in _BUSY
    assert status["worst"]["pod"] in {f"{watching.namespace}/{pod['metadata']['name']}" for pod in on_busy}
    assert (status["bound"], status["pending"]) == (0, 0)
    assert all("plimsoll.dev/decision" not in pod["metadata"].get("annotations", {}) for pod in bound)
    ready = next(c for c in status["conditions"] if c["type"] == "Ready")
    assert (ready["status"], ready["message"]) == ("True", "The policy is in force: it observes, and places nothing.")
    assert _counted(operator, "plimsoll_observed_pods_total") == _PODS
    assert _counted(operator, "plimsoll_placement_regret_points_count") == _PODS
    mean = _counted(operator, "plimsoll_placement_regret_points_sum") / _PODS
    assert round(mean) == status["regret"]
