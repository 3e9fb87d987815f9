"""VolumeBinding: nodes that reach the pod's volumes, those that are bound and those that are yet to be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.invalidates import Invalidates
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Bools, Snapshot
from plimsoll.cluster.storage.claim import PersistentVolumeClaim
from plimsoll.cluster.volume_matching import PodVolumes
from plimsoll.cluster.volume_reach import reaching
from plimsoll.filters.interface import Overlay, Problem, Reason, Refusal
from plimsoll.filters.volume_claims import PodClaims, claims_of
from plimsoll.filters.volume_plan import VolumePlan

NODE_CONFLICT = "node(s) didn't match PersistentVolume's node affinity"
BIND_CONFLICT = "node(s) didn't find available persistent volumes to bind"
NOT_ENOUGH_SPACE = "node(s) did not have enough free storage"
VOLUME_MISSING = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"


class VolumeBinding:
    """No reason goes away with pods: all are kube-scheduler's UnschedulableAndUnresolvable."""

    name = "VolumeBinding"
    invalidates = Invalidates.ALL
    wakes = (
        ChangeKind.NODE_ADDED
        | ChangeKind.NODE_LABELS
        | ChangeKind.VOLUME
        | ChangeKind.CLAIM
        | ChangeKind.STORAGE_CLASS
        | ChangeKind.CSI_NODE
        | ChangeKind.CSI_DRIVER
        | ChangeKind.STORAGE_CAPACITY
    )

    def prepare(self, view: Snapshot, pod: PodInfo) -> PreparedVolumes | Problem | None:
        if not pod.volumes.claims:
            return None
        claims = claims_of(view, pod)
        return claims if isinstance(claims, Problem) else PreparedVolumes(view, claims)

    def helps(self, change: Change, pod: PodInfo, view: Snapshot) -> bool:  # noqa: ARG002
        if ChangeKind.CLAIM in change.kind:
            return _is_own(change.after, pod)
        if ChangeKind.STORAGE_CLASS in change.kind:
            return change.before is None or change.before.allowed_topologies != change.after.allowed_topologies
        if ChangeKind.CSI_NODE in change.kind:
            return change.before is None or change.before.migrated != change.after.migrated
        if ChangeKind.CSI_DRIVER in change.kind:
            # kube-scheduler asks for a pod that names the driver itself; a claim's class may name it as well.
            return change.before is not None and change.before.storage_capacity and not change.after.storage_capacity
        if ChangeKind.STORAGE_CAPACITY in change.kind:
            return change.before is None or _grew(change.before.limit_bytes, change.after.limit_bytes)
        return True


class PreparedVolumes:
    """The pod's claims over all nodes. Pods on the nodes do not matter to them."""

    def __init__(self, view: Snapshot, claims: PodClaims) -> None:
        self._view = view
        self._claims = claims
        self._plan = VolumePlan(view, claims.delayed)
        self._refused = {reason: rows for reason, rows in self._judged() if rows.any()}

    def refusals(self) -> Iterable[Refusal]:
        never = np.zeros(self._view.size, dtype=np.bool_)
        for reason, rows in self._refused.items():
            yield Refusal(VolumeBinding.name, reason, rows=rows, resolvable=never)

    def check(self, row: int, overlay: Overlay) -> tuple[Reason, ...]:  # noqa: ARG002
        return tuple(Reason(reason, resolvable=False) for reason, rows in self._refused.items() if rows[row])

    def effect(self, pod: PodInfo) -> None:
        """None: pods do not matter."""

    def volumes_on(self, row: int) -> PodVolumes:
        """What is to be done for the unbound claims once a node that is not refused is chosen."""
        return self._plan.on(row)

    def _judged(self) -> Iterator[tuple[str, Bools]]:
        """In the order in which kube-scheduler names them."""
        conflict, missing = _bound_elsewhere(self._view, self._claims.bound)
        yield NODE_CONFLICT, conflict
        yield BIND_CONFLICT, self._plan.unbindable
        yield NOT_ENOUGH_SPACE, self._plan.full
        yield VOLUME_MISSING, missing


def _bound_elsewhere(view: Snapshot, claims: Iterable[PersistentVolumeClaim]) -> tuple[Bools, Bools]:
    """[N] each: nodes that the first volume out of reach excludes, and nodes left when one is not there at all."""
    left = np.ones(view.size, dtype=np.bool_)
    for claim in claims:
        volume = view.storage.volume(claim.volume)
        if volume is None:
            return ~left, left
        left = left & reaching(view, volume)
    return ~left, np.zeros_like(left)


def _is_own(claim: PersistentVolumeClaim, pod: PodInfo) -> bool:
    return claim.namespace == pod.namespace and any(use.claim == claim.name for use in pod.volumes.claims)


def _grew(before: int | None, after: int | None) -> bool:
    return after is not None and (before is None or after > before)
