"""A PersistentVolume."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from plimsoll.cluster.labels import labels_of
from plimsoll.cluster.quantity import whole
from plimsoll.cluster.selectors import NodeSelector
from plimsoll.cluster.storage.handles import Handle
from plimsoll.cluster.storage.in_tree import InTreeVolume, in_tree_volume
from plimsoll.cluster.storage.reading import Json, read, storage_class_name


class ClaimRef(NamedTuple):
    """The claim that a volume is bound to; a person who binds one ahead need not write the uid."""

    namespace: str
    name: str
    uid: str = ""


@dataclass(frozen=True, slots=True)
class PersistentVolume:
    """What scheduling asks about a PersistentVolume.

    Attributes:
        storage_class: "" where it has none.
        volume_mode: ``Filesystem`` unless it says otherwise.
        attributes_class: "" where it has none.
        node_affinity: None allows every node.
        csi: what it is to its CSI driver; None for volumes of any other kind.
        in_tree: what it becomes where the kubelet hands it to a CSI driver; None where there is no such driver.
    """

    name: str
    uid: str = ""
    resource_version: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    capacity_bytes: int = 0
    access_modes: tuple[str, ...] = ()
    storage_class: str = ""
    volume_mode: str = "Filesystem"
    attributes_class: str = ""
    node_affinity: NodeSelector | None = None
    claim_ref: ClaimRef | None = None
    phase: str = ""
    deleting: bool = False
    csi: Handle | None = None
    in_tree: InTreeVolume | None = None

    @property
    def key(self) -> str:
        return self.name

    @classmethod
    def parse(cls, volume: Json) -> PersistentVolume:
        """Raises ObjectError."""
        return read("PersistentVolume", volume, _parse)


def _parse(volume: Json) -> PersistentVolume:
    metadata, spec = volume["metadata"], volume.get("spec") or {}
    required = (spec.get("nodeAffinity") or {}).get("required")
    return PersistentVolume(
        name=metadata["name"],
        uid=metadata.get("uid") or "",
        resource_version=metadata.get("resourceVersion") or "",
        labels=dict(labels_of(metadata)),
        capacity_bytes=whole((spec.get("capacity") or {}).get("storage", 0)),
        access_modes=tuple(spec.get("accessModes") or ()),
        storage_class=storage_class_name(volume),
        volume_mode=spec.get("volumeMode") or "Filesystem",
        attributes_class=spec.get("volumeAttributesClassName") or "",
        node_affinity=None if required is None else NodeSelector.parse(required),
        claim_ref=_claim_ref(spec.get("claimRef")),
        phase=(volume.get("status") or {}).get("phase") or "",
        deleting=bool(metadata.get("deletionTimestamp")),
        csi=_csi(spec.get("csi")),
        in_tree=in_tree_volume(volume),
    )


def _claim_ref(ref: Json | None) -> ClaimRef | None:
    if ref is None:
        return None
    return ClaimRef(ref.get("namespace") or "", ref.get("name") or "", ref.get("uid") or "")


def _csi(source: Json | None) -> Handle | None:
    if source is None:
        return None
    return Handle(source.get("driver") or "", source.get("volumeHandle") or "")
