"""Pending pods that preemption has made room for: where each is expected to go."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.cluster.row_log import NameLog


class Nominations:
    """Nominated pods by node; a pod is nominated to one node at most.

    A decision nominates before the API server has heard of it, and what the API server shows comes late: it counts
    where it is news, not where it repeats what was nominated before.

    Attributes:
        changed: names of nodes to which others are nominated.
    """

    def __init__(self) -> None:
        self.changed = NameLog()
        self._by_node: dict[str, dict[Uid, PodInfo]] = {}
        self._node_of: dict[Uid, str] = {}
        self._shown: dict[Uid, str] = {}

    def __len__(self) -> int:
        return len(self._node_of)

    def put(self, pod: PodInfo, node: str) -> Change | None:
        """Nominates the pod to the node, and to no other.

        One that asks for something else than before gives up what it asked for, one of other labels whom it kept away.
        """
        known = self._by_node.get(node, {}).get(pod.uid)
        ended = None if known is not None and _holds(known) == _holds(pod) else self.drop(pod.uid)
        self._by_node.setdefault(node, {})[pod.uid] = pod
        self.changed.mark(node)
        self._node_of[pod.uid] = node
        return ended

    def shown(self, pod: PodInfo) -> Change | None:
        """The pending pod as the API server shows it."""
        news = self._shown.get(pod.uid, "") != pod.nominated_node
        if news:
            self._shown[pod.uid] = pod.nominated_node
        node = pod.nominated_node if news else self.node_of(pod.uid)
        return self.put(pod, node) if node else self.drop(pod.uid)

    def drop(self, uid: Uid) -> Change | None:
        """The pod gives its node up; None where it had none."""
        node = self._node_of.pop(uid, None)
        if node is None:
            return None
        self.changed.mark(node)
        pods = self._by_node[node]
        pod = pods.pop(uid)
        if not pods:
            del self._by_node[node]
        return Change(ChangeKind.NOMINATION_ENDED, before=replace(pod, node=node))

    def forget(self, uid: Uid) -> Change | None:
        """The pod is pending no more."""
        self._shown.pop(uid, None)
        return self.drop(uid)

    def node_of(self, uid: Uid) -> str:
        """The node's name, "" where the pod is not nominated."""
        return self._node_of.get(uid, "")

    def nodes(self) -> Collection[str]:
        """Names of the nodes to which pods are nominated; they need not exist."""
        return self._by_node.keys()

    def pods_on(self, node: str) -> Iterable[PodInfo]:
        return self._by_node.get(node, {}).values()


def _holds(pod: PodInfo) -> tuple[object, ...]:
    """What is kept free for a nominated pod, and from whom."""
    return pod.requests, pod.priority, pod.host_ports, pod.labels
