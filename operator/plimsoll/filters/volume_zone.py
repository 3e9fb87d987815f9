"""VolumeZone: nodes in the zones and regions that the labels of the pod's volumes name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.invalidates import Invalidates
from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Bools, Snapshot
from plimsoll.cluster.storage.claim import PersistentVolumeClaim
from plimsoll.cluster.storage.migrated_topology import BETA_REGION, BETA_ZONE, REGION, SEPARATOR, ZONE
from plimsoll.cluster.storage.storage_class import WAIT_FOR_FIRST_CONSUMER
from plimsoll.cluster.storage.volume import PersistentVolume
from plimsoll.filters.interface import Overlay, Problem, Reason, Refusal
from plimsoll.filters.volume_hints import uses_claim

_REASON = "node(s) had no available volume zone"
_KEYS = (BETA_ZONE, BETA_REGION, ZONE, REGION)
_TODAY = {BETA_ZONE: ZONE, BETA_REGION: REGION}


class Topology(NamedTuple):
    """What one label of a volume asks of nodes: one of the values, under the key or what it is called today."""

    key: str
    values: frozenset[str]

    def holds(self, node: NodeInfo) -> bool:
        value = node.labels.get(self.key, node.labels.get(_TODAY.get(self.key, self.key)))
        return value in self.values


class VolumeZone:
    name = "VolumeZone"
    invalidates = Invalidates.ALL
    wakes = (
        ChangeKind.STORAGE_CLASS | ChangeKind.NODE_ADDED | ChangeKind.NODE_LABELS | ChangeKind.CLAIM | ChangeKind.VOLUME
    )

    def prepare(self, view: Snapshot, pod: PodInfo) -> _Prepared | Problem | None:
        topologies: list[Topology] = []
        for name in pod.volumes.plain_claims():
            found = _of_claim(view, pod, name)
            if isinstance(found, Problem):
                return found
            topologies += found
        return _Prepared(view, tuple(topologies)) if topologies else None

    def helps(self, change: Change, pod: PodInfo, view: Snapshot) -> bool:  # noqa: ARG002
        before, after = change.before, change.after
        if ChangeKind.STORAGE_CLASS in change.kind:
            return before is None and after.binding_mode == WAIT_FOR_FIRST_CONSUMER
        if ChangeKind.CLAIM in change.kind:
            return uses_claim(pod, after, ephemeral=False)
        if ChangeKind.VOLUME in change.kind:
            return before is None or list(_of_volume(before)) != list(_of_volume(after))
        return True


@dataclass(frozen=True, slots=True)
class _Prepared:
    view: Snapshot
    topologies: tuple[Topology, ...]

    def refusals(self) -> Iterable[Refusal]:
        zoned = np.zeros(self.view.size, dtype=np.bool_)
        for key in _KEYS:
            zoned |= self.view.domains.column(key).ids > 0
        outside = np.zeros(self.view.size, dtype=np.bool_)
        for topology in self.topologies:
            outside |= ~self._within(topology)
        yield Refusal(VolumeZone.name, _REASON, rows=zoned & outside, resolvable=np.zeros_like(zoned))

    def check(self, row: int, overlay: Overlay) -> tuple[Reason, ...]:  # noqa: ARG002
        node = self.view.nodes[row]
        if node is None or not any(key in node.labels for key in _KEYS):
            return ()
        return () if all(t.holds(node) for t in self.topologies) else (Reason(_REASON, resolvable=False),)

    def effect(self, pod: PodInfo) -> None:
        """None: pods do not matter."""

    def _within(self, topology: Topology) -> Bools:
        within = self._labelled(topology.key, topology.values)
        today = _TODAY.get(topology.key)
        if today is not None:
            unlabelled = self.view.domains.column(topology.key).ids == 0
            within |= unlabelled & self._labelled(today, topology.values)
        return within

    def _labelled(self, key: str, values: Iterable[str]) -> Bools:
        column = self.view.domains.column(key)
        ids = [number for value in values if (number := column.id_of(value))]
        return np.isin(column.ids, ids)


def _of_claim(view: Snapshot, pod: PodInfo, name: str) -> list[Topology] | Problem:
    claim = view.storage.claim(pod.namespace, name)
    if claim is None:
        return Problem(f'persistentvolumeclaim "{name}" not found')
    if not claim.volume:
        return _unbound(view, claim) or []
    volume = view.storage.volume(claim.volume)
    if volume is None:
        return Problem(f'persistentvolume "{claim.volume}" not found')
    return list(_of_volume(volume))


def _unbound(view: Snapshot, claim: PersistentVolumeClaim) -> Problem | None:
    """A claim may be without a volume only if it waits for its first pod."""
    name = claim.storage_class
    if not name:
        return Problem("PersistentVolumeClaim had no pv name and storageClass name")
    storage_class = view.storage.storage_class(name)
    if storage_class is None:
        return Problem(f'storageclass.storage.k8s.io "{name}" not found')
    if storage_class.binding_mode is None:
        return Problem(f'VolumeBindingMode not set for StorageClass "{name}"')
    return None if storage_class.binding_mode == WAIT_FOR_FIRST_CONSUMER else Problem("PersistentVolume had no name")


def _of_volume(volume: PersistentVolume) -> Iterator[Topology]:
    """A label with an empty part among its values is set aside."""
    for key in _KEYS:
        values = frozenset(part.strip() for part in volume.labels.get(key, "").split(SEPARATOR))
        if "" not in values:
            yield Topology(key, values)
