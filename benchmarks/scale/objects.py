"""Nodes and pods as watches send them, in bytes, with the fields that real ones have."""

from __future__ import annotations

import json
from typing import Any

from plimsoll.cluster.times import timestamp

Json = dict[str, Any]

PODS_PER_WORKLOAD = 50
SCHEDULER = "plimsoll"
_OFFERED = {"cpu": "16", "memory": "64Gi", "pods": "110", "ephemeral-storage": "200Gi"}
_CONDITIONS = ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")
_IMAGES = 20


def node_name(i: int) -> str:
    return f"node-{i:05}"


def node_address(i: int) -> str:
    return f"10.{i >> 16 & 255}.{i >> 8 & 255}.{i & 255}"


def pod_name(i: int) -> str:
    return f"app-{i // PODS_PER_WORKLOAD}-7c5ddbdf54-{i:06x}"


def node(i: int, *, at_s: float, version: int = 1) -> Json:
    """As a kubelet's report leaves it; ``at_s`` is the time of the report."""
    name = node_name(i)
    images = [{"names": [f"registry.example/app-{k}:v1"], "sizeBytes": 50_000_000 + k} for k in range(_IMAGES)]
    conditions = [
        {
            "type": kind,
            "status": "True" if kind == "Ready" else "False",
            "reason": f"Kubelet{kind}",
            "message": "kubelet is posting its status",
            "lastHeartbeatTime": timestamp(at_s),
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
        for kind in _CONDITIONS
    ]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "uid": f"uid-{name}",
            "resourceVersion": str(version),
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "topology.kubernetes.io/zone": f"zone-{i % 3}",
            },
        },
        "spec": {"podCIDR": f"10.{i % 250}.0.0/24"},
        "status": {
            "capacity": _OFFERED,
            "allocatable": _OFFERED,
            "addresses": [{"type": "InternalIP", "address": node_address(i)}, {"type": "Hostname", "address": name}],
            "conditions": conditions,
            "images": images,
            "nodeInfo": {"kubeletVersion": "v1.36.4", "osImage": "Linux", "architecture": "amd64"},
        },
    }


def pod(i: int, *, on: int | None, started_s: float, version: int = 1, restarts: int = 0) -> Json:
    """A replica of a Deployment.

    Args:
        on: the number of the node where it runs; None: it waits for one.
    """
    name, app = pod_name(i), f"app-{i // PODS_PER_WORKLOAD}"
    body: Json = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": f"uid-{name}",
            "resourceVersion": str(version),
            "creationTimestamp": timestamp(started_s - 5),
            "labels": {"app": app, "pod-template-hash": "7c5ddbdf54"},
            "ownerReferences": [
                {
                    "apiVersion": "apps/v1",
                    "kind": "ReplicaSet",
                    "name": f"{app}-7c5ddbdf54",
                    "uid": f"uid-{app}",
                    "controller": True,
                }
            ],
        },
        "spec": {
            "schedulerName": SCHEDULER,
            "containers": [
                {
                    "name": "main",
                    "image": f"registry.example/{app}:v1",
                    "resources": {"requests": {"cpu": "100m", "memory": "500Mi"}},
                    "volumeMounts": [{"name": "token", "mountPath": "/var/run/secrets", "readOnly": True}],
                }
            ],
            "volumes": [{"name": "token", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}],
            "tolerations": [
                {
                    "key": f"node.kubernetes.io/{what}",
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": 300,
                }
                for what in ("not-ready", "unreachable")
            ],
        },
        "status": {"phase": "Pending"},
    }
    if on is not None:
        body["spec"]["nodeName"] = node_name(on)
        body["status"] = _running(i, started_s=started_s, restarts=restarts)
    return body


def scheduled(i: int, *, on: int, created_s: float) -> Json:
    """Bound a moment ago, as the watch confirms it: no kubelet has seen it yet."""
    body = pod(i, on=on, started_s=created_s, version=2)
    condition = {"type": "PodScheduled", "status": "True", "lastTransitionTime": timestamp(created_s)}
    body["status"] = {"phase": "Pending", "conditions": [condition]}
    return body


def event(kind: str, thing: Json) -> bytes:
    """A line of a watch."""
    return json.dumps({"type": kind, "object": thing}, separators=(",", ":")).encode()


def _running(i: int, *, started_s: float, restarts: int) -> Json:
    began = timestamp(started_s)
    return {
        "phase": "Running",
        "startTime": began,
        "podIP": node_address(i),
        "conditions": [
            {"type": kind, "status": "True", "lastTransitionTime": began}
            for kind in ("PodScheduled", "Initialized", "ContainersReady", "Ready")
        ],
        "containerStatuses": [
            {
                "name": "main",
                "ready": True,
                "restartCount": restarts,
                "state": {"running": {"startedAt": began}},
                "image": "registry.example/app:v1",
            }
        ],
    }
