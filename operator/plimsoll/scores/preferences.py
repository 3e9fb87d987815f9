"""The preferences term: where the pod would rather be, and where others would rather have it.

Five of kube-scheduler's score plugins speak, each by its own normalised score. What is written down (in this pod, in
a pod on a node, in a taint) is a wish and weighs as it does there, relative to node affinity. What nobody wrote weighs
a fraction of one: enough to decide between nodes that are about alike, not enough against a moderate difference in
load.

Wishes add up: the term is the mean of those that tell the nodes apart, and weighs as much as these together. So one
clear wish is worth the same whatever else there is to say about the nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Bools, Ints, Snapshot
from plimsoll.load.readings import Floats
from plimsoll.scores.normalise import MAX_SCORE
from plimsoll.scores.preferred import (
    image_locality,
    inter_pod_affinity,
    node_affinity,
    pod_topology_spread,
    taint_toleration,
)
from plimsoll.scores.preferred.caches import PreferenceCaches

# kube-scheduler's default weights over that of node affinity.
_WRITTEN = {
    taint_toleration.NAME: 3 / 2,
    node_affinity.NAME: 1.0,
    pod_topology_spread.NAME: 1.0,
    inter_pod_affinity.NAME: 1.0,
}
_IMAGES = 1 / 4
# The spreading term says the same of the replicas of one workload, and weighs enough.
_SPREAD_BY_DEFAULT = 1 / 8


@dataclass(frozen=True, slots=True)
class Preferences:
    """What the plugins say.

    Attributes:
        scores: by plugin, [N], kube-scheduler's normalised score, 0..100, of the feasible nodes; absent where
            kube-scheduler skips the plugin, and all of them where there is nothing to compare.
        telling: the plugins to which the feasible nodes are not all alike.
        cost: [N], 0..1, how far a node is behind the best by each of these; zeros where there are none.
        wishes: what they weigh together; a wish of the pod for some nodes is 1.
    """

    scores: Mapping[str, Ints] = field(default_factory=dict)
    telling: frozenset[str] = frozenset()
    cost: Floats = field(default_factory=lambda: np.zeros(0))
    wishes: float = 0.0

    def at(self, rows: Ints) -> list[dict[str, int]]:
        """Of each of some feasible nodes, its scores by the plugins that tell the nodes apart."""
        names = [name for name in self.scores if name in self.telling]
        columns = [self.scores[name][rows].tolist() for name in names]
        return (
            [dict(zip(names, scores, strict=True)) for scores in zip(*columns, strict=True)]
            if names
            else [{} for _ in rows]
        )


def preferences_term(
    view: Snapshot, pod: PodInfo, feasible: Bools, caches: PreferenceCaches, *, spread_by_default: bool = True
) -> Preferences:
    """Over the feasible nodes; of other rows the scores and the cost say nothing.

    Args:
        spread_by_default: whether a pod that asks for no spreading is spread all the same.
    """
    if np.count_nonzero(feasible) <= 1:
        return Preferences(cost=np.zeros(view.size))
    by_pods = _by_pods(view, pod, feasible, caches, spread=spread_by_default or bool(pod.spread))
    if not by_pods and not pod.preferred_nodes:
        by_nodes = _by_nodes(view, pod, caches)
        if by_nodes is not None:
            return by_nodes
    scores = _scores(view, pod, feasible, caches, by_pods)
    total, weights = np.zeros(view.size), dict[str, float]()
    for name, found in scores.items():
        if found.min() == found.max():
            continue
        compared = found[feasible]
        best = int(compared.max())
        if int(compared.min()) < best:
            weights[name] = _weight(name, pod)
            total += weights[name] * np.clip((best - found) / MAX_SCORE, 0.0, 1.0)
    wishes = sum(weights.values())
    return Preferences(scores, frozenset(weights), total / wishes if weights else total, wishes)


def _by_pods(
    view: Snapshot, pod: PodInfo, feasible: Bools, caches: PreferenceCaches, *, spread: bool
) -> dict[str, Ints]:
    """What looks at the pods that are there; as a rule nothing of it concerns the pod."""
    found = {
        pod_topology_spread.NAME: pod_topology_spread.score(view, pod, feasible, caches) if spread else None,
        inter_pod_affinity.NAME: inter_pod_affinity.score(view, pod, feasible),
    }
    return {name: scores for name, scores in found.items() if scores is not None}


def _by_nodes(view: Snapshot, pod: PodInfo, caches: PreferenceCaches) -> Preferences | None:
    """What is said of a pod to which all nodes are alike but for the pods there; None where they are not, whoever is
    feasible.
    """
    found: Preferences | None = caches.alike.of(view, (pod.images, pod.containers), lambda: _alike(view, pod, caches))
    return found


def _alike(view: Snapshot, pod: PodInfo, caches: PreferenceCaches) -> Preferences | None:
    images = image_locality.score(view, pod, caches)
    if images.min() < images.max() or taint_toleration.asked(view, caches):
        return None
    full = taint_toleration.score(view, pod, view.live, caches)
    return Preferences({taint_toleration.NAME: full, image_locality.NAME: images}, cost=np.zeros(view.size))


def _scores(
    view: Snapshot, pod: PodInfo, feasible: Bools, caches: PreferenceCaches, by_pods: Mapping[str, Ints]
) -> dict[str, Ints]:
    """In the order of kube-scheduler's default profile."""
    preferred = node_affinity.score(view, pod, feasible, caches)
    return {
        taint_toleration.NAME: taint_toleration.score(view, pod, feasible, caches),
        **({} if preferred is None else {node_affinity.NAME: preferred}),
        **by_pods,
        image_locality.NAME: image_locality.score(view, pod, caches),
    }


def _weight(name: str, pod: PodInfo) -> float:
    if name == pod_topology_spread.NAME and not pod.spread:
        return _SPREAD_BY_DEFAULT
    return _WRITTEN.get(name, _IMAGES)
