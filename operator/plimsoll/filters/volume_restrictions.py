"""VolumeRestrictions: disks and claims that no more than one pod may use."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.invalidates import Invalidates
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Snapshot
from plimsoll.filters.interface import Overlay, Problem, Reason, Refusal
from plimsoll.filters.volume_hints import uses_claim

_DISK = "node(s) had no available disk"
_CLAIM = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)
_ONE_POD = "ReadWriteOncePod"


class VolumeRestrictions:
    name = "VolumeRestrictions"
    invalidates = Invalidates.ALL
    wakes = ChangeKind.NODE_ADDED | ChangeKind.POD_DELETED | ChangeKind.NOMINATION_ENDED | ChangeKind.CLAIM

    def prepare(self, view: Snapshot, pod: PodInfo) -> _Prepared | Problem | None:
        if not pod.volumes:
            return None
        claims: set[str] = set()
        for name in pod.volumes.plain_claims():
            claim = view.storage.claim(pod.namespace, name)
            if claim is None:
                return Problem(f'persistentvolumeclaim "{name}" not found')
            if _ONE_POD in claim.access_modes:
                claims.add(claim.key)
        # kube-scheduler, too, looks for users once: a pod that is merely nominated to a node does not count.
        in_use = any(map(view.storage.uses.users, claims))
        return _Prepared(view, pod, frozenset(claims)) if in_use or pod.volumes.disks else None

    def helps(self, change: Change, pod: PodInfo, view: Snapshot) -> bool:  # noqa: ARG002
        """A node or one of the pod's claims that came, or a pod of its namespace that shared a disk or claim."""
        if ChangeKind.CLAIM in change.kind:
            return change.before is None and uses_claim(pod, change.after, ephemeral=False)
        gone = change.before
        if not isinstance(gone, PodInfo):
            return True
        if gone.namespace != pod.namespace:
            return False
        shares = not set(gone.volumes.plain_claims()).isdisjoint(pod.volumes.plain_claims())
        return shares or _clash(pod, gone)


@dataclass(frozen=True, slots=True)
class _Prepared:
    """Attributes:
    claims: keys of the pod's claims that one pod alone may use.
    """

    view: Snapshot
    pod: PodInfo
    claims: frozenset[str]

    def refusals(self) -> Iterable[Refusal]:
        disks = np.zeros(self.view.size, dtype=np.bool_)
        disks[list(self._rows_in_conflict())] = True
        yield Refusal(VolumeRestrictions.name, _DISK, rows=disks, resolvable=disks)
        if self._in_use(Overlay()):
            yield Refusal(VolumeRestrictions.name, _CLAIM, rows=~disks, resolvable=~disks)

    def check(self, row: int, overlay: Overlay) -> tuple[Reason, ...]:
        if self._disk_taken(self.view.name(row), overlay):
            return (Reason(_DISK, resolvable=True),)
        return (Reason(_CLAIM, resolvable=True),) if self._in_use(overlay) else ()

    def effect(self, pod: PodInfo) -> Hashable:
        disks = tuple(
            disk for disk in pod.volumes.disks if any(mine.conflicts(disk) for mine in self.pod.volumes.disks)
        )
        claims = tuple(claim for claim in _plain(pod) if claim in self.claims)
        return (disks, claims) if disks or claims else None

    def _rows_in_conflict(self) -> Iterator[int]:
        in_use = self.view.storage.uses.disks
        for disk in self.pod.volumes.disks:
            yield from (self.view.row_of[node] for node in in_use.nodes_in_conflict(disk))

    def _disk_taken(self, node: str, overlay: Overlay) -> bool:
        in_use = self.view.storage.uses.disks
        gone = tuple(disk for pod in overlay.removed for disk in pod.volumes.disks)
        return any(in_use.in_conflict_on(node, disk, without=gone) for disk in self.pod.volumes.disks) or any(
            _clash(self.pod, other) for other in overlay.added
        )

    def _in_use(self, overlay: Overlay) -> bool:
        """By any pod in the cluster."""
        uses = self.view.storage.uses
        return any(
            uses.users(claim) + _uses(overlay.added, claim) - _uses(overlay.removed, claim) > 0 for claim in self.claims
        )


def _clash(pod: PodInfo, other: PodInfo) -> bool:
    return any(mine.conflicts(theirs) for mine in pod.volumes.disks for theirs in other.volumes.disks)


def _uses(pods: Iterable[PodInfo], claim: str) -> int:
    return sum(used == claim for pod in pods for used in _plain(pod))


def _plain(pod: PodInfo) -> Iterator[str]:
    """Keys of the claims that the pod names itself."""
    return (f"{pod.namespace}/{name}" for name in pod.volumes.plain_claims())
