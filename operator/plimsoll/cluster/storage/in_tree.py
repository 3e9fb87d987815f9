"""Volumes of the kubelet's former in-tree plugins, as the CSI drivers that took over know them.

Twin of csi-translation-lib, for the plugins whose migration is always on.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from plimsoll.cluster.selectors import NodeSelector
from plimsoll.cluster.storage.handles import Handle
from plimsoll.cluster.storage.migrated_topology import migrated_topology, zones_of
from plimsoll.cluster.storage.reading import Json
from plimsoll.errors import InvalidInput

_UNSPECIFIED = "UNSPECIFIED"
_EBS_VOLUME = re.compile(r"vol-[^/]*")


class Untranslatable(InvalidInput):
    """A volume that its CSI driver would not know; the message is csi-translation-lib's own."""


@dataclass(frozen=True, slots=True)
class InTreeVolume:
    """Attributes:
    plugin: the in-tree plugin.
    handle: what the volume is to the CSI driver; None where it cannot be translated.
    node_affinity: with the driver's topology keys, on nodes that hand the plugin's volumes to the driver.
    problem: why it cannot be translated; "" where it can.
    """

    plugin: str
    handle: Handle | None = None
    node_affinity: NodeSelector | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _Plugin:
    """Attributes:
    field: where a pod's or PersistentVolume's spec has the source.
    topology_key: that the driver puts on nodes in place of the zone's; "" where it keeps the zone's.
    volume: the driver's name for the volume, by its source and its zones.
    """

    name: str
    driver: str
    field: str
    topology_key: str
    volume: Callable[[Json, tuple[str, ...]], str]


def in_tree_volume(volume: Json) -> InTreeVolume | None:
    """Of a PersistentVolume; None where no CSI driver has taken over."""
    spec = volume.get("spec") or {}
    for plugin in _PLUGINS:
        source = spec.get(plugin.field)
        if source is not None:
            return _translated(plugin, source, volume)
    return None


def inline_handle(volume: Json) -> Handle | None:
    """Of a pod's volume; None where no CSI driver has taken over.

    Raises:
        Untranslatable: the driver would not know it.
    """
    for plugin in _PLUGINS:
        source = volume.get(plugin.field)
        if source is not None:
            return Handle(plugin.driver, plugin.volume(source, ()))
    return None


def provisioner_driver(provisioner: str) -> str:
    """The CSI driver that makes a class's volumes."""
    return _DRIVERS.get(provisioner, provisioner)


def _translated(plugin: _Plugin, source: Json, volume: Json) -> InTreeVolume:
    try:
        handle = Handle(plugin.driver, plugin.volume(source, zones_of(volume)))
    except Untranslatable as error:
        return InTreeVolume(plugin.name, problem=str(error))
    return InTreeVolume(plugin.name, handle, migrated_topology(volume, plugin.topology_key))


def _volume_id(source: Json, zones: tuple[str, ...]) -> str:  # noqa: ARG001
    return source.get("volumeID") or ""


def _ebs(source: Json, zones: tuple[str, ...]) -> str:  # noqa: ARG001
    """``aws://zone/vol-1`` and ``vol-1`` are one volume."""
    volume: str = source.get("volumeID") or ""
    if not volume.startswith("aws://"):
        return volume
    name = urlsplit(volume).path.strip("/")
    if not _EBS_VOLUME.fullmatch(name):
        wrong = f"Invalid format for AWS volume ({volume})"
        raise Untranslatable(f"failed to translate Kubernetes ID to EBS Volume ID {wrong}")
    return name


def _gce(source: Json, zones: tuple[str, ...]) -> str:
    disk = source.get("pdName") or ""
    if len(zones) > 1:
        return f"projects/{_UNSPECIFIED}/regions/{_region(zones)}/disks/{disk}"
    zone = (zones[0] if zones else "") or _UNSPECIFIED
    return f"projects/{_UNSPECIFIED}/zones/{zone}/disks/{disk}"


def _region(zones: tuple[str, ...]) -> str:
    regions = set()
    for zone in zones:
        parts = zone.split("-")
        if len(parts) != 3:
            expected = "expected: {locale}-{region}-{zone}"
            raise Untranslatable(f"failed to get region from zones: zone in unexpected format, {expected}, got: {zone}")
        regions.add("-".join(parts[:2]))
    if len(regions) != 1:
        raise Untranslatable(f"failed to get region from zones: multiple or no regions gotten from zones: {zones}")
    return regions.pop()


def _azure_disk(source: Json, zones: tuple[str, ...]) -> str:  # noqa: ARG001
    kind = source.get("kind")
    if kind is not None and kind.lower() != "managed":
        raise Untranslatable(f"kind({kind}) is not supported in csi migration")
    return source.get("diskURI") or ""


_PLUGINS = (
    _Plugin("kubernetes.io/aws-ebs", "ebs.csi.aws.com", "awsElasticBlockStore", "topology.ebs.csi.aws.com/zone", _ebs),
    _Plugin("kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "gcePersistentDisk", "topology.gke.io/zone", _gce),
    _Plugin("kubernetes.io/azure-disk", "disk.csi.azure.com", "azureDisk", "", _azure_disk),
    _Plugin(
        "kubernetes.io/cinder",
        "cinder.csi.openstack.org",
        "cinder",
        "topology.cinder.csi.openstack.org/zone",
        _volume_id,
    ),
    _Plugin("kubernetes.io/portworx-volume", "pxd.portworx.com", "portworxVolume", "", _volume_id),
)
_DRIVERS = {plugin.name: plugin.driver for plugin in _PLUGINS}
