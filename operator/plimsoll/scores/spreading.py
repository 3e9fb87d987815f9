"""The spreading term: pods of the same workload that are on the node, and in its zone, already.

Replicas share one load curve, so their variances add up; and while metrics lag, spreading is what keeps a rollout
from going where the first replica went. kube-scheduler's default spreading does this for Services and ReplicaSets;
the workload key covers Jobs and bare pods as well.
"""

from __future__ import annotations

import numpy as np

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Bools, Ints, Snapshot
from plimsoll.load.readings import Floats
from plimsoll.scores.normalise import share_of_most

# A neighbour on the node weighs twice as much as one in the zone.
_NODE, _ZONE = 2 / 3, 1 / 3
_ZONES_THAT_MATTER = 2


def spreading_term(view: Snapshot, pod: PodInfo, feasible: Bools) -> Floats:
    """[N], 0 where no replica is, 1 at the feasible node (and zone) that has the most."""
    on_node = view.workloads.by_row(pod.workload, view.size)
    if on_node is None:
        return np.zeros(view.size)
    in_zone = _per_zone(view, on_node)
    if in_zone is None:
        return _clipped_share(on_node, feasible)
    return _NODE * _clipped_share(on_node, feasible) + _ZONE * _clipped_share(in_zone, feasible)


def _per_zone(view: Snapshot, on_node: Ints) -> Floats | None:
    """[N], replicas in each node's zone, 0 for nodes without one; None where fewer than two zones are known."""
    if view.zones < _ZONES_THAT_MATTER:
        return None
    totals = np.bincount(view.zone, weights=on_node, minlength=view.zones + 1).astype(np.float64)
    totals[0] = 0.0
    per_zone: Floats = totals[view.zone]
    return per_zone


def _clipped_share(counts: Ints | Floats, feasible: Bools) -> Floats:
    """A node that is not feasible may have more replicas than any that is."""
    return np.clip(share_of_most(counts, feasible), 0.0, 1.0)
