"""What becomes of a pod's unbound claims on every node at once: VolumeBinding's ``FindPodVolumes``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from plimsoll.cluster.node_rows import NodeRows, Rows
from plimsoll.cluster.selectors import LabelSelector
from plimsoll.cluster.snapshot import Bools, Ints, Snapshot
from plimsoll.cluster.storage.claim import PersistentVolumeClaim
from plimsoll.cluster.storage.storage_class import StorageClass
from plimsoll.cluster.storage.volume import PersistentVolume
from plimsoll.cluster.volume_matching import Candidates, PodVolumes, StaticBinding, candidates

# A class with this provisioner is made of volumes that are there already.
_NO_PROVISIONER = "kubernetes.io/no-provisioner"
_NONE = -1


@dataclass(frozen=True, slots=True)
class _Match:
    """One claim and its volume on each row.

    Attributes:
        chosen: [N], index into ``volumes``; -1 where none of them is there for the claim.
        index_of: into ``volumes``, by name.
    """

    claim: PersistentVolumeClaim
    volumes: tuple[PersistentVolume, ...]
    chosen: Ints
    index_of: Mapping[str, int]

    @classmethod
    def of(cls, claim: PersistentVolumeClaim, volumes: Sequence[PersistentVolume], chosen: Ints) -> _Match:
        return cls(claim, tuple(volumes), chosen, {volume.name: i for i, volume in enumerate(volumes)})


class VolumePlan:
    """Volumes for claims of WaitForFirstConsumer, node by node.

    Attributes:
        unbindable: [N], where some claim finds no volume and none can be made.
        full: [N], where a volume could be made but for the room.
    """

    def __init__(self, view: Snapshot, claims: Sequence[PersistentVolumeClaim]) -> None:
        """``claims``: as they are assumed to be, all of a class that is there."""
        self._view = view
        self._rows = NodeRows.of(view)
        self.unbindable = np.zeros(view.size, dtype=np.bool_)
        self.full = np.zeros(view.size, dtype=np.bool_)
        selected = [claim for claim in claims if claim.selected_node is not None]
        unbound = sorted((c for c in claims if c.selected_node is None), key=lambda claim: claim.request_bytes)
        for claim in selected:
            self._keep_to_selected(claim)
        self._matches = self._match(unbound)
        self._provisions = [(claim, ~self.unbindable) for claim in selected]
        self._provisions += [(match.claim, ~self.unbindable & (match.chosen == _NONE)) for match in self._matches]
        for claim, rows in self._provisions:
            self._provision(claim, rows & ~self.unbindable & ~self.full)

    def on(self, row: int) -> PodVolumes:
        """What is to be done on one row that is not refused."""
        return PodVolumes(
            bindings=tuple(
                StaticBinding(match.claim, match.volumes[match.chosen[row]])
                for match in self._matches
                if match.chosen[row] != _NONE
            ),
            provisions=tuple(claim for claim, rows in self._provisions if rows[row]),
        )

    def _keep_to_selected(self, claim: PersistentVolumeClaim) -> None:
        """A provisioner may be at work already, for that node."""
        here = self._view.row_of.get(claim.selected_node or "")
        elsewhere = np.ones(self._view.size, dtype=np.bool_)
        if here is not None:
            elsewhere[here] = False
        self.unbindable |= elsewhere

    def _match(self, claims: Sequence[PersistentVolumeClaim]) -> list[_Match]:
        """The smallest claims first, so that each takes the smallest volume that will do."""
        matches: list[_Match] = []
        for claim in claims:
            matches.append(self._match_one(claim, matches))
        return matches

    def _match_one(self, claim: PersistentVolumeClaim, earlier: Sequence[_Match]) -> _Match:
        storage, assumed = self._view.storage, self._view.assumed_volumes
        found = candidates(claim, map(assumed.volume, storage.volumes_of_class(claim.storage_class)))
        matching = _Matching(self._rows, found, left=self._view.live & ~self.unbindable, earlier=earlier)
        matching.run()
        return _Match.of(claim, matching.volumes, matching.chosen)

    def _provision(self, claim: PersistentVolumeClaim, wanted: Bools) -> None:
        if not wanted.any():
            return
        storage_class = self._view.storage.storage_class(claim.storage_class)
        assert storage_class is not None
        if storage_class.provisioner in {"", _NO_PROVISIONER}:
            self.unbindable |= wanted
            return
        reached = wanted & self._allowed(storage_class)
        self.unbindable |= wanted & ~reached
        self.full |= reached & ~self._roomy(storage_class, claim)

    def _allowed(self, storage_class: StorageClass) -> Bools:
        """[N], nodes in the class's allowedTopologies; a term without expressions selects no node."""
        terms = storage_class.allowed_topologies
        return self._any_of(terms) if terms else self._view.live

    def _roomy(self, storage_class: StorageClass, claim: PersistentVolumeClaim) -> Bools:
        """[N], nodes that reach a pool with room for the claim; only drivers that publish capacities are asked."""
        storage = self._view.storage
        driver = storage.csi_driver(storage_class.provisioner)
        if driver is None or not driver.storage_capacity or not claim.requests_storage:
            return self._view.live
        limits = ((c.node_topology, c.limit_bytes) for c in storage.capacities_of(storage_class.name))
        return self._any_of(
            topology
            for topology, limit_bytes in limits
            if topology is not None and limit_bytes is not None and limit_bytes >= claim.request_bytes
        )

    def _any_of(self, selectors: Iterable[LabelSelector]) -> Bools:
        selected = np.zeros(self._view.size, dtype=np.bool_)
        for selector in selectors:
            selected[self._rows.labelled(selector)] = True
        return selected


class _Matching:
    """One claim's volume on each row.

    Attributes:
        chosen: [N], index into ``volumes``.

    Args:
        left: [N], rows that are looked at.
        earlier: what the pod's earlier claims have chosen.
    """

    def __init__(self, rows: NodeRows, found: Candidates, *, left: Bools, earlier: Sequence[_Match]) -> None:
        self.volumes = (*found.prebound, *found.free)
        self.chosen = np.full(len(left), _NONE, dtype=np.int64)
        self._rows = rows
        self._prebound = len(found.prebound)
        self._left = left
        self._earlier = earlier

    def run(self) -> None:
        count = int(self._left.sum())
        for index, volume in enumerate(self.volumes):
            if not count:
                return
            rows = self._rows.affine(volume.node_affinity)
            rows = self._without_taken(volume, rows[self._left[rows]])
            self.chosen[rows] = index
            self._left[rows] = False
            count -= len(rows)
            if index < self._prebound:
                # The claim has this volume or none, but where an earlier claim of the pod has it.
                left = np.flatnonzero(self._left)
                self._left[self._without_taken(volume, left)] = False
                count = int(self._left.sum())

    def _without_taken(self, volume: PersistentVolume, rows: Rows) -> Rows:
        for match in self._earlier:
            index = match.index_of.get(volume.name)
            if index is not None:
                rows = rows[match.chosen[rows] != index]
        return rows
