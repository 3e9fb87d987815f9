"""Preferred node affinity (kube-scheduler's NodeAffinity): weights of matching terms over the largest such sum."""

from __future__ import annotations

import numpy as np

from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Bools, Ints, Snapshot
from plimsoll.scores.normalise import percent_of_most
from plimsoll.scores.preferred.caches import PreferenceCaches

NAME = "NodeAffinity"


def score(view: Snapshot, pod: PodInfo, feasible: Bools, caches: PreferenceCaches) -> Ints | None:
    """[N]; None where the pod prefers no nodes."""
    if not pod.preferred_nodes:
        return None
    wanted = caches.affinity.of(view, pod.class_key, lambda node: _wanted(node, pod))
    return percent_of_most(wanted.astype(np.int64), feasible)


def _wanted(node: NodeInfo, pod: PodInfo) -> int:
    return sum(p.weight for p in pod.preferred_nodes if p.term.matches(node.labels, node.name))
