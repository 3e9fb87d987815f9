"""NodeDeclaredFeatures: nodes whose kubelet has what the pod's spec makes use of."""

from __future__ import annotations

from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Snapshot
from plimsoll.filters.node_hints import admits_now


class NodeDeclaredFeatures:
    name = "NodeDeclaredFeatures"
    reason = "node(s) didn't match Pod's required features"
    wakes = ChangeKind.NODE_ADDED | ChangeKind.NODE_FEATURES

    def concerns(self, pod: PodInfo) -> bool:
        return bool(pod.features)

    def refuses(self, pod: PodInfo, node: NodeInfo) -> bool:
        return not pod.features <= node.features

    def helps(self, change: Change, pod: PodInfo, view: Snapshot) -> bool:  # noqa: ARG002
        return admits_now(self, change, pod)
