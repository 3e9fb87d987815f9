"""What of a node or pod changed so that a waiting pod may fit now that did not before."""

from __future__ import annotations

from operator import attrgetter

from plimsoll.cluster.changes import ChangeKind
from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.pod import PodInfo


def node_difference(before: NodeInfo, after: NodeInfo) -> ChangeKind:
    kind = ChangeKind(0)
    if before.labels != after.labels:
        kind |= ChangeKind.NODE_LABELS
    if before.taints != after.taints:
        kind |= ChangeKind.NODE_TAINTS
    if before.unschedulable and not after.unschedulable:
        kind |= ChangeKind.NODE_SCHEDULABLE
    if any(value > before.allocatable.get(name, 0) for name, value in after.allocatable.items()):
        kind |= ChangeKind.NODE_ALLOCATABLE
    if before.features != after.features:
        kind |= ChangeKind.NODE_FEATURES
    return kind


def pod_difference(before: PodInfo, after: PodInfo) -> ChangeKind:
    """Of two states of a pod on the same node."""
    kind = ChangeKind(0)
    if any(value > after.requests.get(name, 0) for name, value in before.requests.items()):
        kind |= ChangeKind.POD_SHRUNK
    if before.labels != after.labels:
        kind |= ChangeKind.POD_LABELS
    if after.deleting and not before.deleting:
        kind |= ChangeKind.POD_DELETING
    return kind


# What the snapshot counts of a pod on a node, or finds it by, beside its labels.
_COUNTED = attrgetter(
    "node",
    "requests",
    "priority",
    "deleting",
    "workload",
    "host_ports",
    "volumes",
    "expected_network",
    "required_affinity",
    "required_anti_affinity",
    "preferred_affinity",
    "preferred_anti_affinity",
)


def counts_alike(before: PodInfo, after: PodInfo) -> bool:
    """Of two states of a pod: whether nothing that is counted is different, but for how its labels count."""
    return _COUNTED(before) == _COUNTED(after)


def labelled_alike(before: PodInfo, after: PodInfo) -> bool:
    """Labels in another order are found elsewhere."""
    return before.labels == after.labels and list(before.labels) == list(after.labels)
