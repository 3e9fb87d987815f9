"""Fake nodes as Kubernetes objects, and when they count as ready."""

import datetime as dt
import math
from collections.abc import Mapping
from typing import Any

from devcluster.exporter.load import Load
from devcluster.quantity import number
from devcluster.spec import NodeSpec

NOT_READY_TAINT = "node.kubernetes.io/not-ready"
_HEALTHY_CONDITIONS = {
    "Ready": "True",
    "MemoryPressure": "False",
    "DiskPressure": "False",
    "PIDPressure": "False",
    "NetworkUnavailable": "False",
}


def manifest(node: NodeSpec, *, static_port: int | None) -> dict[str, Any]:
    """The Node to create.

    With a `static_port`, that of its kubelet, it is born ready, since nobody will report for it.
    """
    resources = {"cpu": node.cpu, "memory": node.memory, "pods": node.pods, **node.extra_resources}
    status: dict[str, Any] = {"capacity": resources, "allocatable": resources}
    if static_port is not None:
        status |= _static_status(node.name, kubelet_port=static_port)
    if node.internal_ip:
        status["addresses"] = _addresses(node.name, node.internal_ip)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": node.name, "labels": _labels(node), "annotations": _annotations(node)},
        "spec": {"taints": [dict(taint) for taint in node.taints]},
        "status": status,
    }


def _labels(node: NodeSpec) -> dict[str, str]:
    return {
        "kubernetes.io/hostname": node.name,
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        **({"topology.kubernetes.io/zone": node.zone} if node.zone else {}),
        **node.labels,
    }


def _annotations(node: NodeSpec) -> dict[str, str]:
    return {
        "kwok.x-k8s.io/node": "fake",
        # One server plays all kubelets; metrics-server finds each one's metrics by this path.
        "metrics.k8s.io/resource-metrics-path": f"/metrics/nodes/{node.name}/metrics/resource",
        **node.annotations,
    }


def _static_status(name: str, *, kubelet_port: int) -> dict[str, Any]:
    now = dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    times = {"lastHeartbeatTime": now, "lastTransitionTime": now}
    return {
        "conditions": [
            {"type": kind, "status": status, "reason": "Static", "message": "a static node", **times}
            for kind, status in _HEALTHY_CONDITIONS.items()
        ],
        "addresses": _addresses(name, "127.0.0.1"),
        "daemonEndpoints": {"kubeletEndpoint": {"Port": kubelet_port}},
    }


def _addresses(name: str, internal_ip: str) -> list[dict[str, str]]:
    return [{"type": "InternalIP", "address": internal_ip}, {"type": "Hostname", "address": name}]


def first_load(node: NodeSpec) -> Load:
    """What the exporter is told of a new node: its size, and the load in its spec."""
    size = Load(cpus=max(1, math.ceil(number(node.cpu))), memory_total_bytes=number(node.memory))
    return {**size, **node.load}


def is_ready(node: Mapping[str, Any]) -> bool:
    """Whether pods can be bound to a node: it is ready and a controller has taken its first taint off."""
    conditions = node.get("status", {}).get("conditions", ())
    taints = node.get("spec", {}).get("taints", ())
    ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
    return ready and all(taint["key"] != NOT_READY_TAINT for taint in taints)
