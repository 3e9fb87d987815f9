"""NodeUnschedulable: cordoned nodes, unless the pod tolerates the cordon's taint.

The field itself is read: the taint follows it with delay, and without the node controller never comes.
"""

from __future__ import annotations

from plimsoll.cluster.changes import ChangeKind
from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.taints import CORDON, tolerated


class NodeUnschedulable:
    name = "NodeUnschedulable"
    reason = "node(s) were unschedulable"
    wakes = ChangeKind.NODE_ADDED | ChangeKind.NODE_SCHEDULABLE

    def concerns(self, pod: PodInfo) -> bool:
        return not tolerated(CORDON, pod.tolerations)

    def refuses(self, pod: PodInfo, node: NodeInfo) -> bool:  # noqa: ARG002
        return node.unschedulable
