"""The hint of a filter that judges by the node alone."""

from __future__ import annotations

from typing import Protocol

from plimsoll.cluster.changes import Change
from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.pod import PodInfo


class Refuses(Protocol):
    def refuses(self, pod: PodInfo, node: NodeInfo) -> bool: ...


def admits_now(node_filter: Refuses, change: Change, pod: PodInfo) -> bool:
    """Whether the node is new, or refused the pod before, and does not refuse it now."""
    if not isinstance(change.after, NodeInfo):
        return True
    if node_filter.refuses(pod, change.after):
        return False
    return change.before is None or node_filter.refuses(pod, change.before)
