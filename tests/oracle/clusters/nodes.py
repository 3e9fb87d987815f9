"""Nodes: labels, taints, cordons, room, images, declared features."""

from __future__ import annotations

from tests.oracle.clusters.amounts import allocatable
from tests.oracle.clusters.containers import images
from tests.oracle.clusters.taints import taints
from tests.oracle.clusters.vocabulary import (
    HOSTNAME,
    NODE_VALUES,
    OLD_ZONE,
    REGION,
    ZONES,
    Json,
    labels,
    node_name,
    time_at,
)
from tests.oracle.source import Source

FEATURES = ("RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport", "Other")


def node(source: Source, i: int, features: frozenset[str]) -> Json:
    name = node_name(i)
    found: Json = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "uid": f"uid-{name}",
            "labels": _labels(source, name),
            "creationTimestamp": time_at(0),
        },
        "spec": {},
        "status": {"allocatable": _room(source, features)},
    }
    if "taints" in features and source.chance(45) and (found_taints := taints(source)):
        found["spec"]["taints"] = found_taints
    if "taints" in features and source.chance(12):
        found["spec"]["unschedulable"] = True
    if "images" in features:
        found["status"]["images"] = images(source)
    if "declared" in features and source.chance(60):
        found["status"]["declaredFeatures"] = source.some(FEATURES, at_least=1)
    return found


def _room(source: Source, features: frozenset[str]) -> Json:
    if "crowded" in features:
        return allocatable(source) | {"pods": source.pick(("3", "2", "4", "5")), "cpu": source.pick(("2", "1", "3"))}
    if "resources" in features:
        return allocatable(source)
    if source.chance(3):
        return {"cpu": "64", "memory": "256Gi", "pods": "1"}
    return {"cpu": "64", "memory": "256Gi", "pods": "110", "ephemeral-storage": "100Gi"}


def _labels(source: Source, name: str) -> dict[str, str]:
    found = labels(source, NODE_VALUES, percent=85)
    if source.chance(95):
        found[HOSTNAME] = name
    if source.chance(10):
        found[OLD_ZONE] = source.pick(ZONES)
    if source.chance(25):
        found[REGION] = source.pick(ZONES)
    return found
