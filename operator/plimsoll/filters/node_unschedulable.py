"""NodeUnschedulable: cordoned nodes, unless the pod tolerates the cordon's taint.

The field itself is read: the taint follows it with delay, and without the node controller never comes.
"""

from __future__ import annotations

from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Snapshot
from plimsoll.cluster.taints import CORDON, tolerated
from plimsoll.filters.node_hints import admits_now


class NodeUnschedulable:
    name = "NodeUnschedulable"
    reason = "node(s) were unschedulable"
    wakes = ChangeKind.NODE_ADDED | ChangeKind.NODE_SCHEDULABLE

    def concerns(self, pod: PodInfo) -> bool:
        return not tolerated(CORDON, pod.tolerations)

    def refuses(self, pod: PodInfo, node: NodeInfo) -> bool:  # noqa: ARG002
        return node.unschedulable

    def helps(self, change: Change, pod: PodInfo, view: Snapshot) -> bool:  # noqa: ARG002
        """A node that came uncordoned, or was uncordoned."""
        return admits_now(self, change, pod)
