"""What makes waiting pods alike: everything that a filter or a hint reads of them.

Replicas with a label of their own (of a StatefulSet, of an indexed Job) are alike all the same while nobody reads
their labels: neither what rejected them nor a constraint of their own.
"""

from __future__ import annotations

from dataclasses import fields
from operator import attrgetter

from plimsoll.cluster.pod import PodInfo
from plimsoll.filters.order import POLICY
from plimsoll.scheduling.queue.queued import QueuedPod

# Who a pod is, what became of it, and what only scores look at.
_IDENTITY = {
    *("uid", "name", "resource_version", "generation", "owner", "ignored"),
    *("nominated_node", "phase", "giving_way", "created_s", "scheduled_s", "started_s", "running_s"),
    *("preferred_nodes", "preferred_affinity", "preferred_anti_affinity", "images", "containers"),
    "labels",
}
# Who reads the labels of the pod that it rejects.
_READ_LABELS = frozenset({"PodTopologySpread", "InterPodAffinity", POLICY})
_asked_for = attrgetter(*(f.name for f in fields(PodInfo) if f.name not in _IDENTITY))


def likeness(queued: QueuedPod) -> str:
    """Equal for pods that every filter treats alike, under one policy."""
    if queued.likeness is None:
        own = queued.pod.uid if _owns_claims(queued.pod) else ""
        labels = queued.pod.labels if labels_count(queued) else ""
        queued.likeness = f"{own} {queued.policy} {labels} {_asked_for(queued.pod)!r}"
    return queued.likeness


def labels_count(queued: QueuedPod) -> bool:
    """Whether its labels had a say in its last attempt, or may have in the next."""
    pod = queued.pod
    constrained = pod.required_affinity or pod.required_anti_affinity or pod.spread
    return queued.by_labels or bool(constrained) or bool(queued.rejected_by & _READ_LABELS)


def _owns_claims(pod: PodInfo) -> bool:
    """Claims that are made for one pod, or reserved for it, ask who it is."""
    return bool(pod.resource_claims) or any(use.ephemeral for use in pod.volumes.claims)
