"""NodeName: a pod that names its node runs there or nowhere."""

from __future__ import annotations

from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Snapshot
from plimsoll.filters.node_hints import admits_now


class NodeName:
    name = "NodeName"
    reason = "node(s) didn't match the requested node name"
    wakes = ChangeKind.NODE_ADDED

    def concerns(self, pod: PodInfo) -> bool:
        return bool(pod.node)

    def refuses(self, pod: PodInfo, node: NodeInfo) -> bool:
        return pod.node != node.name

    def helps(self, change: Change, pod: PodInfo, view: Snapshot) -> bool:  # noqa: ARG002
        """The node that the pod names came."""
        return admits_now(self, change, pod)
