"""What may help a pod that PodTopologySpread rejected (kube-scheduler's isSchedulableAfterPodChange/NodeChange)."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.pod_terms import PodSelector
from plimsoll.cluster.snapshot import Snapshot
from plimsoll.cluster.spread import SpreadConstraint
from plimsoll.filters.node_inclusion import affine
from plimsoll.filters.waiting import Key, SelectedPods

_NODES = ChangeKind.NODE_ADDED | ChangeKind.NODE_DELETED | ChangeKind.NODE_LABELS | ChangeKind.NODE_TAINTS
_PODS = ChangeKind.POD_ADDED | ChangeKind.POD_DELETED | ChangeKind.POD_DELETING | ChangeKind.NOMINATION_ENDED
WAKES = _NODES | _PODS | ChangeKind.POD_LABELS


def helps(change: Change, pod: PodInfo) -> bool:
    constraints = [constraint for constraint in pod.spread if constraint.hard]
    if change.kind & _NODES:
        return _node_helps(change.before, change.after, pod, constraints)
    involved = [p for p in (change.before, change.after) if p is not None and p.namespace == pod.namespace]
    if change.kind & _PODS:
        return any(constraint.selects(p.labels) for p in involved for constraint in constraints)
    return any(len({constraint.selects(p.labels) for p in involved}) > 1 for constraint in constraints)


def _node_helps(
    before: NodeInfo | None, after: NodeInfo | None, pod: PodInfo, constraints: Iterable[SpreadConstraint]
) -> bool:
    keys = [constraint.topology_key for constraint in constraints]
    counted = [node is not None and all(key in node.labels for key in keys) for node in (before, after)]
    if before is None or after is None or counted[0] != counted[1]:
        return any(counted)
    return counted[1] and (
        any(before.labels[key] != after.labels[key] for key in keys)
        or before.taints != after.taints
        or affine(pod, before) != affine(pod, after)
    )


class WaitingForSpread:
    """Waiting pods by the pods that their constraints count."""

    def __init__(self) -> None:
        self._counted = SelectedPods()

    def add(self, key: Key, pod: PodInfo) -> None:
        here = frozenset((pod.namespace,))
        self._counted.add(key, (PodSelector(here, constraint.selector) for constraint in pod.spread if constraint.hard))

    def remove(self, key: Key) -> None:
        self._counted.remove(key)

    def candidates(self, change: Change, view: Snapshot) -> Iterable[Key] | None:  # noqa: ARG002
        return None if change.kind & _NODES else self._counted.selecting((change.before, change.after))
