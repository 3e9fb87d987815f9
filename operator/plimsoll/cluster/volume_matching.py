"""Which volume a claim may be bound to: component-helpers' ``FindMatchingVolume``, the part that no node decides."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from plimsoll.cluster.storage.claim import PersistentVolumeClaim
from plimsoll.cluster.storage.volume import PersistentVolume

_AVAILABLE = "Available"


@dataclass(frozen=True, slots=True)
class StaticBinding:
    """A claim and the volume that it is to be bound to."""

    claim: PersistentVolumeClaim
    volume: PersistentVolume


@dataclass(frozen=True, slots=True)
class PodVolumes:
    """What becomes of a pod's unbound claims on one node.

    Attributes:
        bindings: claims that take a volume that is there.
        provisions: claims for which a volume is to be made.
    """

    bindings: tuple[StaticBinding, ...] = ()
    provisions: tuple[PersistentVolumeClaim, ...] = ()


NO_VOLUMES = PodVolumes()


@dataclass(frozen=True, slots=True)
class Candidates:
    """Volumes for one claim.

    Attributes:
        prebound: somebody has bound them to the claim already; nothing else is taken.
        free: the others, the one to be preferred first: the smallest, then by name.
    """

    prebound: tuple[PersistentVolume, ...] = ()
    free: tuple[PersistentVolume, ...] = ()


def candidates(claim: PersistentVolumeClaim, volumes: Iterable[PersistentVolume]) -> Candidates:
    """Those of the volumes, all of the claim's class, that the claim may have wherever their node affinity allows."""
    fitting = [volume for volume in volumes if _fits(volume, claim)]
    free = [volume for volume in fitting if volume.claim_ref is None and _is_free_for(volume, claim)]
    return Candidates(
        prebound=tuple(volume for volume in fitting if is_bound_to(volume, claim)),
        free=tuple(sorted(free, key=lambda volume: (volume.capacity_bytes, volume.name))),
    )


def is_bound_to(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Whether the volume names the claim; one that a person wrote need not say the uid."""
    ref = volume.claim_ref
    if ref is None or (ref.namespace, ref.name) != (claim.namespace, claim.name):
        return False
    return not ref.uid or ref.uid == claim.uid


def _fits(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """What also a volume that names the claim must fulfil."""
    return (
        (volume.claim_ref is None or is_bound_to(volume, claim))
        and volume.capacity_bytes >= claim.request_bytes
        and volume.volume_mode == claim.volume_mode
        and volume.attributes_class == claim.attributes_class
        and not volume.deleting
    )


def _is_free_for(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    return (
        # A volume that is about to become available is left: taking it now would mostly end in a conflict.
        volume.phase == _AVAILABLE
        and (claim.selector is None or claim.selector.matches(volume.labels))
        and volume.storage_class == claim.storage_class
        and all(mode in volume.access_modes for mode in claim.access_modes)
    )
