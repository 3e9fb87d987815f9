"""PreferNoSchedule taints (kube-scheduler's TaintToleration): untolerated ones over the most that a node has."""

from __future__ import annotations

import numpy as np

from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Bools, Ints, Snapshot
from plimsoll.cluster.taints import tolerated
from plimsoll.scores.normalise import MAX_SCORE, percent_of_most
from plimsoll.scores.preferred.caches import PreferenceCaches

NAME = "TaintToleration"
_EFFECT = "PreferNoSchedule"
_ANY_POD = ""


def score(view: Snapshot, pod: PodInfo, feasible: Bools, caches: PreferenceCaches) -> Ints:
    """[N]; always has a score: full marks all over where no taint asks the pod to stay away."""
    # As a rule no node has such a taint, and then no class of pods needs a column of its own.
    if not asked(view, caches):
        return np.full(view.size, MAX_SCORE)
    avoided = caches.taints.of(view, pod.class_key, lambda node: _avoided(node, pod))
    return percent_of_most(avoided.astype(np.int64), feasible, reverse=True)


def asked(view: Snapshot, caches: PreferenceCaches) -> bool:
    """Whether any node has such a taint; if not, all nodes are alike to every pod."""
    return bool(caches.taints.of(view, _ANY_POD, _asking).any())


def _asking(node: NodeInfo) -> int:
    return sum(taint.effect == _EFFECT for taint in node.taints)


def _avoided(node: NodeInfo, pod: PodInfo) -> int:
    return sum(taint.effect == _EFFECT and not tolerated(taint, pod.tolerations) for taint in node.taints)
