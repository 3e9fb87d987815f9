"""A VolumeAttachment."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.cluster.storage.reading import Json, read


@dataclass(frozen=True, slots=True)
class VolumeAttachment:
    """A volume that is attached to a node, or is to be.

    Attributes:
        attacher: the CSI driver.
        volume: name of the PersistentVolume; "" where an inline volume is attached.
    """

    name: str
    attacher: str = ""
    node: str = ""
    volume: str = ""

    @property
    def key(self) -> str:
        return self.name

    @classmethod
    def parse(cls, attachment: Json) -> VolumeAttachment:
        """Raises ObjectError."""
        return read("VolumeAttachment", attachment, _parse)


def _parse(attachment: Json) -> VolumeAttachment:
    spec = attachment.get("spec") or {}
    return VolumeAttachment(
        name=attachment["metadata"]["name"],
        attacher=spec.get("attacher") or "",
        node=spec.get("nodeName") or "",
        volume=(spec.get("source") or {}).get("persistentVolumeName") or "",
    )
