"""What a cluster should look like."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, Self

from devcluster.exporter.load import Load

InstanceLabel = Literal["node", "address"]
_LEASE_DURATION_S = 40
_NODES_PER_LEASE_SECOND = 20
_ZONE_NAMES = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSpec:
    """One fake node; quantities as in Kubernetes."""

    name: str
    cpu: str = "16"
    memory: str = "64Gi"
    pods: str = "110"
    zone: str = "a"
    """Where empty the node has no label for it."""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    taints: Sequence[Mapping[str, str]] = ()
    extra_resources: Mapping[str, str] = field(default_factory=dict)
    """Further capacity, e.g. `{"nvidia.com/gpu": "4"}`."""
    load: Load = field(default_factory=Load)
    """What the exporter says of it at first."""
    internal_ip: str = ""
    """An address of its own; where empty, kwok gives all nodes the one at which metrics-server finds them."""


_NODE_FIELDS = {each.name for each in fields(NodeSpec)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSpec:
    """One cluster."""

    nodes: Sequence[NodeSpec] = ()
    controllers: bool = True
    """Run kube-controller-manager and kwok; without them nodes are ready but dead, pods stay Pending."""
    prometheus: bool = False
    metrics_server: bool = False
    kube_scheduler: bool = False
    """Run kube-scheduler, too, for pods that name no other."""
    audit: bool = False
    apiserver_flags: Sequence[str] = ()
    scrape_interval_s: float = 2.0
    instance_label: InstanceLabel = "node"
    """Whether Prometheus' `instance` is the node's name, or an address that only node_uname_info maps."""

    @classmethod
    def of(cls, count: int, *, zones: int = 3, **options: Any) -> Self:
        """So many equal nodes `node-1`, `node-2`, ... spread over zones `a`, `b`, ...

        `options` are fields of NodeSpec, then of every node, and fields of ClusterSpec.
        """
        of_nodes = {name: options.pop(name) for name in _NODE_FIELDS & options.keys()}
        return cls(nodes=equal_nodes(count, zones=zones, **of_nodes), **options)

    @property
    def lease_duration_s(self) -> int:
        """How long a silent node counts as alive.

        As a kubelet's, but longer where kwok could not renew that many leases in time on two cores.
        """
        return max(_LEASE_DURATION_S, len(self.nodes) // _NODES_PER_LEASE_SECOND)

    @property
    def exporter(self) -> bool:
        """Whether anything asks for the nodes' load."""
        return self.prometheus or self.metrics_server


def equal_nodes(count: int, *, zones: int = 3, first: int = 1, **options: Any) -> list[NodeSpec]:
    """Nodes that differ in name and zone alone."""
    return [
        NodeSpec(name=f"node-{number}", zone=_ZONE_NAMES[(number - 1) % zones], **options)
        for number in range(first, first + count)
    ]
