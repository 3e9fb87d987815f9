"""The cache: nodes and the pods on them, kept up to date by watches and by our own assumptions.

A pod is assumed on its node before the Binding is sent, so that the next decision sees it; the watch of assigned
pods confirms it; a failed Binding forgets it. There is no expiry: what is assumed stays until somebody says
otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.cluster.snapshot import Snapshot


class Cache:
    """Owner of the Snapshot; every method that changes it answers with the Changes that others may wait for."""

    def __init__(self) -> None:
        self.view = Snapshot()
        self._pods: dict[Uid, PodInfo] = {}
        self._assumed: set[Uid] = set()
        # Also of nodes that are not there (yet, or any more): their pods count as soon as the node is.
        self._by_node: dict[str, set[Uid]] = {}

    # -- nodes ----------------------------------------------------------------------------------------

    def put_node(self, node: NodeInfo) -> Change | None:
        """A node that is new or has changed; None where nothing that scheduling looks at is different."""
        before = self._node(node.name)
        if before is None:
            row = self.view.put(node)
            for uid in self._by_node.get(node.name, ()):
                self._count(self._pods[uid], row, sign=1)
            return Change(ChangeKind.NODE_ADDED, node=node.name)
        if replace(before, resource_version=node.resource_version) == node:
            return None
        self.view.put(node)
        kind = _difference(before, node)
        return Change(kind, node=node.name) if kind else None

    def drop_node(self, name: str) -> Change | None:
        row = self.view.row_of.get(name)
        if row is None:
            return None
        for uid in self._by_node.get(name, ()):
            self._count(self._pods[uid], row, sign=-1)
        self.view.drop(name)
        return Change(ChangeKind.NODE_DELETED, node=name)

    def _node(self, name: str) -> NodeInfo | None:
        row = self.view.row_of.get(name)
        return None if row is None else self.view.nodes[row]

    # -- pods -----------------------------------------------------------------------------------------

    def put_pod(self, pod: PodInfo) -> Change | None:
        """An assigned pod as the watch shows it; confirms an assumption. A terminal pod is as good as deleted."""
        if pod.terminal:
            return self.drop_pod(pod.uid)
        before = self._pods.get(pod.uid)
        self._assumed.discard(pod.uid)
        if before is not None:
            self._take_off(before)
        self._put_on(pod)
        if before is None:
            return Change(ChangeKind.POD_ADDED, node=pod.node, pod=pod)
        if before.node != pod.node:
            # Somebody else bound what we had assumed elsewhere: the room there is free again.
            return Change(ChangeKind.POD_DELETED | ChangeKind.POD_ADDED, node=before.node, pod=before)
        kind = _pod_difference(before, pod)
        return Change(kind, node=pod.node, pod=before) if kind else None

    def drop_pod(self, uid: Uid) -> Change | None:
        pod = self._pods.get(uid)
        if pod is None:
            return None
        self._assumed.discard(uid)
        self._take_off(pod)
        return Change(ChangeKind.POD_DELETED, node=pod.node, pod=pod)

    def assume(self, pod: PodInfo, node: str) -> PodInfo:
        """Counts the pod on the node before the Binding is sent; answers with the pod as it is counted."""
        if pod.uid in self._pods:
            raise ValueError(f"pod {pod.key} is on node {self._pods[pod.uid].node} already")
        assumed = replace(pod, node=node)
        self._put_on(assumed)
        self._assumed.add(pod.uid)
        return assumed

    def forget(self, uid: Uid) -> Change | None:
        """Undoes an assumption; None where the pod was confirmed or is gone meanwhile."""
        return self.drop_pod(uid) if uid in self._assumed else None

    def __contains__(self, uid: Uid) -> bool:
        return uid in self._pods

    def pod(self, uid: Uid) -> PodInfo | None:
        return self._pods.get(uid)

    def pods(self) -> Iterator[PodInfo]:
        """All that are assigned or assumed."""
        return iter(self._pods.values())

    def pods_on(self, node: str) -> Iterator[PodInfo]:
        return (self._pods[uid] for uid in self._by_node.get(node, ()))

    def assumed(self) -> frozenset[Uid]:
        return frozenset(self._assumed)

    def _put_on(self, pod: PodInfo) -> None:
        self._pods[pod.uid] = pod
        self._by_node.setdefault(pod.node, set()).add(pod.uid)
        row = self.view.row_of.get(pod.node)
        if row is not None:
            self._count(pod, row, sign=1)

    def _take_off(self, pod: PodInfo) -> None:
        del self._pods[pod.uid]
        uids = self._by_node[pod.node]
        uids.discard(pod.uid)
        if not uids:
            del self._by_node[pod.node]
        row = self.view.row_of.get(pod.node)
        if row is not None:
            self._count(pod, row, sign=-1)

    def _count(self, pod: PodInfo, row: int, *, sign: int) -> None:
        self.view.take(row, pod.requests, sign=sign)
        ports, workloads = self.view.ports, self.view.workloads
        (ports.add if sign > 0 else ports.remove)(row, pod.host_ports)
        if not pod.deleting:
            (workloads.add if sign > 0 else workloads.remove)(row, pod.workload)


def _difference(before: NodeInfo, after: NodeInfo) -> ChangeKind:
    """What of the node changed so that a pod may fit now that did not before."""
    kind = ChangeKind(0)
    if before.labels != after.labels:
        kind |= ChangeKind.NODE_LABELS
    if before.taints != after.taints:
        kind |= ChangeKind.NODE_TAINTS
    if before.unschedulable and not after.unschedulable:
        kind |= ChangeKind.NODE_SCHEDULABLE
    if any(value > before.allocatable.get(name, 0) for name, value in after.allocatable.items()):
        kind |= ChangeKind.NODE_ALLOCATABLE
    return kind


def _pod_difference(before: PodInfo, after: PodInfo) -> ChangeKind:
    kind = ChangeKind(0)
    if any(value > after.requests.get(name, 0) for name, value in before.requests.items()):
        kind |= ChangeKind.POD_SHRUNK
    if before.labels != after.labels:
        kind |= ChangeKind.POD_LABELS
    return kind
