"""The store of everything about storage, with the indexes that filters ask."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from plimsoll.cluster.changes import Change
from plimsoll.cluster.objects import ApiObject, Kind
from plimsoll.cluster.storage.attachment import VolumeAttachment
from plimsoll.cluster.storage.claim import PersistentVolumeClaim
from plimsoll.cluster.storage.csi import CSIDriver, CSINode, CSIStorageCapacity
from plimsoll.cluster.storage.groups import Groups
from plimsoll.cluster.storage.handles import Handle
from plimsoll.cluster.storage.resolving import claim_handle
from plimsoll.cluster.storage.storage_class import StorageClass
from plimsoll.cluster.storage.uses import VolumeUses
from plimsoll.cluster.storage.volume import PersistentVolume

VOLUME, CLAIM, STORAGE_CLASS = "PersistentVolume", "PersistentVolumeClaim", "StorageClass"
CSI_NODE, CSI_DRIVER, STORAGE_CAPACITY = "CSINode", "CSIDriver", "CSIStorageCapacity"
ATTACHMENT = "VolumeAttachment"

_NO_LIMITS: Mapping[str, int] = {}
# Groups takes "" for no group; no class has this name.
_CLASSLESS = "\0"


class Storage:
    """Attributes:
    uses: what pods on the nodes mount.
    """

    def __init__(self) -> None:
        self.uses = VolumeUses(self.handle)
        self._volumes: dict[str, PersistentVolume] = {}
        self._claims: dict[str, PersistentVolumeClaim] = {}
        self._classes: dict[str, StorageClass] = {}
        self._csi_nodes: dict[str, CSINode] = {}
        self._csi_drivers: dict[str, CSIDriver] = {}
        self._capacities: dict[str, CSIStorageCapacity] = {}
        self._attachments: dict[str, VolumeAttachment] = {}
        self._limits: dict[str, dict[str, int]] = {}
        self._volumes_by_class, self._capacities_by_class, self._claims_by_class = Groups(), Groups(), Groups()
        self._claims_by_volume, self._attachments_by_volume = Groups(), Groups()
        self._tables: dict[str, tuple[dict[str, Any], Callable[[str, Any, Any], None]]] = {
            VOLUME: (self._volumes, self._volume_changed),
            CLAIM: (self._claims, self._claim_changed),
            STORAGE_CLASS: (self._classes, self._class_changed),
            CSI_NODE: (self._csi_nodes, self._csi_node_changed),
            CSI_DRIVER: (self._csi_drivers, _nothing_derived),
            STORAGE_CAPACITY: (self._capacities, self._capacity_changed),
            ATTACHMENT: (self._attachments, self._attachment_changed),
        }

    # -- read -----------------------------------------------------------------------------------------

    def volume(self, name: str) -> PersistentVolume | None:
        return self._volumes.get(name)

    def claim(self, namespace: str, name: str) -> PersistentVolumeClaim | None:
        return self._claims.get(f"{namespace}/{name}")

    def storage_class(self, name: str) -> StorageClass | None:
        return self._classes.get(name)

    def csi_node(self, name: str) -> CSINode | None:
        return self._csi_nodes.get(name)

    def csi_driver(self, name: str) -> CSIDriver | None:
        return self._csi_drivers.get(name)

    def volumes_of_class(self, name: str) -> Iterator[PersistentVolume]:
        """Those without a class where the name is ""."""
        return (self._volumes[key] for key in self._volumes_by_class.of(name or _CLASSLESS))

    def capacities_of(self, class_name: str) -> Iterator[CSIStorageCapacity]:
        return (self._capacities[key] for key in self._capacities_by_class.of(class_name))

    def limits(self, driver: str) -> Mapping[str, int]:
        """How many of the driver's volumes a node can have attached, by the names of the nodes that have a limit."""
        return self._limits.get(driver, _NO_LIMITS)

    def handle(self, claim: str) -> Handle | None:
        """Which volume the claim (``namespace/name``) stands for; None where no CSI driver counts it."""
        found = self._claims.get(claim)
        if found is None:
            return None
        return claim_handle(found, self._volumes.get(found.volume), self._classes.get(found.storage_class))

    # -- written by the cache only --------------------------------------------------------------------

    def put(self, kind: Kind, thing: ApiObject) -> Change | None:
        table, changed = self._tables[kind.name]
        before = table.get(thing.key)
        table[thing.key] = thing
        if before is not None and _alike(before, thing):
            return None
        changed(thing.key, before, thing)
        return Change(kind.changed, before=before, after=thing)

    def drop(self, kind: Kind, key: str) -> Change | None:
        table, changed = self._tables[kind.name]
        before = table.pop(key, None)
        if before is None:
            return None
        changed(key, before, None)
        return Change(kind.gone, before=before)

    def _volume_changed(self, name: str, before: PersistentVolume | None, after: PersistentVolume | None) -> None:
        self._volumes_by_class.put(name, "" if after is None else after.storage_class or _CLASSLESS)
        if before is not None and after is not None and (before.csi, before.in_tree) == (after.csi, after.in_tree):
            return
        self.uses.claims_changed(self._claims_by_volume.of(name))
        for attachment in self._attachments_by_volume.of(name):
            self._attachment_counts(attachment)

    def _claim_changed(self, key: str, _: object, after: PersistentVolumeClaim | None) -> None:
        self._claims_by_volume.put(key, "" if after is None else after.volume)
        self._claims_by_class.put(key, "" if after is None else after.storage_class)
        self.uses.claims_changed((key,))

    def _class_changed(self, name: str, before: StorageClass | None, after: StorageClass | None) -> None:
        if before is None or after is None or before.provisioner != after.provisioner:
            self.uses.claims_changed(self._claims_by_class.of(name))

    def _csi_node_changed(self, name: str, before: CSINode | None, after: CSINode | None) -> None:
        for driver in () if before is None else before.limits:
            limits = self._limits[driver]
            del limits[name]
            if not limits:
                del self._limits[driver]
        for driver, limit in () if after is None else after.limits.items():
            self._limits.setdefault(driver, {})[name] = limit

    def _capacity_changed(self, key: str, _: object, after: CSIStorageCapacity | None) -> None:
        self._capacities_by_class.put(key, "" if after is None else after.storage_class)

    def _attachment_changed(self, name: str, _: object, after: VolumeAttachment | None) -> None:
        self._attachments_by_volume.put(name, "" if after is None else after.volume)
        self._attachment_counts(name)

    def _attachment_counts(self, name: str) -> None:
        attachment = self._attachments.get(name)
        volume = None if attachment is None else self._volumes.get(attachment.volume)
        self.uses.attachment_changed(name, attachment, None if volume is None else volume.csi)


def _nothing_derived(key: str, before: object, after: object) -> None:
    """Looked up by name alone."""


def _alike(before: Any, after: Any) -> bool:
    """But for the version, which counts every write to the object."""
    if not hasattr(after, "resource_version"):
        return bool(before == after)
    return bool(replace(before, resource_version=after.resource_version) == after)
