"""All filters over all nodes, in kube-scheduler's order, with the policy's own after them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plimsoll.cluster.changes import ChangeKind
from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.cluster.snapshot import Bools, Snapshot
from plimsoll.filters import load_limits
from plimsoll.filters.interface import ClusterFilter, NodeFilter, Refusal
from plimsoll.filters.node_affinity import CONFLICT, OUTSIDE, NodeAffinity, candidates
from plimsoll.filters.node_name import NodeName
from plimsoll.filters.node_ports import NodePorts
from plimsoll.filters.node_resources_fit import NodeResourcesFit
from plimsoll.filters.node_unschedulable import NodeUnschedulable
from plimsoll.filters.node_verdicts import NodeVerdicts
from plimsoll.filters.policy_nodes import PolicyNodes
from plimsoll.filters.taint_toleration import TaintToleration
from plimsoll.policy.compiled import Policy

NODE_FILTERS: tuple[NodeFilter, ...] = (NodeUnschedulable(), NodeName(), TaintToleration(), NodeAffinity())
# What rejects a pod without being a filter.
UNSUPPORTED, ANY_NODE, POLICY = "UnsupportedFields", "AnyNode", "SchedulingPolicy"
CLUSTER_FILTERS: tuple[ClusterFilter, ...] = (NodePorts(), NodeResourcesFit())


@dataclass(frozen=True, slots=True)
class Feasibility:
    """What the filters leave.

    Attributes:
        rows: [N], True where no filter refuses.
        refusals: reasons in the order of the filters; a node stands only under the first filter that refused it.
        problem: kube-scheduler's PreFilter message where the pod as a whole cannot fit; "" otherwise.
        problem_plugin: whose message that is.
    """

    rows: Bools
    refusals: tuple[Refusal, ...]
    problem: str = ""
    problem_plugin: str = ""


class FilterCaches:
    """Kept verdicts of node filters, for pods and for each policy in force."""

    def __init__(self) -> None:
        self._pods = NodeVerdicts(NODE_FILTERS)
        self._policies: dict[str, tuple[Policy, NodeVerdicts]] = {}

    def of_pods(self) -> NodeVerdicts:
        return self._pods

    def keep_policies(self, names: Collection[str]) -> None:
        """Drops what was kept for policies that are gone."""
        self._policies = {name: kept for name, kept in self._policies.items() if name in names}

    def of_policy(self, policy: Policy) -> NodeVerdicts:
        kept, verdicts = self._policies.get(policy.name, (None, None))
        if verdicts is None or kept is not policy:
            verdicts = NodeVerdicts((PolicyNodes(policy),))
            self._policies[policy.name] = policy, verdicts
        return verdicts


def run_filters(view: Snapshot, pod: PodInfo, policy: Policy, caches: FilterCaches) -> Feasibility:
    """Everything but the load limits, which need readings."""
    named = candidates(pod)
    if named is not None and not named:
        return Feasibility(np.zeros(view.size, dtype=np.bool_), (), CONFLICT, NodeAffinity.name)
    left = view.live.copy()
    refusals: list[Refusal] = []
    for group in _groups(view, pod, policy, caches, named):
        refused = np.zeros(view.size, dtype=np.bool_)
        for refusal in group:
            rows = refusal.rows & left
            if rows.any():
                refused |= rows
                refusals.append(Refusal(refusal.plugin, refusal.reason, rows, refusal.resolvable & rows))
        left &= ~refused
    return Feasibility(left, tuple(refusals))


def selected_rows(view: Snapshot, policy: Policy, caches: FilterCaches) -> Bools:
    """[N], live nodes that the policy may use, whatever the pod."""
    rows: Bools = view.live & (caches.of_policy(policy).of(view, _NO_POD) == 0)
    return rows


def wakes_of(plugins: Iterable[str]) -> ChangeKind:
    """Changes after which a pod that these plugins rejected may fit."""
    kinds = ChangeKind(0)
    for plugin in plugins:
        kinds |= _WAKES[plugin]
    return kinds


def _groups(
    view: Snapshot, pod: PodInfo, policy: Policy, caches: FilterCaches, named: frozenset[str] | None
) -> Iterator[Iterable[Refusal]]:
    of_pods = caches.of_pods()
    if named is None:
        yield _node_refusals(of_pods.filters, of_pods.of(view, pod))
    else:
        rows = [view.row_of[name] for name in named if name in view.row_of]
        yield (_outside(view, rows),)
        yield _node_refusals(of_pods.filters, of_pods.of_rows(view, pod, rows))
    for cluster_filter in CLUSTER_FILTERS:
        if cluster_filter.concerns(pod):
            yield cluster_filter.refusals(view, pod)
    if policy.node_selector or policy.node_affinity is not None:
        of_policy = caches.of_policy(policy)
        yield _node_refusals(of_policy.filters, of_policy.of(view, _NO_POD))


def _outside(view: Snapshot, named: Sequence[int]) -> Refusal:
    rows = np.ones(view.size, dtype=np.bool_)
    rows[named] = False
    return Refusal(NodeAffinity.name, OUTSIDE, rows, resolvable=np.zeros_like(rows))


def _node_refusals(filters: Sequence[NodeFilter], first: NDArray[np.int8]) -> Iterator[Refusal]:
    if not first.any():
        return
    never = np.zeros(len(first), dtype=np.bool_)
    for i, node_filter in enumerate(filters, start=1):
        yield Refusal(node_filter.name, node_filter.reason, rows=first == i, resolvable=never)


# The policy's node filters do not look at the pod.
_NO_POD = PodInfo(uid=Uid(""), namespace="", name="")
_WAKES: dict[str, ChangeKind] = {
    **{f.name: f.wakes for f in NODE_FILTERS},
    **{f.name: f.wakes for f in CLUSTER_FILTERS},
    PolicyNodes.name: PolicyNodes.wakes,
    UNSUPPORTED: ChangeKind(0),
    ANY_NODE: ChangeKind.NODE_ADDED,
    POLICY: ChangeKind.POLICY_CHANGED,
    load_limits.NAME: load_limits.WAKES,
}
