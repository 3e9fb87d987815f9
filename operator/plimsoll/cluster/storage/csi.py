"""CSINode, CSIDriver and CSIStorageCapacity: what CSI drivers say of themselves, of nodes and of their room."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from plimsoll.cluster.quantity import whole
from plimsoll.cluster.selectors import LabelSelector
from plimsoll.cluster.storage.reading import Json, read

_MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"


@dataclass(frozen=True, slots=True)
class CSINode:
    """The drivers on one node.

    Attributes:
        limits: how many volumes the node can have attached, by driver; a driver that says nothing has no limit.
        migrated: in-tree plugins whose volumes the node hands to CSI drivers.
    """

    name: str
    limits: Mapping[str, int] = field(default_factory=dict)
    migrated: frozenset[str] = frozenset()

    @property
    def key(self) -> str:
        return self.name

    @classmethod
    def parse(cls, node: Json) -> CSINode:
        """Raises ObjectError."""
        return read("CSINode", node, _csi_node)


@dataclass(frozen=True, slots=True)
class CSIDriver:
    """One driver.

    Attributes:
        storage_capacity: it publishes how much room there is, and expects to be asked for no more.
    """

    name: str
    storage_capacity: bool = False

    @property
    def key(self) -> str:
        return self.name

    @classmethod
    def parse(cls, driver: Json) -> CSIDriver:
        """Raises ObjectError."""
        return read("CSIDriver", driver, _csi_driver)


@dataclass(frozen=True, slots=True)
class CSIStorageCapacity:
    """Room for volumes of one class on some nodes.

    Attributes:
        node_topology: the nodes; None: no node.
        limit_bytes: the largest volume that can be made; None where that is not known, and none can.
    """

    namespace: str
    name: str
    storage_class: str = ""
    node_topology: LabelSelector | None = None
    limit_bytes: int | None = None

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    @classmethod
    def parse(cls, capacity: Json) -> CSIStorageCapacity:
        """Raises ObjectError."""
        return read("CSIStorageCapacity", capacity, _capacity)


def _csi_node(node: Json) -> CSINode:
    metadata = node["metadata"]
    drivers = (node.get("spec") or {}).get("drivers") or ()
    counts = {d["name"]: (d.get("allocatable") or {}).get("count") for d in drivers}
    migrated = (metadata.get("annotations") or {}).get(_MIGRATED_PLUGINS) or ""
    return CSINode(
        name=metadata["name"],
        limits={driver: int(count) for driver, count in counts.items() if count is not None},
        migrated=frozenset(migrated.split(",")) if migrated else frozenset(),
    )


def _csi_driver(driver: Json) -> CSIDriver:
    return CSIDriver(driver["metadata"]["name"], bool((driver.get("spec") or {}).get("storageCapacity")))


def _capacity(capacity: Json) -> CSIStorageCapacity:
    metadata, topology = capacity["metadata"], capacity.get("nodeTopology")
    limit = capacity.get("maximumVolumeSize")
    limit = capacity.get("capacity") if limit is None else limit
    return CSIStorageCapacity(
        namespace=metadata["namespace"],
        name=metadata["name"],
        storage_class=capacity.get("storageClassName") or "",
        node_topology=None if topology is None else LabelSelector.parse(topology),
        limit_bytes=None if limit is None else whole(limit),
    )
