"""The resources that are read and written, and their paths."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource of the API; ``group`` is "" for the core."""

    group: str
    version: str
    plural: str

    def path(self, *, namespace: str = "", name: str = "", subresource: str = "") -> str:
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        scope = f"/namespaces/{namespace}" if namespace else ""
        return f"{root}{scope}/{self.plural}" + "".join(f"/{part}" for part in (name, subresource) if part)


PODS = Resource("", "v1", "pods")
NODES = Resource("", "v1", "nodes")
NAMESPACES = Resource("", "v1", "namespaces")
POLICIES = Resource("plimsoll.dev", "v1alpha1", "schedulingpolicies")
EVENTS = Resource("events.k8s.io", "v1", "events")
LEASES = Resource("coordination.k8s.io", "v1", "leases")
VOLUMES = Resource("", "v1", "persistentvolumes")
CLAIMS = Resource("", "v1", "persistentvolumeclaims")
RESOURCE_CLAIMS = Resource("resource.k8s.io", "v1", "resourceclaims")
ACCESS_REVIEWS = Resource("authorization.k8s.io", "v1", "selfsubjectaccessreviews")

# What is only known, by kind: the names are those of cluster/kinds.py.
MIRRORED: dict[str, Resource] = {
    "PersistentVolume": VOLUMES,
    "PersistentVolumeClaim": CLAIMS,
    "StorageClass": Resource("storage.k8s.io", "v1", "storageclasses"),
    "CSINode": Resource("storage.k8s.io", "v1", "csinodes"),
    "CSIDriver": Resource("storage.k8s.io", "v1", "csidrivers"),
    "CSIStorageCapacity": Resource("storage.k8s.io", "v1", "csistoragecapacities"),
    "VolumeAttachment": Resource("storage.k8s.io", "v1", "volumeattachments"),
    "ResourceClaim": RESOURCE_CLAIMS,
    "PodDisruptionBudget": Resource("policy", "v1", "poddisruptionbudgets"),
    "Service": Resource("", "v1", "services"),
    "ReplicationController": Resource("", "v1", "replicationcontrollers"),
    "ReplicaSet": Resource("apps", "v1", "replicasets"),
    "StatefulSet": Resource("apps", "v1", "statefulsets"),
}
# Kinds that an API server may lack: it has none of them then.
MAY_LACK = frozenset({"ResourceClaim"})


def resource_of(path: str) -> str:
    """What a path is about, without names, e.g. ``pods/binding``: few values, fit for a metric's label."""
    parts = path.strip("/").split("/")
    rest = parts[3:] if parts[0] == "apis" else parts[2:]
    if rest[:1] == ["namespaces"] and len(rest) > 2 and rest[2] not in {"status", "finalize"}:
        rest = rest[2:]
    return "/".join([rest[0], *rest[2:]]) if rest else "/".join(parts[:1])


def pending_selector(scheduler_name: str) -> str:
    """The field selector of the pods that wait for the scheduler."""
    return f"spec.nodeName=,spec.schedulerName={scheduler_name},status.phase=Pending"


# A terminal pod holds nothing any more; leaving the selector arrives as its deletion.
ASSIGNED_SELECTOR = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"
