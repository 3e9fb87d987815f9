from __future__ import annotations

import json
import re
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.e2e.kube import Json, Kube, deployment, eventually, pod
from tests.e2e.operator_process import OperatorProcess

if TYPE_CHECKING:
    from devcluster import DevCluster
    from tests.image.installation import Installation

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(420)]


def _bindings(cluster: DevCluster, namespace: str) -> Counter[str]:
    """Accepted Bindings by pod, from the API server's audit log."""
    assert cluster.audit_log
    accepted: Counter[str] = Counter()
    for line in cluster.audit_log.read_text().splitlines():
        event = json.loads(line)
        ref = event.get("objectRef", {})
        if ref.get("subresource") == "binding" and ref.get("namespace") == namespace:
            accepted[ref["name"]] += event.get("responseStatus", {}).get("code") == 201
    return accepted


def _answers(cluster: DevCluster, kube: Kube) -> Counter[int]:
    """What the API server answered to Bindings, by status code."""
    assert cluster.audit_log
    events = (json.loads(line) for line in cluster.audit_log.read_text().splitlines())
    return Counter(
        event.get("responseStatus", {}).get("code", 0)
        for event in events
        if (ref := event.get("objectRef", {})).get("subresource") == "binding"
        and ref.get("namespace") == kube.namespace
    )


def _bindings_so_far(cluster: DevCluster, kube: Kube) -> int:
    """Quick, to act in the middle of a burst."""
    assert cluster.audit_log
    return len(re.findall(rf"/namespaces/{kube.namespace}/pods/[^/]+/binding", cluster.audit_log.read_text()))


def _wait_with_all_pods(kube: Kube, operator: OperatorProcess, *pods: Json) -> None:
    """All pods are there before the operator is, so that it meets them as one burst."""
    operator.kill()
    kube.create(*pods)
    operator.start(wait=False)


def _assert_nothing_overcommitted(kube: Kube) -> None:
    pods = json.loads(kube.cluster.kubectl("get", "pods", "--all-namespaces", "-o", "json"))["items"]
    cpu_milli: Counter[str] = Counter()
    count: Counter[str] = Counter()
    for each in pods:
        node = each["spec"].get("nodeName")
        if node and each["status"]["phase"] not in {"Succeeded", "Failed"}:
            count[node] += 1
            for container in each["spec"]["containers"]:
                cpu_milli[node] += int(container["resources"].get("requests", {}).get("cpu", "0m").removesuffix("m"))
    assert all(milli <= 8000 for milli in cpu_milli.values()), cpu_milli
    assert all(pods <= 110 for pods in count.values()), count


def test_killed_in_the_middle_of_500_pods_and_started_again(
    kube: Kube, operator: OperatorProcess, cluster: DevCluster
) -> None:
    _wait_with_all_pods(kube, operator, *(pod(f"burst-{i}", app="burst", cpu="90m") for i in range(500)))
    eventually("some are bound", lambda: _bindings_so_far(cluster, kube) >= 30, timeout_s=60, every_s=0.01)
    operator.kill()
    assert len(kube.bound("burst")) < 500, "the kill came too late to mean anything"
    operator.start()
    kube.all_bound("burst", 500, timeout_s=90)
    bindings = _bindings(cluster, kube.namespace)
    # A Binding whose client died while it was written is logged without a 201, and done all the same.
    assert max(bindings.values()) == 1
    assert len(bindings) == 500
    _assert_nothing_overcommitted(kube)


def test_more_pods_than_fit_never_overcommit_a_node(kube: Kube, operator: OperatorProcess) -> None:
    kube.create(deployment("tight", 60, cpu="1500m"))
    # Five of 1500m fit on each of six nodes with 8 cores.
    eventually("the cluster is full", lambda: len(kube.bound("tight")) == 30, timeout_s=60)
    time.sleep(2)
    assert len(kube.bound("tight")) == 30
    _assert_nothing_overcommitted(kube)
    waiting = next(p for p in kube.pods("tight") if not p["spec"].get("nodeName"))
    condition = eventually("the rest is told", lambda: kube.condition(waiting["metadata"]["name"]))
    assert "Insufficient cpu" in condition["message"]


def test_the_api_server_goes_away_and_comes_back(kube: Kube, operator: OperatorProcess, cluster: DevCluster) -> None:
    kube.create(pod("before"))
    kube.all_bound("before", 1)
    cluster.stop_process("kube-apiserver")
    time.sleep(5)
    assert operator.running, operator.tail()
    cluster.start_process("kube-apiserver")
    eventually("the operator is ready again", lambda: operator.get("/readyz")[0] == 200, timeout_s=60)
    kube.create(deployment("after", 10))
    kube.all_bound("after", 10, timeout_s=90)
    assert operator.running


def test_two_schedulers_of_one_name_bind_every_pod_once(
    kube: Kube, operator: OperatorProcess, cluster: DevCluster, kubeconfig: Path, installed_plimsoll: Installation
) -> None:
    rival = OperatorProcess(
        installed_plimsoll, kubeconfig=kubeconfig, folder=cluster.directory, flags=("--no-leader-elect",)
    )
    try:
        rival.start()
        kube.create(*(pod(f"both-{i}", app="both", cpu="10m") for i in range(150)))
        kube.all_bound("both", 150)
    finally:
        rival.end()
    assert _answers(cluster, kube)[409], "they never met, so the test says nothing"
    assert max(_bindings(cluster, kube.namespace).values()) == 1
    assert operator.running
    eventually("conflicts leave nothing behind", lambda: 'queue="backoff"} 0.0' in operator.get("/metrics")[1])
    kube.create(deployment("later", 5))
    kube.all_bound("later", 5)


def test_a_standby_takes_over_from_a_killed_leader(
    kube: Kube, operator: OperatorProcess, cluster: DevCluster, kubeconfig: Path, installed_plimsoll: Installation
) -> None:
    standby = OperatorProcess(installed_plimsoll, kubeconfig=kubeconfig, folder=cluster.directory)
    try:
        standby.start()
        assert "plimsoll_leader 0.0" in standby.get("/metrics")[1]
        kube.create(deployment("first", 10))
        kube.all_bound("first", 10)
        operator.kill()
        kube.create(deployment("second", 10))
        kube.all_bound("second", 10, timeout_s=60)
        assert "plimsoll_leader 1.0" in standby.get("/metrics")[1]
        code, _ = standby.stop()
        assert code == 0
    finally:
        standby.end()


def test_sigterm_ends_it_within_five_seconds_with_nothing_half_done(
    kube: Kube, operator: OperatorProcess, cluster: DevCluster
) -> None:
    _wait_with_all_pods(kube, operator, *(pod(f"stop-{i}", app="stop", cpu="10m") for i in range(400)))
    eventually("some are bound", lambda: _bindings_so_far(cluster, kube) >= 10, timeout_s=60, every_s=0.01)
    code, took_s = operator.stop()
    assert len(kube.bound("stop")) < 400, "the end came too late to mean anything"
    assert code == 0, operator.tail()
    assert took_s < 5, operator.tail()
    lease = json.loads(cluster.kubectl("get", "lease", "plimsoll", "-n", "plimsoll-system", "-o", "json"))
    assert not lease["spec"].get("holderIdentity"), "the Lease is given back"
    operator.start()
    kube.all_bound("stop", 400)
    assert max(_bindings(cluster, kube.namespace).values()) == 1
