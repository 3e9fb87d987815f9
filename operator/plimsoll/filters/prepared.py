"""The filters as one pod sees them: prepared once per attempt, then asked over all nodes or about one.

kube-scheduler's RunPreFilterPlugins and RunFilterPlugins: the first filter that refuses a node ends it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Snapshot
from plimsoll.filters.interface import ClusterFilter, Code, NodeFilter, Overlay, Prepared, Problem, Reason
from plimsoll.filters.node_affinity import CONFLICT, OUTSIDE, NodeAffinity, candidates
from plimsoll.filters.node_resources_fit import NodeResourcesFit
from plimsoll.filters.order import CLUSTER_FILTERS, LATE_NODE_FILTERS, NODE_FILTERS
from plimsoll.filters.policy_nodes import PolicyNodes
from plimsoll.policy.compiled import Policy


@dataclass(frozen=True, slots=True)
class Rejected:
    """One node's first refusal."""

    plugin: str
    reasons: tuple[Reason, ...]

    @property
    def resolvable(self) -> bool:
        """Removing pods could help: kube-scheduler's Unschedulable."""
        return all(reason.resolvable for reason in self.reasons)


@dataclass(frozen=True, slots=True)
class PodFilters:
    """What concerns one pod, good until anything changes.

    Attributes:
        named: names of the only nodes that are looked at; None: all.
        prepared: the filters that concern the pod, in order.
        problem: what keeps the pod from every node; None where nothing does.
        problem_plugin: whose problem that is.
    """

    view: Snapshot
    pod: PodInfo
    policy: Policy
    named: frozenset[str] | None
    prepared: tuple[tuple[ClusterFilter, Prepared], ...]
    problem: Problem | None = None
    problem_plugin: str = ""

    @property
    def only_fit(self) -> bool:
        """Of what is on a node only the room that it takes matters to the pod."""
        return len(self.prepared) == 1 and isinstance(self.prepared[0][0], NodeResourcesFit)

    def check(self, row: int, overlay: Overlay) -> Rejected | None:
        """One node as it would be with the overlay's pods; None where the pod may go there. Load limits apart."""
        return self._named(row) or self._by_node(NODE_FILTERS, row) or self._by_cluster(row, overlay) or self._late(row)

    def check_node(self, row: int) -> tuple[str, ...]:
        """What refuses the node whatever pods are there; empty where nothing does."""
        rejected = self._named(row) or self._by_node(NODE_FILTERS, row) or self._late(row)
        return tuple(reason.text for reason in rejected.reasons) if rejected else ()

    def _named(self, row: int) -> Rejected | None:
        node = self.view.nodes[row]
        if node is None or (self.named is not None and node.name not in self.named):
            return Rejected(NodeAffinity.name, (Reason(OUTSIDE, resolvable=False),))
        return None

    def _late(self, row: int) -> Rejected | None:
        return self._by_node((*LATE_NODE_FILTERS, PolicyNodes(self.policy)), row)

    def _by_node(self, filters: Sequence[NodeFilter], row: int) -> Rejected | None:
        node = self.view.nodes[row]
        assert node is not None
        for node_filter in filters:
            if node_filter.concerns(self.pod) and node_filter.refuses(self.pod, node):
                return Rejected(node_filter.name, (Reason(node_filter.reason, resolvable=False),))
        return None

    def _by_cluster(self, row: int, overlay: Overlay) -> Rejected | None:
        for cluster_filter, prepared in self.prepared:
            if reasons := prepared.check(row, overlay):
                return Rejected(cluster_filter.name, reasons)
        return None


def prepare_filters(view: Snapshot, pod: PodInfo, policy: Policy) -> PodFilters:
    """A problem that removing pods could mend does not keep later filters from finding one that they could not."""
    named = candidates(pod)
    if named is not None and not named:
        return PodFilters(view, pod, policy, named, (), Problem(CONFLICT), NodeAffinity.name)
    prepared: list[tuple[ClusterFilter, Prepared]] = []
    problem, plugin = None, ""
    for cluster_filter, answer in _answers(view, pod):
        if not isinstance(answer, Problem):
            prepared.append((cluster_filter, answer))
            continue
        problem, plugin = _worded(answer, cluster_filter.name), cluster_filter.name
        if answer.code is not Code.UNSCHEDULABLE:
            break
    return PodFilters(view, pod, policy, named, tuple(prepared), problem, plugin)


def _answers(view: Snapshot, pod: PodInfo) -> Iterator[tuple[ClusterFilter, Prepared | Problem]]:
    for cluster_filter in CLUSTER_FILTERS:
        answer = cluster_filter.prepare(view, pod)
        if answer is not None:
            yield cluster_filter, answer


def _worded(problem: Problem, plugin: str) -> Problem:
    """kube-scheduler names the plugin only where one broke."""
    if problem.code is not Code.ERROR:
        return problem
    return Problem(f'running PreFilter plugin "{plugin}": {problem.message}', problem.code)
