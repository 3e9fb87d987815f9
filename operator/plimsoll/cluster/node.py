"""A node, parsed once from its JSON into what scheduling asks about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from plimsoll.cluster.images import Image, node_images
from plimsoll.cluster.labels import labels_of
from plimsoll.cluster.resources import Amounts, amounts
from plimsoll.cluster.taints import Taint
from plimsoll.cluster.times import epoch_s
from plimsoll.errors import InvalidInput, ObjectError

Json = Mapping[str, Any]

ZONE_LABEL = "topology.kubernetes.io/zone"
HOSTNAME_LABEL = "kubernetes.io/hostname"


@dataclass(frozen=True, slots=True)
class NodeInfo:
    """What scheduling asks about a node.

    Attributes:
        allocatable: what pods may request together (cpu in milli, else base units).
        capacity: what the machine has; measured load is judged against it.
        addresses: the values of status.addresses, whatever their type.
        annotations: only those of plimsoll.dev.
        images: that it has, sorted by name.
        features: that its kubelet declares.
    """

    name: str
    uid: str = ""
    resource_version: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False
    allocatable: Amounts = field(default_factory=dict)
    capacity: Amounts = field(default_factory=dict)
    addresses: tuple[str, ...] = ()
    created_s: float = 0.0
    images: tuple[Image, ...] = ()
    features: frozenset[str] = frozenset()

    @property
    def zone(self) -> str:
        return self.labels.get(ZONE_LABEL, "")

    @classmethod
    def parse(cls, node: Json) -> NodeInfo:
        """From the API server's JSON.

        Raises:
            ObjectError: names the node and what in it cannot be read.
        """
        metadata = node.get("metadata") or {}
        try:
            return _parse(node, metadata)
        except (InvalidInput, AttributeError, KeyError, TypeError, ValueError) as error:
            raise ObjectError(f"node {metadata.get('name', '?')} cannot be read: {error}") from error


def _parse(node: Json, metadata: Json) -> NodeInfo:
    spec, status = node.get("spec") or {}, node.get("status") or {}
    annotations = metadata.get("annotations") or {}
    return NodeInfo(
        name=metadata["name"],
        uid=metadata.get("uid", ""),
        resource_version=metadata.get("resourceVersion", ""),
        labels=labels_of(metadata),
        annotations={k: v for k, v in annotations.items() if k.startswith("plimsoll.dev/")},
        taints=tuple(Taint.parse(t) for t in spec.get("taints") or ()),
        unschedulable=bool(spec.get("unschedulable")),
        allocatable=amounts(status.get("allocatable")),
        capacity=amounts(status.get("capacity")),
        addresses=tuple(str(a.get("address")) for a in status.get("addresses") or ()),
        created_s=epoch_s(metadata.get("creationTimestamp")) or 0.0,
        images=node_images(status),
        features=frozenset(status.get("declaredFeatures") or ()),
    )
