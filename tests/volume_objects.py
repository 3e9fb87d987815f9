"""Volumes, claims and classes as the API server serves them, and a cache that holds them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from plimsoll.cluster.cache import Cache
from plimsoll.cluster.kinds import KINDS
from plimsoll.cluster.storage.claim import PersistentVolumeClaim
from plimsoll.cluster.storage.volume import PersistentVolume
from tests.builders import PodBuilder

Json = dict[str, Any]

BOUND = {"pv.kubernetes.io/bind-completed": "yes"}
SELECTED = "volume.kubernetes.io/selected-node"
_versions = itertools.count(100)


def a_volume(
    name: str,
    *,
    size: str = "10Gi",
    of_class: str = "wait",
    on: Mapping[str, Iterable[str]] | None = None,
    claim: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    phase: str = "Available",
    metadata: Json | None = None,
    **spec: Any,
) -> Json:
    """``on``: values by node label that the node affinity demands."""
    if on is not None:
        wanted = [{"key": k, "operator": "In", "values": list(v)} for k, v in on.items()]
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": wanted}]}}
    if claim is not None:
        spec["claimRef"] = dict(claim)
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": _metadata(name) | {"labels": dict(labels or {})} | (metadata or {}),
        "spec": {
            "capacity": {"storage": size},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": of_class,
            **spec,
        },
        "status": {"phase": phase},
    }


def a_claim(
    name: str,
    *,
    size: str = "5Gi",
    of_class: str = "wait",
    namespace: str = "default",
    volume: str = "",
    bound: bool = False,
    selected: str | None = None,
    metadata: Json | None = None,
    phase: str = "Pending",
    **spec: Any,
) -> Json:
    annotations = (BOUND if bound else {}) | ({} if selected is None else {SELECTED: selected})
    made = {"namespace": namespace, "annotations": annotations}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": _metadata(name) | made | (metadata or {}),
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": size}},
            "storageClassName": of_class,
            "volumeName": volume,
            **spec,
        },
        "status": {"phase": phase},
    }


def a_class(
    name: str = "wait",
    *,
    mode: str | None = "WaitForFirstConsumer",
    provisioner: str = "kubernetes.io/no-provisioner",
    topologies: list[Json] | None = None,
) -> Json:
    made: Json = {"kind": "StorageClass", "metadata": _metadata(name), "provisioner": provisioner}
    if mode is not None:
        made["volumeBindingMode"] = mode
    return made | ({"allowedTopologies": topologies} if topologies else {})


def a_driver(name: str, *, storage_capacity: bool | None = None) -> Json:
    return {"kind": "CSIDriver", "metadata": _metadata(name), "spec": {"storageCapacity": storage_capacity}}


def a_capacity(name: str, *, of_class: str, topology: Json | None, **sizes: str) -> Json:
    """``sizes``: capacity, maximumVolumeSize."""
    made: Json = {"kind": "CSIStorageCapacity", "metadata": _metadata(name) | {"namespace": "default"}}
    return made | {"storageClassName": of_class, "nodeTopology": topology} | sizes


def a_csi_node(name: str, *, migrated: str = "") -> Json:
    annotations = {"storage.alpha.kubernetes.io/migrated-plugins": migrated}
    return {"kind": "CSINode", "metadata": _metadata(name) | {"annotations": annotations}, "spec": {"drivers": []}}


def topology(**values: Iterable[str]) -> Json:
    """A term of allowedTopologies."""
    return {"matchLabelExpressions": [{"key": key, "values": list(found)} for key, found in values.items()]}


def using(pod: PodBuilder, *claims: str) -> PodBuilder:
    return pod.spec(
        volumes=[{"name": f"v{i}", "persistentVolumeClaim": {"claimName": c}} for i, c in enumerate(claims)]
    )


def put(cache: Cache, *objects: Json) -> Cache:
    for thing in objects:
        kind = KINDS[thing["kind"]]
        cache.put_object(kind, kind.parse(thing))
    return cache


def volume_of(thing: Json) -> PersistentVolume:
    return PersistentVolume.parse(thing)


def claim_of(thing: Json) -> PersistentVolumeClaim:
    return PersistentVolumeClaim.parse(thing)


def _metadata(name: str) -> Json:
    return {"name": name, "uid": f"uid-{name}", "resourceVersion": str(next(_versions))}
