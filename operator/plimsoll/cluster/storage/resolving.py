"""Which volume a claim stands for, as its CSI driver counts it: NodeVolumeLimits' ``getCSIDriverInfo``."""

from __future__ import annotations

from plimsoll.cluster.storage.claim import PersistentVolumeClaim
from plimsoll.cluster.storage.handles import Handle
from plimsoll.cluster.storage.in_tree import provisioner_driver
from plimsoll.cluster.storage.storage_class import StorageClass
from plimsoll.cluster.storage.volume import PersistentVolume

# No driver has such a handle: they name what exists.
_TO_BE_MADE = "\0to be made for "


def claim_handle(
    claim: PersistentVolumeClaim, volume: PersistentVolume | None, storage_class: StorageClass | None
) -> Handle | None:
    """None where no CSI driver counts it.

    Args:
        volume: the claim's; None where it has none, or it is not there.
        storage_class: the claim's; None where it has none, or it is not there.
    """
    handle = _to_be_made(claim, storage_class) if volume is None else volume_handle(volume)
    return handle if handle is not None and handle.driver and handle.volume else None


def volume_handle(volume: PersistentVolume) -> Handle | None:
    if volume.csi is not None:
        return volume.csi
    return None if volume.in_tree is None else volume.in_tree.handle


def _to_be_made(claim: PersistentVolumeClaim, storage_class: StorageClass | None) -> Handle | None:
    """A claim without a class is bound before any pod of its is placed, and counted then."""
    if storage_class is None:
        return None
    return Handle(provisioner_driver(storage_class.provisioner), f"{_TO_BE_MADE}{claim.key}")
