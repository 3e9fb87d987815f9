"""What is to be done before a Binding, and how far it has come: VolumeBinding's and DynamicResources' PreBind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.reservation import Reservation
from plimsoll.cluster.snapshot import Snapshot
from plimsoll.cluster.storage.claim import PersistentVolumeClaim
from plimsoll.cluster.volume_matching import NO_VOLUMES, PodVolumes, StaticBinding
from plimsoll.cluster.volume_reach import reaches
from plimsoll.filters.dynamic_resources import PreparedClaims
from plimsoll.filters.prepared import PodFilters
from plimsoll.filters.volume_binding import PreparedVolumes


@dataclass(frozen=True, slots=True)
class Preparation:
    """What a pod needs before it is bound to its node."""

    volumes: PodVolumes = NO_VOLUMES
    reservations: tuple[Reservation, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.volumes.bindings or self.volumes.provisions or self.reservations)

    @property
    def claims(self) -> Iterable[PersistentVolumeClaim]:
        """Claims that must be bound first."""
        return (*(binding.claim for binding in self.volumes.bindings), *self.volumes.provisions)


def preparation(filters: PodFilters, row: int) -> Preparation | None:
    """What the pod needs on the node that was chosen; None where it needs nothing."""
    volumes, reservations = NO_VOLUMES, list[Reservation]()
    for _, prepared in filters.prepared:
        if isinstance(prepared, PreparedVolumes):
            volumes = prepared.volumes_on(row)
        if isinstance(prepared, PreparedClaims):
            reservations.extend(prepared.reservations())
    return Preparation(volumes, tuple(reservations)) or None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the claims are.

    Attributes:
        done: every claim is bound.
        problem: why it will not come to that, in kube-scheduler's words; "" where it may.
        over: nothing is to be bound any more: the pod is gone, or has a node.
    """

    done: bool = False
    problem: str = ""
    over: bool = False


_WAITING = Progress()
_DONE = Progress(done=True)


def progress(view: Snapshot, node_name: str, volumes: PodVolumes, written: Mapping[str, str]) -> Progress:
    """kube-scheduler's ``checkBindings``.

    Args:
        written: the versions that our own writes made, by volume and by claim; what is older says nothing yet.
    """
    if not volumes.bindings and not volumes.provisions:
        return _DONE
    row = view.row_of.get(node_name)
    node = None if row is None else view.nodes[row]
    if node is None:
        return Progress(problem=f'failed to get node "{node_name}": node "{node_name}" not found')
    check = _Check(view, node, written)
    for binding in volumes.bindings:
        if (found := check.binding(binding)) is not _DONE:
            return found
    for claim in volumes.provisions:
        if (found := check.provision(claim)) is not _DONE:
            return found
    return _DONE


@dataclass(frozen=True, slots=True)
class _Check:
    view: Snapshot
    node: NodeInfo
    written: Mapping[str, str]

    def binding(self, binding: StaticBinding) -> Progress:
        volume = self.view.storage.volume(binding.volume.name)
        if volume is None:
            return Progress(problem=f'failed to check binding: persistentvolumes "{binding.volume.name}" not found')
        claim = self.view.storage.claim(binding.claim.namespace, binding.claim.name)
        if claim is None:
            missing = f'persistentvolumeclaims "{binding.claim.key}" not found'
            return Progress(problem=f"failed to check binding: {missing}")
        if self._is_old(volume.key, volume.resource_version):
            return _WAITING
        if mismatch := self._mismatch(volume.name):
            return Progress(problem=mismatch)
        if volume.claim_ref is None or not volume.claim_ref.uid:
            return Progress(problem=f'ClaimRef got reset for pv "{volume.name}"')
        return _DONE if claim.bound else _WAITING

    def provision(self, wanted: PersistentVolumeClaim) -> Progress:
        claim = self.view.storage.claim(wanted.namespace, wanted.name)
        if claim is None:
            missing = f'persistentvolumeclaims "{wanted.key}" not found'
            return Progress(problem=f"failed to check provisioning pvc: {missing}")
        if self._is_old(claim.key, claim.resource_version):
            return _WAITING
        if claim.selected_node != self.node.name:
            # A provisioner that has failed takes the annotation away to have the pod tried again.
            return Progress(problem=f'provisioning failed for PVC "{claim.name}"')
        if not claim.volume:
            return _WAITING
        if self.view.storage.volume(claim.volume) is None:
            # Its own watch may be behind; if it was deleted the claim loses it in the end.
            return _WAITING
        if mismatch := self._mismatch(claim.volume):
            return Progress(problem=mismatch)
        return _DONE if claim.bound else _WAITING

    def _is_old(self, key: str, version: str) -> bool:
        return key in self.written and not _at_least(version, self.written[key])

    def _mismatch(self, volume_name: str) -> str:
        volume = self.view.storage.volume(volume_name)
        if volume is None or reaches(self.view, self.node, volume):
            return ""
        unmet = "no matching NodeSelectorTerms"
        return f'pv "{volume_name}" node affinity doesn\'t match node "{self.node.name}": {unmet}'


def _at_least(version: str, other: str) -> bool:
    """Versions of one resource order as numbers; what is no number is taken for another version."""
    if version.isdecimal() and other.isdecimal():
        return int(version) >= int(other)
    return version == other
