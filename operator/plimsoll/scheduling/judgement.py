"""One pod judged in full: the decision, and beside it every node's verdict and every term, for those who ask why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Snapshot
from plimsoll.filters.interface import Code, Refusal
from plimsoll.filters.prepared import PodFilters, prepare_filters
from plimsoll.filters.run import run_filters
from plimsoll.load.estimate import PolicyLoad
from plimsoll.policy.compiled import Policy
from plimsoll.scheduling.decide import Caches, beyond, decide
from plimsoll.scheduling.decision import Decision
from plimsoll.scheduling.limits import within_limits
from plimsoll.scheduling.terms import weigh

SUCCESS = "Success"


@dataclass(frozen=True, slots=True)
class NodeVerdict:
    """What one node says to the pod.

    Attributes:
        code: kube-scheduler's status code.
        plugin: the filter that refused; "" where none did.
    """

    code: str
    reasons: tuple[str, ...] = ()
    plugin: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """Attributes:
    nodes: every node's verdict by name.
    terms: cost per term and feasible node, 0..1, lower is better.
    preferences: kube-scheduler's normalised score per plugin and feasible node, 0..100, higher is better.
    """

    decision: Decision
    nodes: Mapping[str, NodeVerdict]
    terms: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    preferences: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def feasible(self) -> list[str]:
        return sorted(name for name, verdict in self.nodes.items() if verdict.code == SUCCESS)


def judge(
    *,
    view: Snapshot,
    load: PolicyLoad,
    policy: Policy,
    pod: PodInfo,
    now_s: float,
    rng: np.random.Generator,
    caches: Caches,
) -> Judgement:
    """As ``decide``, with what a decision does not keep. Costs as much again: nothing for the hot path."""
    decision = decide(view=view, load=load, policy=policy, pod=pod, now_s=now_s, rng=rng, caches=caches)
    if beyond(pod):
        verdict = NodeVerdict(Code.ERROR.value, (decision.problem,))
        return Judgement(decision, {node.name: verdict for _, node in view.live_nodes()})
    filters = prepare_filters(view, pod, policy)
    if filters.problem is not None:
        return Judgement(decision, _all_alike(filters))
    costs = caches.row_costs(view, load, pod)
    fit = run_filters(filters, caches.filters)
    limited = within_limits(view, load, pod, fit.rows, costs.over)
    verdicts = _verdicts(view, (*fit.refusals, *limited.refusals))
    terms = weigh(
        view=view,
        policy=policy,
        pod=pod,
        feasible=limited.rows,
        row_costs=costs,
        caches=caches.preferences,
    )
    rows = {name: view.row_of[name] for name, verdict in verdicts.items() if verdict.code == SUCCESS}
    return Judgement(
        decision,
        verdicts,
        {term: {name: float(cost[row]) for name, row in rows.items()} for term, cost in terms.by_name.items() if rows},
        {
            plugin: {name: int(score[row]) for name, row in rows.items()}
            for plugin, score in terms.preferences.scores.items()
        },
    )


def _all_alike(filters: PodFilters) -> dict[str, NodeVerdict]:
    problem = filters.problem
    assert problem is not None
    verdict = NodeVerdict(problem.code.value, (problem.message,), filters.problem_plugin)
    return {node.name: verdict for _, node in filters.view.live_nodes()}


def _verdicts(view: Snapshot, refusals: tuple[Refusal, ...]) -> dict[str, NodeVerdict]:
    found = {node.name: NodeVerdict(SUCCESS) for _, node in view.live_nodes()}
    for name, refusal, resolvable in _refused(view, refusals):
        before = found[name]
        # One reason that removing pods cannot mend is enough.
        final = not resolvable or before.code == Code.UNRESOLVABLE.value
        code = Code.UNRESOLVABLE if final else Code.UNSCHEDULABLE
        found[name] = NodeVerdict(code.value, (*before.reasons, refusal.reason), refusal.plugin)
    return found


def _refused(view: Snapshot, refusals: tuple[Refusal, ...]) -> Iterator[tuple[str, Refusal, bool]]:
    for refusal in refusals:
        for row in np.flatnonzero(refusal.rows):
            yield view.name(int(row)), refusal, bool(refusal.resolvable[row])
