"""The spreading term: pods of the same workload that are on the node, and in its zone, already.

Replicas share one load curve, so their variances add up; and while metrics lag, spreading is what keeps a rollout
from going where the first replica went. kube-scheduler's default spreading does this for Services and ReplicaSets;
the workload key covers Jobs and bare pods as well.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Bools, Snapshot
from plimsoll.load.readings import Floats
from plimsoll.scores.normalise import share_of_most

# A neighbour on the node weighs twice as much as one in the zone.
_NODE, _ZONE = 2 / 3, 1 / 3
_ZONES_THAT_MATTER = 2


def spreading_term(view: Snapshot, pod: PodInfo, feasible: Bools) -> Floats:
    """[N], 0 where no replica is, 1 at the feasible node (and zone) that has the most."""
    counts = view.workloads.counts(pod.workload)
    if not counts:
        return np.zeros(view.size)
    on_node = np.zeros(view.size)
    on_node[list(counts)] = list(counts.values())
    in_zone = _per_zone(view, counts)
    if in_zone is None:
        return _clipped_share(on_node, feasible)
    return _NODE * _clipped_share(on_node, feasible) + _ZONE * _clipped_share(in_zone, feasible)


def _per_zone(view: Snapshot, counts: Mapping[int, int]) -> Floats | None:
    """[N], replicas in each node's zone, 0 for nodes without one; None where fewer than two zones are known."""
    if view.zones < _ZONES_THAT_MATTER:
        return None
    rows = np.fromiter(counts, dtype=np.int64)
    weights = np.fromiter(counts.values(), dtype=np.float64)
    totals = np.bincount(view.zone[rows], weights=weights, minlength=view.zones + 1).astype(np.float64)
    totals[0] = 0.0
    per_zone: Floats = totals[view.zone]
    return per_zone


def _clipped_share(counts: Floats, feasible: Bools) -> Floats:
    """A node that is not feasible may have more replicas than any that is."""
    return np.clip(share_of_most(counts, feasible), 0.0, 1.0)
