"""A pod's claims, sorted by what is to become of them: VolumeBinding's PreFilter."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.pod_volumes import ClaimUse
from plimsoll.cluster.snapshot import Snapshot
from plimsoll.cluster.storage.claim import PersistentVolumeClaim
from plimsoll.cluster.storage.storage_class import WAIT_FOR_FIRST_CONSUMER
from plimsoll.filters.interface import Code, Problem

_LOST = "Lost"


@dataclass(frozen=True, slots=True)
class PodClaims:
    """In the order of the pod's volumes; a claim that several of them name stands as often.

    Attributes:
        bound: bound for good.
        delayed: to be bound, or provided for, once a node is chosen; as they are assumed to be.
    """

    bound: tuple[PersistentVolumeClaim, ...]
    delayed: tuple[PersistentVolumeClaim, ...]


def claims_of(view: Snapshot, pod: PodInfo) -> PodClaims | Problem:
    """The claims, or what keeps the pod from every node."""
    claims: list[PersistentVolumeClaim] = []
    for use in pod.volumes.claims:
        claim = view.storage.claim(pod.namespace, use.claim)
        if message := _unusable(pod, use, claim):
            return Problem(message)
        assert claim is not None
        claims.append(view.assumed_volumes.claim(claim))
    return _sorted(view, claims)


def _unusable(pod: PodInfo, use: ClaimUse, claim: PersistentVolumeClaim | None) -> str:
    """kube-scheduler's ``podHasPVCs``; "" where the claim can be used."""
    if claim is None:
        if use.ephemeral:
            return f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{use.claim}"'
        return f'persistentvolumeclaim "{use.claim}" not found'
    if claim.phase == _LOST:
        return f'persistentvolumeclaim "{claim.name}" bound to non-existent persistentvolume "{claim.volume}"'
    if claim.deleting:
        return f'persistentvolumeclaim "{claim.name}" is being deleted'
    if use.ephemeral and claim.controller_uid != pod.uid:
        return f"PVC {claim.key} was not created for pod {pod.key} (pod is not owner)"
    return ""


def _sorted(view: Snapshot, claims: list[PersistentVolumeClaim]) -> PodClaims | Problem:
    """A claim that is to be bound at once, and is not, has no volume yet: nobody knows where that will be."""
    bound, delayed = [], []
    for claim in claims:
        if claim.bound:
            bound.append(claim)
            continue
        storage_class = view.storage.storage_class(claim.storage_class)
        if storage_class is not None and not storage_class.binding_mode:
            return Problem(f'VolumeBindingMode not set for StorageClass "{storage_class.name}"', Code.ERROR)
        # What a person has bound is the volume controller's to finish, whatever the class.
        if storage_class is not None and storage_class.binding_mode == WAIT_FOR_FIRST_CONSUMER and not claim.volume:
            delayed.append(claim)
    if len(bound) + len(delayed) < len(claims):
        return Problem("pod has unbound immediate PersistentVolumeClaims")
    return PodClaims(tuple(bound), tuple(delayed))
