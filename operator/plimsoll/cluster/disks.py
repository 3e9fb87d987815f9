"""Disks that pods name themselves, and that only one node, or one pod, may write to: VolumeRestrictions' rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

Json = Mapping[str, Any]

_GCE, _EBS, _ISCSI, _RBD = "gcePersistentDisk", "awsElasticBlockStore", "iscsi", "rbd"


class DiskName(NamedTuple):
    """What two uses of one disk have in common."""

    kind: str
    name: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Disk:
    """One use of a disk.

    Attributes:
        names: an RBD image has one for each of its monitors; to share one is to be the same image.
        shareable: only read, and of a kind that any number of pods may read.
    """

    names: frozenset[DiskName]
    shareable: bool

    def conflicts(self, other: Disk) -> bool:
        return not (self.shareable and other.shareable) and not self.names.isdisjoint(other.names)


def inline_disk(volume: Json) -> Disk | None:
    """Of a pod's volume; None for all that any number of pods may mount."""
    if (gce := volume.get(_GCE)) is not None:
        return _disk(_GCE, ((gce.get("pdName") or "",),), read_only=gce.get("readOnly"))
    if (ebs := volume.get(_EBS)) is not None:
        return _disk(_EBS, ((ebs.get("volumeID") or "",),), read_only=False)
    if (iscsi := volume.get(_ISCSI)) is not None:
        return _disk(_ISCSI, ((iscsi.get("iqn") or "",),), read_only=iscsi.get("readOnly"))
    if (rbd := volume.get(_RBD)) is not None:
        image = (rbd.get("pool") or "", rbd.get("image") or "")
        return _disk(_RBD, ((*image, monitor) for monitor in rbd.get("monitors") or ()), read_only=rbd.get("readOnly"))
    return None


def _disk(kind: str, names: Iterable[tuple[str, ...]], *, read_only: bool | None) -> Disk:
    return Disk(frozenset(DiskName(kind, name) for name in names), shareable=bool(read_only))


class _Use(NamedTuple):
    name: DiskName
    shareable: bool


class DisksInUse:
    """Inline disks by name, then nodes with the number of uses of either sort."""

    def __init__(self) -> None:
        self._users: dict[DiskName, dict[str, Counter[bool]]] = {}

    def add(self, node: str, disks: Iterable[Disk]) -> None:
        for use in _uses(disks):
            self._users.setdefault(use.name, {}).setdefault(node, Counter())[use.shareable] += 1

    def remove(self, node: str, disks: Iterable[Disk]) -> None:
        for use in _uses(disks):
            nodes = self._users[use.name]
            nodes[node][use.shareable] -= 1
            nodes[node] += Counter()  # drops what is at zero
            if not nodes[node]:
                del nodes[node]
            if not nodes:
                del self._users[use.name]

    def nodes_in_conflict(self, disk: Disk) -> Iterator[str]:
        """Nodes where a pod has the disk in a way that this use does not go with."""
        for name in disk.names:
            for node, uses in self._users.get(name, {}).items():
                if _clash(disk, uses):
                    yield node

    def in_conflict_on(self, node: str, disk: Disk, *, without: Iterable[Disk]) -> bool:
        """The same on one node, had it some uses less."""
        less = Counter(_uses(without))
        for name in disk.names:
            uses = Counter(self._users.get(name, {}).get(node, Counter()))
            for shareable in (False, True):
                uses[shareable] -= less[_Use(name, shareable)]
            if _clash(disk, uses):
                return True
        return False


def _clash(disk: Disk, uses: Counter[bool]) -> bool:
    return uses[False] > 0 or (not disk.shareable and uses[True] > 0)


def _uses(disks: Iterable[Disk]) -> Iterator[_Use]:
    return (_Use(name, disk.shareable) for disk in disks for name in disk.names)
