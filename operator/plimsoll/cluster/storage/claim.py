"""A PersistentVolumeClaim."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.cluster.quantity import whole
from plimsoll.cluster.selectors import LabelSelector
from plimsoll.cluster.storage.reading import Json, read, storage_class_name
from plimsoll.cluster.workload import controller

BIND_COMPLETED_ANNOTATION = "pv.kubernetes.io/bind-completed"
SELECTED_NODE_ANNOTATION = "volume.kubernetes.io/selected-node"


@dataclass(frozen=True, slots=True)
class PersistentVolumeClaim:
    """What scheduling asks about a PersistentVolumeClaim.

    Attributes:
        volume: name of the volume that it has, or is to have; "" where none is named.
        bind_completed: the volume controller has finished binding.
        selected_node: the node that a volume is being made for; None where no scheduler has chosen one.
        storage_class: "" where it has none.
        requests_storage: it says how much it needs.
        selector: of volumes; None selects all.
        attributes_class: "" where it has none.
        controller_uid: of the pod for which it was made, with generic ephemeral volumes; "" where nothing controls it.
    """

    namespace: str
    name: str
    uid: str = ""
    resource_version: str = ""
    volume: str = ""
    bind_completed: bool = False
    selected_node: str | None = None
    storage_class: str = ""
    requests_storage: bool = False
    request_bytes: int = 0
    access_modes: tuple[str, ...] = ()
    selector: LabelSelector | None = None
    volume_mode: str = "Filesystem"
    attributes_class: str = ""
    phase: str = ""
    deleting: bool = False
    controller_uid: str = ""

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def bound(self) -> bool:
        """For good: kube-scheduler's ``isPVCFullyBound``."""
        return bool(self.volume) and self.bind_completed

    @classmethod
    def parse(cls, claim: Json) -> PersistentVolumeClaim:
        """Raises ObjectError."""
        return read("PersistentVolumeClaim", claim, _parse)


def _parse(claim: Json) -> PersistentVolumeClaim:
    metadata, spec = claim["metadata"], claim.get("spec") or {}
    annotations = metadata.get("annotations") or {}
    requests = (spec.get("resources") or {}).get("requests") or {}
    selector = spec.get("selector")
    return PersistentVolumeClaim(
        namespace=metadata["namespace"],
        name=metadata["name"],
        uid=metadata.get("uid") or "",
        resource_version=metadata.get("resourceVersion") or "",
        volume=spec.get("volumeName") or "",
        bind_completed=BIND_COMPLETED_ANNOTATION in annotations,
        selected_node=annotations.get(SELECTED_NODE_ANNOTATION),
        storage_class=storage_class_name(claim),
        requests_storage="storage" in requests,
        request_bytes=whole(requests.get("storage", 0)),
        access_modes=tuple(spec.get("accessModes") or ()),
        selector=None if selector is None else LabelSelector.parse(selector),
        volume_mode=spec.get("volumeMode") or "Filesystem",
        attributes_class=spec.get("volumeAttributesClassName") or "",
        phase=(claim.get("status") or {}).get("phase") or "",
        deleting=bool(metadata.get("deletionTimestamp")),
        controller_uid=(controller(metadata) or {}).get("uid") or "",
    )
