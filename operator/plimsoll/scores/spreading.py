"""The spreading term: pods of the same workload that are on the node, and in its zone, already.

Replicas share one load curve, so their variances add up; and while metrics lag, spreading is what keeps a rollout
from going where the first replica went. kube-scheduler's default spreading does this for Services and ReplicaSets;
the workload key covers Jobs and bare pods as well.
"""

from __future__ import annotations

import numpy as np

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Bools, Ints, Snapshot
from plimsoll.cluster.workload_zones import Zoning
from plimsoll.load.readings import Floats

# A neighbour on the node weighs twice as much as one in the zone.
_NODE, _ZONE = 2 / 3, 1 / 3
_ZONES_THAT_MATTER = 2


def spreading_term(view: Snapshot, pod: PodInfo, feasible: Bools) -> Floats:
    """[N], 0 where no replica is, 1 at the feasible node (and zone) that has the most."""
    on_node = view.workloads.by_row(pod.workload, view.size)
    if on_node is None:
        return np.zeros(view.size)
    by_count = np.arange(on_node.max() + 1, dtype=np.float64)
    if view.zones < _ZONES_THAT_MATTER:
        return _clipped_share(by_count, _most(by_count, on_node, feasible)).take(on_node)
    in_zone = view.workloads.by_zone(pod.workload, Zoning(view.zoning, view.zone, view.zones))
    nodes = _NODE * _clipped_share(by_count, _most(by_count, on_node, feasible))
    zones = _ZONE * _clipped_share(in_zone, _most(in_zone, view.zone, feasible))
    spread: Floats = nodes.take(on_node) + zones.take(view.zone)
    return spread


def _most(counts: Floats, place: Ints, feasible: Bools) -> float:
    """The largest count at a feasible node.

    Args:
        counts: by place.
        place: [N], of each node.
    """
    first = int(counts.argmax())
    if ((place == first) & feasible).any():
        return float(counts[first])
    return float(counts.take(place[feasible]).max(initial=0.0))


def _clipped_share(counts: Floats, most: float) -> Floats:
    """A node that is not feasible may have more replicas than any that is. Where none has any all are alike."""
    return np.minimum(counts / most, 1.0) if most > 0 else np.zeros(len(counts))
