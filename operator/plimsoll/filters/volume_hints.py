"""What the hints of several volume filters ask."""

from __future__ import annotations

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.storage.claim import PersistentVolumeClaim


def uses_claim(pod: PodInfo, claim: PersistentVolumeClaim, *, ephemeral: bool) -> bool:
    """Args:
    ephemeral: claims that are made for the pod count as well.
    """
    if claim.namespace != pod.namespace:
        return False
    return any(use.claim == claim.name and (ephemeral or not use.ephemeral) for use in pod.volumes.claims)
