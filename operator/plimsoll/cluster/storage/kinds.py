"""The kinds of objects that the store of storage keeps."""

from __future__ import annotations

from plimsoll.cluster.changes import ChangeKind
from plimsoll.cluster.objects import Kind
from plimsoll.cluster.storage import store
from plimsoll.cluster.storage.attachment import VolumeAttachment
from plimsoll.cluster.storage.claim import PersistentVolumeClaim
from plimsoll.cluster.storage.csi import CSIDriver, CSINode, CSIStorageCapacity
from plimsoll.cluster.storage.storage_class import StorageClass
from plimsoll.cluster.storage.volume import PersistentVolume

_STORE = "storage"

STORAGE_KINDS: tuple[Kind, ...] = (
    Kind(store.VOLUME, PersistentVolume.parse, changed=ChangeKind.VOLUME, store=_STORE),
    Kind(store.CLAIM, PersistentVolumeClaim.parse, changed=ChangeKind.CLAIM, store=_STORE),
    Kind(store.STORAGE_CLASS, StorageClass.parse, changed=ChangeKind.STORAGE_CLASS, store=_STORE),
    Kind(store.CSI_NODE, CSINode.parse, changed=ChangeKind.CSI_NODE, store=_STORE),
    Kind(store.CSI_DRIVER, CSIDriver.parse, changed=ChangeKind.CSI_DRIVER, store=_STORE),
    Kind(store.STORAGE_CAPACITY, CSIStorageCapacity.parse, changed=ChangeKind.STORAGE_CAPACITY, store=_STORE),
    Kind(store.ATTACHMENT, VolumeAttachment.parse, gone=ChangeKind.VOLUME_ATTACHMENT_DELETED, store=_STORE),
)
