"""What a pod mounts, as far as it decides where the pod can run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from plimsoll.cluster.disks import Disk, inline_disk
from plimsoll.cluster.storage.handles import Handle
from plimsoll.cluster.storage.in_tree import Untranslatable, inline_handle

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ClaimUse:
    """A volume that is a claim.

    Attributes:
        claim: its name, in the pod's namespace.
        ephemeral: made for this pod alone, and named after it.
    """

    claim: str
    ephemeral: bool = False


@dataclass(frozen=True, slots=True)
class UsedVolumes:
    """Attributes:
    claims: in the order of the pod's volumes; one that several volumes name stands as often.
    disks: inline disks that not everybody may mount at once.
    handles: inline disks as the CSI drivers know them that mount them nowadays.
    untranslatable: an inline disk that its driver would not know, as csi-translation-lib says it; "" where none.
    """

    claims: tuple[ClaimUse, ...] = ()
    disks: tuple[Disk, ...] = ()
    handles: tuple[Handle, ...] = ()
    untranslatable: str = ""

    def __bool__(self) -> bool:
        return bool(self.claims or self.disks or self.handles or self.untranslatable)

    def plain_claims(self) -> Iterator[str]:
        """Names of the claims that other pods may use as well."""
        return (use.claim for use in self.claims if not use.ephemeral)

    @classmethod
    def parse(cls, pod_name: str, volumes: Iterable[Json]) -> UsedVolumes:
        volumes = tuple(volumes)
        handles, untranslatable = _handles(volumes)
        return cls(tuple(_claims(pod_name, volumes)), tuple(_disks(volumes)), handles, untranslatable)


NO_VOLUMES = UsedVolumes()


def used_volumes(pod_name: str, spec: Json) -> UsedVolumes:
    """Of a pod by its spec; most pods have none that matters."""
    volumes = spec.get("volumes")
    return UsedVolumes.parse(pod_name, volumes) or NO_VOLUMES if volumes else NO_VOLUMES


def _claims(pod_name: str, volumes: Iterable[Json]) -> Iterator[ClaimUse]:
    for volume in volumes:
        if (source := volume.get("persistentVolumeClaim")) is not None:
            yield ClaimUse(source.get("claimName") or "")
        elif volume.get("ephemeral") is not None:
            yield ClaimUse(f"{pod_name}-{volume.get('name', '')}", ephemeral=True)


def _disks(volumes: Iterable[Json]) -> Iterator[Disk]:
    found = (inline_disk(volume) for volume in volumes)
    return (disk for disk in found if disk is not None)


def _handles(volumes: Iterable[Json]) -> tuple[tuple[Handle, ...], str]:
    handles: dict[Handle, None] = {}
    problem = ""
    for volume in volumes:
        try:
            handle = inline_handle(volume)
        except Untranslatable as error:
            problem = problem or f"converting volume({volume.get('name')}) from inline to csi: {error}"
        else:
            if handle is not None:
                handles[handle] = None
    return tuple(handles), problem
