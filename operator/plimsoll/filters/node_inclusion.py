"""Which nodes a spread constraint counts (kube-scheduler's ``matchNodeInclusionPolicies``)."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.node_column import NodeColumns
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.selectors import selects_node
from plimsoll.cluster.snapshot import Bools, Snapshot
from plimsoll.cluster.spread import SpreadConstraint
from plimsoll.cluster.taints import tolerated


def included_rows(view: Snapshot, pod: PodInfo, constraint: SpreadConstraint) -> Bools:
    """[N], nodes that the constraint's policies let count for the pod; kept per class of pods."""
    rows = np.ones(view.size, dtype=np.bool_)
    if constraint.honor_affinity and (pod.node_selector or pod.node_affinity is not None):
        rows &= _columns(view).of(view, f"affinity {pod.class_key}", lambda node: affine(pod, node)) > 0
    if constraint.honor_taints:
        rows &= _columns(view).of(view, f"taints {pod.class_key}", lambda node: tolerates(pod, node)) > 0
    return rows


def affine(pod: PodInfo, node: NodeInfo) -> bool:
    return selects_node(pod.node_selector, pod.node_affinity, labels=node.labels, name=node.name)


def tolerates(pod: PodInfo, node: NodeInfo) -> bool:
    """All taints that keep pods away; a cordon is none until it is written as a taint."""
    return all(tolerated(taint, pod.tolerations) for taint in node.taints if taint.hard)


def _columns(view: Snapshot) -> NodeColumns:
    kept = _KEPT.get(view)
    if kept is None:
        kept = _KEPT[view] = NodeColumns(np.int8)
    return kept


_KEPT: WeakKeyDictionary[Snapshot, NodeColumns] = WeakKeyDictionary()
