"""NodeAffinity: nodeSelector and required node affinity, both."""

from __future__ import annotations

from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.selectors import selects_node
from plimsoll.cluster.snapshot import Snapshot
from plimsoll.filters.node_hints import admits_now

CONFLICT = "pod affinity terms conflict"
OUTSIDE = "node(s) didn't satisfy plugin(s) [NodeAffinity]"


class NodeAffinity:
    name = "NodeAffinity"
    reason = "node(s) didn't match Pod's node affinity/selector"
    wakes = ChangeKind.NODE_ADDED | ChangeKind.NODE_LABELS

    def concerns(self, pod: PodInfo) -> bool:
        return bool(pod.node_selector) or pod.node_affinity is not None

    def refuses(self, pod: PodInfo, node: NodeInfo) -> bool:
        return not selects_node(pod.node_selector, pod.node_affinity, labels=node.labels, name=node.name)

    def helps(self, change: Change, pod: PodInfo, view: Snapshot) -> bool:  # noqa: ARG002
        """A node that came, or whose labels changed, and that matches now."""
        return admits_now(self, change, pod)


def candidates(pod: PodInfo) -> frozenset[str] | None:
    """Names of the only nodes worth looking at, where every term names nodes; None: all of them."""
    return None if pod.node_affinity is None else pod.node_affinity.names()
