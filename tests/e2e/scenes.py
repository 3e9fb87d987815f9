"""Manifests for scenes that two schedulers play, as small as they can be.

Six nodes of 8 cpu and 32Gi in three zones: node-1 and node-4 in a, node-2 and node-5 in b, node-3 and node-6 in c.
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
DRIVER = "example.com"


def of(manifest: Json, scheduler: str) -> Json:
    """The same pod for this scheduler; other kinds name none."""
    if manifest["kind"] != "Pod":
        return manifest
    return manifest | {"spec": manifest["spec"] | {"schedulerName": scheduler}}


def named(node: str, **spec: Any) -> Json:
    """Fields of a pod that may go to one node only, whatever else is said."""
    return {"nodeSelector": {HOSTNAME: node}, **spec}


def claiming(*claims: str) -> Json:
    return {"volumes": [{"name": f"v{i}", "persistentVolumeClaim": {"claimName": c}} for i, c in enumerate(claims)]}


def claim(name: str, **spec: Any) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "",
            "resources": {"requests": {"storage": "1Gi"}},
            **spec,
        },
    }


def volume(name: str, *, node: str = "", labels: Json | None = None, **spec: Any) -> Json:
    """A disk of one node, or with other fields of ``spec`` whatever they say."""
    made = {
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "1Gi"},
        "persistentVolumeReclaimPolicy": "Retain",
        **spec,
    }
    if node:
        expression = {"key": HOSTNAME, "operator": "In", "values": [node]}
        made["local"] = {"path": "/data"}
        made["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
    metadata = {"name": name, "labels": labels or {}}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": made}


def storage_class(name: str, provisioner: str) -> Json:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": "WaitForFirstConsumer",
    }


def csi_volume(name: str) -> Json:
    return volume(name, csi={"driver": DRIVER, "volumeHandle": name})


def csi_node(node: str, *, limit: int) -> Json:
    driver = {"name": DRIVER, "nodeID": node, "topologyKeys": [], "allocatable": {"count": limit}}
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": node},
        "spec": {"drivers": [driver]},
    }


def csi_driver(*, storage_capacity: bool) -> Json:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIDriver",
        "metadata": {"name": DRIVER},
        "spec": {"attachRequired": False, "storageCapacity": storage_capacity},
    }
