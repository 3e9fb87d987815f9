"""The cache: nodes and the pods on them, kept up to date by watches and by our own assumptions.

A pod is assumed on its node before the Binding is sent, so that the next decision sees it; the watch of assigned
pods confirms it; a failed Binding forgets it. There is no expiry: what is assumed stays until somebody says
otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.differences import counts_alike, labelled_alike, node_difference, pod_difference
from plimsoll.cluster.namespace import Namespace
from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.objects import ApiObject, Kind, Store
from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.cluster.snapshot import Snapshot
from plimsoll.cluster.storage.store import CLAIM, VOLUME
from plimsoll.cluster.volume_matching import PodVolumes


class Cache:
    """Owner of the Snapshot; every method that changes it answers with the Changes that others may wait for."""

    def __init__(self) -> None:
        self.view = Snapshot()
        self._pods: dict[Uid, PodInfo] = {}
        self._assumed: set[Uid] = set()

    # -- nodes ----------------------------------------------------------------------------------------

    def put_node(self, node: NodeInfo) -> Change | None:
        """A node that is new or has changed; None where nothing that scheduling looks at is different."""
        before = self._node(node.name)
        if before is None:
            row = self.view.put(node)
            # The pods of a node that was not there (yet, or any more) count as soon as it is.
            for pod in self.view.residents.on(node.name):
                self._count(pod, row, sign=1)
            return Change(ChangeKind.NODE_ADDED, after=node)
        if replace(before, resource_version=node.resource_version) == node:
            return None
        self.view.put(node)
        kind = node_difference(before, node)
        return Change(kind, before=before, after=node) if kind else None

    def drop_node(self, name: str) -> Change | None:
        before = self._node(name)
        if before is None:
            return None
        row = self.view.row_of[name]
        for pod in self.view.residents.on(name):
            self._count(pod, row, sign=-1)
        self.view.drop(name)
        return Change(ChangeKind.NODE_DELETED, before=before)

    def _node(self, name: str) -> NodeInfo | None:
        row = self.view.row_of.get(name)
        return None if row is None else self.view.nodes[row]

    # -- other objects --------------------------------------------------------------------------------

    def put_namespace(self, namespace: Namespace) -> Change | None:
        before = self.view.namespaces.get(namespace.name)
        if before == namespace.labels:
            return None
        self.view.namespaces[namespace.name] = namespace.labels
        self._namespace_changed(namespace.name)
        was = None if before is None else Namespace(namespace.name, before)
        return Change(ChangeKind.NAMESPACE_LABELS, before=was, after=namespace)

    def drop_namespace(self, name: str) -> Change | None:
        before = self.view.namespaces.pop(name, None)
        if before is None:
            return None
        self._namespace_changed(name)
        return Change(ChangeKind.NAMESPACE_LABELS, before=Namespace(name, before))

    def _namespace_changed(self, name: str) -> None:
        self.view.pods.namespace_changed(name)
        self.view.terms.namespace_changed()

    def put_object(self, kind: Kind, thing: ApiObject) -> Change | None:
        """Any other object that is new or has changed."""
        return self._store(kind).put(kind, thing)

    def drop_object(self, kind: Kind, key: str) -> Change | None:
        if kind.name in {VOLUME, CLAIM}:
            self.view.assumed_volumes.gone(key)
        return self._store(kind).drop(kind, key)

    def _store(self, kind: Kind) -> Store:
        store: Store = getattr(self.view, kind.store)
        return store

    # -- volumes that are yet to be bound --------------------------------------------------------------

    def assume_volumes(self, uid: Uid, node: str, volumes: PodVolumes) -> None:
        """What is to become of the claims of a pod that is assumed on the node."""
        self.view.assumed_volumes.assume(uid, node, volumes)

    def volume_written(self, key: str) -> None:
        self.view.assumed_volumes.written(key)

    def volumes_settled(self, uid: Uid) -> None:
        self.view.assumed_volumes.settled(uid)

    def forget_volumes(self, uid: Uid) -> list[Change]:
        """Undoes it; one change for each volume that others may have again."""
        freed = map(self.view.storage.volume, self.view.assumed_volumes.forget(uid))
        return [Change(ChangeKind.VOLUME, before=volume, after=volume) for volume in freed if volume is not None]

    # -- nominations ----------------------------------------------------------------------------------

    def pending_pod_seen(self, pod: PodInfo) -> Change | None:
        """A pending pod as the API server shows it: it may be nominated."""
        return self.view.nominated.shown(pod)

    def pending_pod_gone(self, uid: Uid) -> Change | None:
        return self.view.nominated.forget(uid)

    def nominate(self, pod: PodInfo, node: str) -> Change | None:
        """Room is being made for the pod on the node; "" for nowhere."""
        return self.view.nominated.put(pod, node) if node else self.view.nominated.drop(pod.uid)

    # -- pods -----------------------------------------------------------------------------------------

    def put_pod(self, pod: PodInfo) -> Change | None:
        """An assigned pod as the watch shows it; confirms an assumption. A terminal pod is as good as deleted."""
        if pod.terminal:
            return self.drop_pod(pod.uid)
        before = self._pods.get(pod.uid)
        self._assumed.discard(pod.uid)
        if before is None:
            self._put_on(pod)
            return Change(ChangeKind.POD_ADDED, after=pod)
        if before.deleting and not pod.deleting:
            # Nothing takes a deletion back: that is from before the API server took ours, and was on its way.
            pod = replace(pod, deleting=True, giving_way=before.giving_way)
        if counts_alike(before, pod):
            self._show(before, pod)
            if labelled_alike(before, pod):
                return None
            self._relabel(before, pod)
        else:
            self._take_off(before)
            self._put_on(pod)
        if before.node != pod.node:
            # Somebody else bound what we had assumed elsewhere: the room there is free again.
            return Change(ChangeKind.POD_DELETED | ChangeKind.POD_ADDED, before=before, after=pod)
        kind = pod_difference(before, pod)
        return Change(kind, before=before, after=pod) if kind else None

    def drop_pod(self, uid: Uid) -> Change | None:
        pod = self._pods.get(uid)
        if pod is None:
            return None
        self._assumed.discard(uid)
        self._take_off(pod)
        return Change(ChangeKind.POD_DELETED, before=pod)

    def assume(self, pod: PodInfo, node: str) -> PodInfo:
        """Counts the pod on the node before the Binding is sent; answers with the pod as it is counted."""
        if pod.uid in self._pods:
            raise ValueError(f"pod {pod.key} is on node {self._pods[pod.uid].node} already")
        assumed = pod.on(node)
        self._put_on(assumed)
        self._assumed.add(pod.uid)
        return assumed

    def gives_way(self, uid: Uid) -> None:
        """An assumed pod was preempted: its room is as good as free, if not yet."""
        pod = replace(self._pods[uid], giving_way=True)
        self._pods[uid] = pod
        self.view.residents.add(pod)

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
        return iter(self.view.residents.on(node))

    def is_assumed(self, uid: Uid) -> bool:
        return uid in self._assumed

    def assumed(self) -> frozenset[Uid]:
        """A copy of them all; about one of them ask ``is_assumed``."""
        return frozenset(self._assumed)

    def _show(self, before: PodInfo, pod: PodInfo) -> None:
        """As it is now, where every count stays as it is: so an assumption is confirmed."""
        del self._pods[pod.uid]
        self._pods[pod.uid] = pod
        self.view.residents.remove(before)
        self.view.residents.add(pod)

    def _relabel(self, before: PodInfo, pod: PodInfo) -> None:
        """The rest counts as it did. With its Binding the API server gives a pod its node's labels of zone and region
        (the admission plugin PodTopologyLabels), so that nearly every pod comes by here.
        """
        row = self.view.row_of.get(pod.node)
        if row is not None:
            self.view.pods.remove(row, before)
            self.view.pods.add(row, pod)
            self.view.changed.mark(row)

    def _put_on(self, pod: PodInfo) -> None:
        self._pods[pod.uid] = pod
        self.view.residents.add(pod)
        row = self.view.row_of.get(pod.node)
        if row is not None:
            self._count(pod, row, sign=1)

    def _take_off(self, pod: PodInfo) -> None:
        del self._pods[pod.uid]
        self.view.residents.remove(pod)
        row = self.view.row_of.get(pod.node)
        if row is not None:
            self._count(pod, row, sign=-1)

    def _count(self, pod: PodInfo, row: int, *, sign: int) -> None:
        self.view.take(row, pod.requests, sign=sign)
        self.view.held.count(row, pod.priority, pod.requests, sign=sign)
        ports, workloads = self.view.ports, self.view.workloads
        (ports.add if sign > 0 else ports.remove)(row, pod.host_ports)
        if not pod.deleting:
            (workloads.add if sign > 0 else workloads.remove)(row, pod)
        if pod.volumes:
            uses = self.view.storage.uses
            (uses.add if sign > 0 else uses.remove)(pod.node, pod.namespace, pod.volumes)
        pods, terms = self.view.pods, self.view.terms
        (pods.add if sign > 0 else pods.remove)(row, pod)
        (terms.add if sign > 0 else terms.remove)(row, pod)
