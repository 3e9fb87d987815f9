"""What takes several steps, played by kube-scheduler and by Plimsoll on the same nodes of 8 cpu and 32Gi."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.kube import Kube, deployment, eventually, pod
from tests.e2e.outcomes import SCHEDULERS, by_both, empty, settled

if TYPE_CHECKING:
    from devcluster import DevCluster
    from tests.e2e.operator_process import OperatorProcess

pytestmark = pytest.mark.cluster

Json = dict[str, Any]
HOSTNAME = "kubernetes.io/hostname"


@pytest.fixture(autouse=True, scope="module")
def classes(cluster: DevCluster) -> Iterator[None]:
    for name, value in (("low", 10), ("high", 1000)):
        cluster.kubectl("create", "priorityclass", name, f"--value={value}")
    cluster.kubectl("create", "priorityclass", "polite", "--value=1000", "--preemption-policy=Never")
    yield
    cluster.kubectl("delete", "priorityclass", "low", "high", "polite")


def test_a_pod_of_high_priority_takes_the_place_of_a_replica_set_pod(kube: Kube, operator: OperatorProcess) -> None:
    def play(scheduler: str) -> list[str]:
        kube.create(_by(scheduler, _replicas("low", 6, cpu="7", priorityClassName="low")))
        kube.all_bound("low", 6)
        victim = _on(kube.bound("low"), "node-4")
        kube.create(_by(scheduler, pod("high", cpu="6", priorityClassName="high", nodeSelector={HOSTNAME: "node-4"})))
        kube.all_bound("high", 1)
        [preempted] = eventually("the victim is told", lambda: kube.events(victim, "Preempted"))
        waits = eventually("its successor waits", lambda: [p for p in kube.pods("low") if _refused(p)])
        return [
            kube.get("pod", "high")["spec"]["nodeName"],
            preempted["action"],
            preempted["note"].split("by pod ")[0],
            _refused(waits[0]),
        ]

    upstream, ours = by_both(kube, play)
    assert upstream[0] == "node-4"
    assert ours == upstream


def test_a_victim_is_marked_and_the_preemptor_is_nominated_while_the_victim_ends(
    kube: Kube, operator: OperatorProcess, cluster: DevCluster
) -> None:
    def play(scheduler: str) -> list[str]:
        low = pod("low", cpu="7", priorityClassName="low", nodeSelector={HOSTNAME: "node-2"})
        low["metadata"]["finalizers"] = ["example.com/hold"]
        kube.create(_by(scheduler, low))
        kube.all_bound("low", 1)
        kube.create(_by(scheduler, pod("high", cpu="6", priorityClassName="high", nodeSelector={HOSTNAME: "node-2"})))
        eventually("it is nominated", lambda: kube.get("pod", "high")["status"].get("nominatedNodeName"))
        [target] = eventually("the victim is marked", lambda: _conditions(kube.get("pod", "low"), "DisruptionTarget"))
        told = settled(kube, ["high"])["high"]
        cluster.kubectl(
            "patch", "pod", "low", "-n", kube.namespace, "--type=json",
            "-p", '[{"op": "remove", "path": "/metadata/finalizers"}]',
        )  # fmt: skip
        kube.all_bound("high", 1)
        return [target["reason"], target["message"].removeprefix(scheduler), told]

    upstream, ours = by_both(kube, play)
    assert upstream[0] == "PreemptionByScheduler"
    assert ours == upstream


def test_a_pod_that_may_not_preempt_waits(kube: Kube, operator: OperatorProcess) -> None:
    def play(scheduler: str) -> str:
        kube.create(_by(scheduler, pod("low", cpu="7", priorityClassName="low", nodeSelector={HOSTNAME: "node-2"})))
        kube.all_bound("low", 1)
        waits = pod("polite", cpu="6", priorityClassName="polite", nodeSelector={HOSTNAME: "node-2"})
        kube.create(_by(scheduler, waits))
        return settled(kube, ["polite"])["polite"]

    upstream, ours = by_both(kube, play)
    assert "preemptionPolicy=Never" in upstream
    assert ours == upstream


def test_who_matters_more_goes_first_where_there_is_not_room_for_all(
    kube: Kube, operator: OperatorProcess, cluster: DevCluster
) -> None:
    def play(scheduler: str) -> Counter[str]:
        for i in range(1, 7):
            cluster.kubectl("cordon", f"node-{i}")
        for priority in ("low", "high"):
            kube.create(*(_by(scheduler, pod(f"{priority}-{i}", app=priority, cpu="4", priorityClassName=priority))
                          for i in range(4)))  # fmt: skip
        settled(kube, [f"{priority}-{i}" for priority in ("low", "high") for i in range(4)])
        for i in (1, 2):
            cluster.kubectl("uncordon", f"node-{i}")
        kube.all_bound("high", 4)
        return Counter(p["metadata"]["labels"]["app"] for p in kube.list("pods") if p["spec"].get("nodeName"))

    upstream, ours = by_both(kube, play)
    assert upstream == {"high": 4}
    assert ours == upstream


def test_a_drain_waits_for_the_budget_and_the_rest_find_other_nodes(
    kube: Kube, operator: OperatorProcess, cluster: DevCluster
) -> None:
    def play(scheduler: str) -> tuple[int, bool]:
        kube.create(_by(scheduler, deployment("web", 6)), _budget("web", min_available=5))
        kube.all_bound("web", 6)
        eventually("they run", lambda: kube.get("deployment", "web")["status"].get("readyReplicas") == 6)
        node = kube.bound("web")[0]["spec"]["nodeName"]
        cluster.kubectl("drain", node, "--ignore-daemonsets", "--force", "--timeout=60s", "--delete-emptydir-data")
        bound = kube.all_bound("web", 6)
        cluster.kubectl("uncordon", node)
        return len(bound), any(p["spec"]["nodeName"] == node for p in bound)

    assert by_both(kube, play) == [(6, False), (6, False)]


def test_daemon_set_pods_come_to_new_nodes(kube: Kube, operator: OperatorProcess, cluster: DevCluster) -> None:
    from devcluster import NodeSpec

    def play(scheduler: str) -> set[str]:
        kube.create(_by(scheduler, _daemon_set("agent")))
        kube.all_bound("agent", 6)
        cluster.add_nodes([NodeSpec(name="node-new", cpu="8", memory="32Gi")])
        try:
            return {p["spec"]["nodeName"] for p in kube.all_bound("agent", 7)}
        finally:
            cluster.kubectl("delete", "node", "node-new")

    upstream, ours = by_both(kube, play)
    assert "node-new" in upstream
    assert ours == upstream


def test_two_schedulers_share_nodes_and_see_each_others_pods(kube: Kube, operator: OperatorProcess) -> None:
    """48 cpus: the one takes 6 x 4, the other finds the rest, whoever comes first."""
    for first, second in (SCHEDULERS, SCHEDULERS[::-1]):
        kube.create(_by(first, deployment("first", 6, cpu="4")))
        kube.all_bound("first", 6)
        kube.create(_by(second, deployment("second", 6, cpu="3900m")))
        kube.all_bound("second", 6)
        taken = Counter[str]()
        for each in kube.list("pods"):
            cpu = each["spec"]["containers"][0]["resources"]["requests"]["cpu"]
            taken[each["spec"]["nodeName"]] += int(cpu[:-1]) if cpu.endswith("m") else 1000 * int(cpu)
        assert max(taken.values()) <= 8000
        empty(kube)


def _by(scheduler: str, manifest: Json) -> Json:
    """The same, for this scheduler, whatever kind it is."""
    copy: Json = json.loads(json.dumps(manifest))
    spec = copy["spec"] if copy["kind"] == "Pod" else copy["spec"]["template"]["spec"]
    spec["schedulerName"] = scheduler
    return copy


def _replicas(name: str, count: int, *, priorityClassName: str, **requests: str) -> Json:  # noqa: N803
    made = deployment(name, count, **requests)
    made["spec"]["template"]["spec"]["priorityClassName"] = priorityClassName
    return made | {"kind": "ReplicaSet"}


def _daemon_set(name: str) -> Json:
    made = deployment(name, 1)
    del made["spec"]["replicas"]
    return made | {"kind": "DaemonSet"}


def _budget(app: str, *, min_available: int) -> Json:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": app},
        "spec": {"minAvailable": min_available, "selector": {"matchLabels": {"app": app}}},
    }


def _on(pods: list[Json], node: str) -> str:
    return next(p["metadata"]["name"] for p in pods if p["spec"]["nodeName"] == node)


def _conditions(found: Json, kind: str) -> list[Json]:
    return [c for c in found["status"].get("conditions", ()) if c["type"] == kind]


def _refused(found: Json) -> str:
    return "".join(c["message"] for c in _conditions(found, "PodScheduled") if c["status"] == "False")
