"""All filters, in the order of kube-scheduler's default profile, and what wakes a pod that one rejected."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Snapshot
from plimsoll.filters import load_limits
from plimsoll.filters.dynamic_resources import DynamicResources
from plimsoll.filters.inter_pod_affinity import InterPodAffinity
from plimsoll.filters.interface import ClusterFilter, NodeFilter
from plimsoll.filters.node_affinity import NodeAffinity
from plimsoll.filters.node_declared_features import NodeDeclaredFeatures
from plimsoll.filters.node_name import NodeName
from plimsoll.filters.node_ports import NodePorts
from plimsoll.filters.node_resources_fit import NodeResourcesFit
from plimsoll.filters.node_unschedulable import NodeUnschedulable
from plimsoll.filters.node_volume_limits import NodeVolumeLimits
from plimsoll.filters.pod_topology_spread import PodTopologySpread
from plimsoll.filters.policy_nodes import PolicyNodes
from plimsoll.filters.spread_hints import WaitingForSpread
from plimsoll.filters.taint_toleration import TaintToleration
from plimsoll.filters.volume_binding import VolumeBinding
from plimsoll.filters.volume_restrictions import VolumeRestrictions
from plimsoll.filters.volume_zone import VolumeZone
from plimsoll.filters.waiting import Unless, WaitingIndex
from plimsoll.filters.waiting_for_affinity import WaitingForAffinity
from plimsoll.filters.waiting_for_room import WaitingForRoom

NODE_FILTERS: tuple[NodeFilter, ...] = (NodeUnschedulable(), NodeName(), TaintToleration(), NodeAffinity())
CLUSTER_FILTERS: tuple[ClusterFilter, ...] = (
    NodePorts(),
    NodeResourcesFit(),
    VolumeRestrictions(),
    NodeVolumeLimits(),
    VolumeBinding(),
    VolumeZone(),
    PodTopologySpread(),
    InterPodAffinity(),
    DynamicResources(),
)
# These come after all others in kube-scheduler's order.
LATE_NODE_FILTERS: tuple[NodeFilter, ...] = (NodeDeclaredFeatures(),)

# What rejects a pod without being a filter.
UNSUPPORTED, ANY_NODE, POLICY = "UnsupportedFields", "AnyNode", "SchedulingPolicy"

_EVERY: tuple[NodeFilter | ClusterFilter, ...] = (*NODE_FILTERS, *CLUSTER_FILTERS, *LATE_NODE_FILTERS)
_FILTERS = {f.name: f for f in _EVERY}
_GONE = ChangeKind.POD_DELETED | ChangeKind.NOMINATION_ENDED
_WAITING: dict[str, Callable[[], WaitingIndex]] = {
    NodePorts.name: partial(Unless, _GONE, "host_ports"),
    NodeResourcesFit.name: WaitingForRoom,
    VolumeRestrictions.name: partial(Unless, _GONE, "volumes"),
    NodeVolumeLimits.name: partial(Unless, _GONE, "volumes"),
    PodTopologySpread.name: WaitingForSpread,
    InterPodAffinity.name: WaitingForAffinity,
}
_WAKES: dict[str, ChangeKind] = {
    **{name: f.wakes for name, f in _FILTERS.items()},
    PolicyNodes.name: PolicyNodes.wakes,
    UNSUPPORTED: ChangeKind(0),
    ANY_NODE: ChangeKind.NODE_ADDED,
    POLICY: ChangeKind.POLICY_CHANGED,
    load_limits.NAME: load_limits.WAKES,
}


def wakes_of(plugins: Iterable[str]) -> ChangeKind:
    """Changes after which a pod that these plugins rejected may fit."""
    kinds = ChangeKind(0)
    for plugin in plugins:
        kinds |= _WAKES[plugin]
    return kinds


def helps(plugin: str, change: Change, pod: PodInfo, view: Snapshot) -> bool:
    """Whether a pod that the plugin rejected may fit after the change."""
    if not change.kind & _WAKES[plugin]:
        return False
    found = _FILTERS.get(plugin)
    return found is None or found.helps(change, pod, view)


def hint(plugin: str, change: Change, view: Snapshot) -> Callable[[PodInfo], bool]:
    """``helps`` for many pods."""
    found = _FILTERS.get(plugin)
    if isinstance(found, NodeResourcesFit):
        return found.hint(change, view)
    return lambda pod: helps(plugin, change, pod, view)


def waiting_index(plugin: str) -> WaitingIndex | None:
    """An index for pods that the plugin rejects; None where each of them is to be asked."""
    made = _WAITING.get(plugin)
    return None if made is None else made()
