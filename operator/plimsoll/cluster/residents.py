"""Which pods are on which node, in the order in which they came."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.cluster.row_log import NameLog


class Residents:
    """Assigned and assumed pods by node name, also of nodes that are not there (yet, or any more).

    Attributes:
        changed: names of nodes on which a pod came, or is another than it was. That one goes changes the node's row.
    """

    def __init__(self) -> None:
        self.changed = NameLog()
        self._by_node: dict[str, dict[Uid, PodInfo]] = {}

    def add(self, pod: PodInfo) -> None:
        self._by_node.setdefault(pod.node, {})[pod.uid] = pod
        self.changed.mark(pod.node)

    def remove(self, pod: PodInfo) -> None:
        pods = self._by_node[pod.node]
        del pods[pod.uid]
        if not pods:
            del self._by_node[pod.node]

    def on(self, node: str) -> Iterable[PodInfo]:
        return self._by_node.get(node, {}).values()

    def count(self, node: str) -> int:
        """How many there are."""
        return len(self._by_node.get(node, ()))
