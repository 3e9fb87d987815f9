"""The preferences term: where the pod would rather be, by preferred node affinity and PreferNoSchedule taints.

Sources: kube-scheduler's NodeAffinity (sum of the weights of matching terms over the largest such sum) and
TaintToleration (untolerated PreferNoSchedule taints over the most of them), in the ratio of their weights there.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.node_column import NodeColumns
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Bools, Snapshot
from plimsoll.cluster.taints import tolerated
from plimsoll.load.readings import Floats

_AFFINITY, _TAINTS = 2.0, 3.0


@dataclass(slots=True)
class PreferenceCaches:
    """Raw columns by class of pods; normalised late, since that depends on which nodes are feasible."""

    affinity: NodeColumns = field(default_factory=lambda: NodeColumns(np.float64))
    taints: NodeColumns = field(default_factory=lambda: NodeColumns(np.float64))


def preferences_term(view: Snapshot, pod: PodInfo, feasible: Bools, caches: PreferenceCaches) -> Floats | None:
    """[N], 0..1; None where the feasible nodes are all alike to the pod."""
    if np.count_nonzero(feasible) <= 1:
        return None
    costs: list[tuple[float, Floats]] = []
    avoided = caches.taints.of(view, pod.class_key, lambda node: _avoided(node, pod)).astype(np.float64, copy=False)
    most = avoided[feasible].max(initial=0.0)
    if most > 0:
        costs.append((_TAINTS, np.clip(avoided / most, 0.0, 1.0)))
    if pod.preferred_nodes:
        wanted = caches.affinity.of(view, pod.class_key, lambda node: _wanted(node, pod)).astype(np.float64, copy=False)
        most = wanted[feasible].max(initial=0.0)
        if most > 0:
            costs.append((_AFFINITY, 1 - np.clip(wanted / most, 0.0, 1.0)))
    if not costs:
        return None
    total: Floats = np.sum([weight * cost for weight, cost in costs], axis=0)
    return total / sum(weight for weight, _ in costs)


def _avoided(node: NodeInfo, pod: PodInfo) -> int:
    """Taints that ask the pod to stay away."""
    return sum(t.effect == "PreferNoSchedule" and not tolerated(t, pod.tolerations) for t in node.taints)


def _wanted(node: NodeInfo, pod: PodInfo) -> int:
    return sum(p.weight for p in pod.preferred_nodes if p.term.matches(node.labels, node.name))
