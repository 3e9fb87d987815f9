"""What all workloads are made of: nodes that are born ready, and small pods."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from typing import Any

from benchmarks.throughput.workload import Json, Thing

NAMESPACE = "default"
HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
HIGH = "high"
ZONES = ("a", "b", "c")
IMAGE = "registry.k8s.io/pause:3.10"

NODES = "/api/v1/nodes"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
SERVICES = f"/api/v1/namespaces/{NAMESPACE}/services"
PRIORITY_CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"

_CONDITIONS = {
    "Ready": "True",
    "MemoryPressure": "False",
    "DiskPressure": "False",
    "PIDPressure": "False",
    "NetworkUnavailable": "False",
}
# Nobody reports for these nodes: what they say of themselves is as old as they are.
_THEN = {"lastHeartbeatTime": "2026-01-01T00:00:00Z", "lastTransitionTime": "2026-01-01T00:00:00Z"}
# A namespace of uids: equal names have equal uids in each run.
_UIDS = uuid.UUID("5f0d4c52-3f39-4c0e-9a39-0f1c3f1a7d10")


def node(number: int) -> Json:
    """16 cores, 64 GiB, 110 pods; zones by turns."""
    return node_of(f"node-{number}", cpu="16", zone=zone_of(number))


def zone_of(number: int) -> str:
    return ZONES[number % len(ZONES)]


def node_of(name: str, *, cpu: str, zone: str) -> Json:
    resources = {"cpu": cpu, "memory": "64Gi", "pods": "110"}
    labels = {HOSTNAME: name, ZONE: zone, "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux"}
    conditions = [
        {"type": kind, "status": status, "reason": "Static", "message": "a static node", **_THEN}
        for kind, status in _CONDITIONS.items()
    ]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {
            "capacity": resources,
            "allocatable": resources,
            "conditions": conditions,
            "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}, {"type": "Hostname", "address": name}],
        },
    }


def pod(
    name: str,
    scheduler: str,
    *,
    labels: dict[str, str] | None = None,
    owners: Iterable[Json] = (),
    cpu: str = "100m",
    memory: str = "500Mi",
    **spec: Any,
) -> Thing:
    """Further arguments are fields of its spec, by the API's names."""
    container = {"name": "pause", "image": IMAGE, "resources": {"requests": {"cpu": cpu, "memory": memory}}}
    metadata: Json = {"name": name, "namespace": NAMESPACE, "labels": labels or {}}
    if owned_by := list(owners):
        metadata["ownerReferences"] = owned_by
    return Thing(
        PODS,
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": metadata,
            "spec": {
                "schedulerName": scheduler,
                "terminationGracePeriodSeconds": 0,
                "containers": [container],
                **spec,
            },
        },
    )


def running(name: str, number: int, **options: Any) -> Thing:
    """A pod that somebody has put on the node of that number already; options as those of ``pod``."""
    return pod(name, "somebody-else", nodeName=f"node-{number}", **options)


def plain_pods(count: int, scheduler: str, _nodes: int) -> Iterator[Thing]:
    return (pod(f"plain-{i}", scheduler) for i in range(count))


def alike(labels: dict[str, str], *, key: str) -> Json:
    """An affinity term: pods with these labels, in the same domain of the topology key."""
    return {"topologyKey": key, "labelSelector": {"matchLabels": labels}}


def replica_set(name: str) -> Json:
    """An owner that nobody has created: without controllers nobody misses it."""
    uid = str(uuid.uuid5(_UIDS, name))
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": name,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def service(name: str, selector: dict[str, str]) -> Thing:
    """Headless: there are more of these than addresses in a small range."""
    spec = {"selector": selector, "clusterIP": "None", "ports": [{"port": 80}]}
    metadata = {"name": name, "namespace": NAMESPACE}
    return Thing(SERVICES, {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec})


def high_priority() -> Thing:
    """The class of pods that may preempt; all others have priority 0."""
    body = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": HIGH}, "value": 10}
    return Thing(PRIORITY_CLASSES, body)
