"""Every sentence with which kube-scheduler 1.36's default profile refuses a pod or a node, names left out."""

from collections import Counter

_FULL = 20_000
# Where fewer than so many pods of a full run met one, the run says nothing about it and fails.
AT_LEAST = 50

UPSTREAM: tuple[str, ...] = (
    "node(s) were unschedulable",
    "node(s) had untolerated taint(s)",
    "node(s) didn't match Pod's node affinity/selector",
    "node(s) didn't satisfy plugin(s) [NodeAffinity]",
    "pod affinity terms conflict",
    "node(s) didn't have free ports for the requested pod ports",
    "Too many pods",
    "Insufficient cpu",
    "Insufficient memory",
    "Insufficient ephemeral-storage",
    "Insufficient example.com/gpu",
    "Insufficient hugepages-2Mi",
    "node(s) had no available disk",
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
    "node(s) exceed max volume count",
    'persistentvolumeclaim "..." not found',
    'waiting for ephemeral volume controller to create the persistentvolumeclaim "..."',
    'persistentvolumeclaim "..." bound to non-existent persistentvolume "..."',
    'persistentvolumeclaim "..." is being deleted',
    "pod has unbound immediate PersistentVolumeClaims",
    "node(s) didn't find available persistent volumes to bind",
    "node(s) didn't match PersistentVolume's node affinity",
    "node(s) did not have enough free storage",
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
    "node(s) had no available volume zone",
    "node(s) didn't match pod topology spread constraints",
    "node(s) didn't match pod topology spread constraints (missing required label)",
    "node(s) didn't match pod affinity rules",
    "node(s) didn't match pod anti-affinity rules",
    "node(s) didn't satisfy existing pods anti-affinity rules",
    "resourceclaim not available on the node",
    "node(s) didn't match Pod's required features",
)

# What the sentence of the whole attempt says besides: PostFilter's words, and those of a cluster without nodes.
SAYINGS: tuple[str, ...] = (
    "no nodes available to schedule pods",
    "no new claims to deallocate",
    "still not schedulable",
    "deallocation of ResourceClaim completed",
    "No preemption victims found for incoming pod",
    "Preemption is not helpful for scheduling",
    "not eligible due to preemptionPolicy=Never.",
    "not eligible due to a terminating pod on the nominated node.",
)


def missed(reasons: Counter[str], *, pods: int) -> dict[str, int]:
    """Sentences that a full run met too rarely to say anything about; a shorter run is not asked."""
    if pods < _FULL:
        return {}
    return {reason: reasons[reason] for reason in (*UPSTREAM, *SAYINGS) if reasons[reason] < AT_LEAST}
