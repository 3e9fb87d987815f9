"""TaintToleration: NoSchedule and NoExecute taints that the pod does not tolerate.

Node conditions are not read, only the taints that the node controller makes of them.
"""

from __future__ import annotations

from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Snapshot
from plimsoll.cluster.taints import tolerated
from plimsoll.filters.node_hints import admits_now


class TaintToleration:
    name = "TaintToleration"
    reason = "node(s) had untolerated taint(s)"
    wakes = ChangeKind.NODE_ADDED | ChangeKind.NODE_TAINTS

    def concerns(self, pod: PodInfo) -> bool:  # noqa: ARG002
        return True

    def refuses(self, pod: PodInfo, node: NodeInfo) -> bool:
        return any(taint.hard and not tolerated(taint, pod.tolerations) for taint in node.taints)

    def helps(self, change: Change, pod: PodInfo, view: Snapshot) -> bool:  # noqa: ARG002
        """A node that came, or whose taints changed, with none that the pod does not tolerate."""
        return admits_now(self, change, pod)
