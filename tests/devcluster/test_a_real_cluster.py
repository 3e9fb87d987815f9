"""What the processes do together; see conftest for the cluster."""

import json
import time
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from devcluster import ClusterRunningError, ClusterSpec, DevCluster, ExporterClient, KubectlError, equal_nodes
from devcluster.quantity import number

pytestmark = pytest.mark.cluster

POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web"},
    "spec": {"nodeName": "node-1", "containers": [{"name": "web", "image": "web"}]},
}
JOB: dict[str, Any] = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "batch"},
    "spec": {
        "template": {
            "spec": {
                "nodeName": "node-2",
                "restartPolicy": "Never",
                "containers": [{"name": "batch", "image": "batch"}],
            }
        }
    },
}


def eventually(condition: Callable[[], Any], *, timeout_s: float = 30.0) -> Any:
    deadline = time.monotonic() + timeout_s
    while not (answer := condition()):
        assert time.monotonic() < deadline, "not in time"
        time.sleep(0.25)
    return answer


def query(cluster: DevCluster, expression: str) -> dict[str, float]:
    """Values of an instant query by `instance`."""
    url = f"{cluster.prometheus_url}/api/v1/query?{urllib.parse.urlencode({'query': expression})}"
    with urllib.request.urlopen(url) as response:
        result = json.load(response)["data"]["result"]
    return {each["metric"]["instance"]: float(each["value"][1]) for each in result}


def exporter_of(cluster: DevCluster) -> ExporterClient:
    assert cluster.exporter is not None
    return cluster.exporter


def test_nodes_are_ready_and_sized_as_asked(full_cluster: DevCluster) -> None:
    nodes = json.loads(full_cluster.kubectl("get", "nodes", "-o", "json"))["items"]
    assert [node["metadata"]["name"] for node in nodes] == ["node-1", "node-2", "node-3"]
    assert {node["status"]["allocatable"]["memory"] for node in nodes} == {"64Gi"}
    assert not any(node["spec"].get("taints") for node in nodes)


def test_a_bound_pod_runs(full_cluster: DevCluster) -> None:
    full_cluster.kubectl("apply", "-f", "-", input=json.dumps(POD))
    full_cluster.kubectl("wait", "--for=condition=Ready", "pod/web", "--timeout=30s")
    full_cluster.kubectl("delete", "pod", "web", "--timeout=30s")


def test_the_pod_of_a_job_completes(full_cluster: DevCluster) -> None:
    full_cluster.kubectl("apply", "-f", "-", input=json.dumps(JOB))
    full_cluster.kubectl("wait", "--for=condition=Complete", "job/batch", "--timeout=60s")


def test_a_refused_kubectl_raises_what_it_said(full_cluster: DevCluster) -> None:
    with pytest.raises(KubectlError, match="not found") as caught:
        full_cluster.kubectl("get", "pod", "nobody")
    assert "NotFound" in caught.value.stderr
    assert full_cluster.kubectl("get", "pod", "nobody", check=False) == ""


def test_helm_speaks_to_the_cluster(full_cluster: DevCluster) -> None:
    assert json.loads(full_cluster.helm("list", "-o", "json")) == []


def test_prometheus_sees_the_rates_that_are_set(full_cluster: DevCluster) -> None:
    exporter_of(full_cluster).set("node-2", receive_bytes_per_s={"eth0": 5e6})
    expression = 'rate(node_network_receive_bytes_total{device="eth0"}[5s])'

    def seen() -> bool:
        rates = query(full_cluster, expression)
        return rates.get("node-2") == pytest.approx(5e6, rel=0.02) and rates.get("node-1") == 0.0

    assert eventually(seen)


def test_a_dark_node_is_down_for_prometheus(full_cluster: DevCluster) -> None:
    exporter_of(full_cluster).set("node-3", dark=True)
    assert eventually(lambda: query(full_cluster, "up") == {"node-1": 1.0, "node-2": 1.0, "node-3": 0.0})
    exporter_of(full_cluster).set("node-3", dark=False)
    assert eventually(lambda: query(full_cluster, "up").get("node-3") == 1.0)


def test_metrics_server_tells_the_load_that_is_set(full_cluster: DevCluster) -> None:
    exporter_of(full_cluster).set("node-1", cpu_utilisation=0.25, memory_used_bytes=8 * 2**30)

    def told() -> bool:
        path = "/apis/metrics.k8s.io/v1beta1/nodes/node-1"
        usage = json.loads(full_cluster.kubectl("get", "--raw", path))["usage"]
        return number(usage["cpu"]) == pytest.approx(4.0, rel=0.02) and number(usage["memory"]) == 8 * 2**30

    assert eventually(told, timeout_s=45)


def test_the_audit_log_tells_who_did_what(full_cluster: DevCluster, tmp_path: Path) -> None:
    full_cluster.kubectl("create", "serviceaccount", "auditor")
    kubeconfig = full_cluster.service_account_kubeconfig("default", "auditor", tmp_path / "auditor")
    full_cluster.kubectl("get", "nodes", "--kubeconfig", str(kubeconfig), check=False)
    assert full_cluster.audit_log is not None
    events = [json.loads(line) for line in full_cluster.audit_log.read_text().splitlines()]
    refused = [
        (event["user"]["username"], event["verb"], event["objectRef"]["resource"])
        for event in events
        if event.get("annotations", {}).get("authorization.k8s.io/decision") == "forbid"
    ]
    assert ("system:serviceaccount:default:auditor", "list", "nodes") in refused


def test_a_process_comes_back_with_its_data(full_cluster: DevCluster) -> None:
    exporter_of(full_cluster).set("node-1", memory_used_bytes=7e9)
    for name in ("exporter", "prometheus", "kwok"):
        full_cluster.stop_process(name)
        assert full_cluster.pid(name) is None
        full_cluster.start_process(name)
    available = "node_memory_MemTotal_bytes - node_memory_MemAvailable_bytes"
    assert eventually(lambda: query(full_cluster, available).get("node-1") == 7e9)


def test_the_api_server_comes_back_with_its_objects(full_cluster: DevCluster) -> None:
    for name in ("kube-apiserver", "etcd"):
        full_cluster.stop_process(name)
    for name in ("etcd", "kube-apiserver"):
        full_cluster.start_process(name)
    assert "node-1" in full_cluster.kubectl("get", "nodes", "-o", "name")


def test_a_folder_holds_one_cluster(full_cluster: DevCluster) -> None:
    with pytest.raises(ClusterRunningError, match="down"):
        DevCluster.start(ClusterSpec.of(1), directory=full_cluster.directory)
    assert full_cluster.pid("etcd") is not None


def test_nodes_can_be_added_without_controllers_and_instances_can_be_addresses(tmp_path: Path) -> None:
    spec = ClusterSpec.of(2, controllers=False, prometheus=True, scrape_interval_s=1.0, instance_label="address")
    with DevCluster.start(spec, directory=tmp_path) as cluster:
        cluster.add_nodes(equal_nodes(1, first=3))
        cluster.wait_nodes_ready(10)
        assert len(cluster.kubectl("get", "nodes", "-o", "name").split()) == 3
        addresses = {"10.1.0.1:9100", "10.1.0.2:9100", "10.1.0.3:9100"}
        assert eventually(lambda: query(cluster, "node_uname_info").keys() == addresses)
    assert not cluster.kubeconfig.exists()
    assert (tmp_path / "logs" / "etcd.log").exists()
