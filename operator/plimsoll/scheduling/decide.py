"""One decision about one pod: filters, limits, score, choice. Pure: nothing is changed, nothing awaited."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Bools, Snapshot
from plimsoll.filters import load_limits
from plimsoll.filters.caches import FilterCaches
from plimsoll.filters.interface import Code, Overlay, Refusal
from plimsoll.filters.order import ANY_NODE, UNSUPPORTED
from plimsoll.filters.prepared import PodFilters, prepare_filters
from plimsoll.filters.run import run_filters, selected_rows, yields_to
from plimsoll.load.estimate import PolicyLoad
from plimsoll.policy.compiled import OnOverload, Policy
from plimsoll.scheduling.choice import best_rows, choose, tie_of
from plimsoll.scheduling.cost_caches import CostCaches
from plimsoll.scheduling.decision import Decision, Outcome, Rejection
from plimsoll.scheduling.limits import within_limits
from plimsoll.scheduling.node_scores import node_scores
from plimsoll.scheduling.preemption.candidates import Pauses
from plimsoll.scheduling.preemption.kept import KeptRuns
from plimsoll.scheduling.preemption.post_filter import PostFilter, after_filters, after_problem
from plimsoll.scheduling.preparing import preparation
from plimsoll.scheduling.row_costs import RowCosts
from plimsoll.scheduling.terms import Terms, weigh
from plimsoll.scores.load import least_loaded
from plimsoll.scores.preferred.caches import PreferenceCaches

NO_NODES = "no nodes available to schedule pods"
_UNSUPPORTED = "pod uses fields that this scheduler does not support yet"
_EXAMPLES = 10
# What could not be judged is expected nowhere any more.
_NOWHERE = PostFilter(nominated_node="")


@dataclass(slots=True)
class Caches:
    """What decisions keep between each other; never changes an answer."""

    filters: FilterCaches = field(default_factory=FilterCaches)
    preferences: PreferenceCaches = field(default_factory=PreferenceCaches)
    costs: CostCaches = field(default_factory=CostCaches)
    dry_runs: KeptRuns = field(default_factory=KeptRuns)

    def keep_policies(self, policies: Mapping[str, Policy]) -> None:
        """Drops what was kept for policies that are gone, or others by now.

        Args:
            policies: by name.
        """
        self.filters.keep_policies(policies)
        self.costs.keep_policies(policies)

    def readings_taken(self, policy: str) -> None:
        """Drops what hangs on the readings before."""
        self.costs.forget(policy)

    def row_costs(self, view: Snapshot, load: PolicyLoad, pod: PodInfo) -> RowCosts:
        return self.costs.of(view, load, pod, lambda: selected_rows(view, load.policy, self.filters))


def decide(
    *,
    view: Snapshot,
    load: PolicyLoad,
    policy: Policy,
    pod: PodInfo,
    now_s: float,
    rng: np.random.Generator,
    caches: Caches,
    pauses: Pauses | None = None,
) -> Decision:
    """Where the pod goes, or why nowhere.

    Args:
        pauses: searches for victims that have paused, written here; without it a search goes on to its end.
        load: the same policy's, its arrays standing for the view's rows.
        rng: chooses among nodes that are equally good.
    """
    attempt = _Attempt(view, load, policy, pod, now_s, caches, pauses)
    if problem := beyond(pod):
        return attempt.failed(Outcome.ERROR, problem=problem, rejected_by=UNSUPPORTED)
    if not view.row_of:
        return attempt.failed(Outcome.UNSCHEDULABLE, problem=NO_NODES, rejected_by=ANY_NODE)
    return attempt.run(rng)


def beyond(pod: PodInfo) -> str:
    """Why this scheduler cannot judge the pod at all; "" where it can."""
    if pod.unreadable or not pod.unsupported:
        return pod.unreadable
    return f"{_UNSUPPORTED}: {', '.join(pod.unsupported)}"


@dataclass(frozen=True, slots=True)
class _Attempt:
    view: Snapshot
    load: PolicyLoad
    policy: Policy
    pod: PodInfo
    now_s: float
    caches: Caches
    pauses: Pauses | None

    def run(self, rng: np.random.Generator) -> Decision:
        filters = prepare_filters(self.view, self.pod, self.policy)
        if filters.problem is not None:
            error = filters.problem.code is Code.ERROR
            outcome = Outcome.ERROR if error else Outcome.UNSCHEDULABLE
            after = _NOWHERE if error else after_problem(filters)
            return self.failed(
                outcome, problem=filters.problem.message, rejected_by=filters.problem_plugin, after=after
            )
        costs = self.caches.row_costs(self.view, self.load, self.pod)
        nominated = self._nominated(filters)
        if nominated is not None:
            return self._placed(
                filters,
                int(np.flatnonzero(nominated)[0]),
                nominated,
                self._terms(nominated, costs),
                refusals=(),
            )
        fit = run_filters(filters, self.caches.filters)
        limited = within_limits(self.view, self.load, self.pod, fit.rows, costs.over)
        refusals = (*fit.refusals, *limited.refusals)
        if limited.rows.any():
            terms = self._terms(limited.rows, costs)
            row = choose(terms.cost, limited.rows, rng, tie=tie_of(self.policy))
            return self._placed(filters, row, limited.rows, terms, refusals=refusals)
        if limited.over.any() and self.policy.on_overload is OnOverload.LEAST_LOADED:
            terms = self._terms(limited.over, costs)
            row = choose(least_loaded(self.load, self.load.projected(self.view, self.pod)), limited.over, rng)
            return self._placed(filters, row, limited.over, terms, refusals=refusals, overloaded=True)
        after = after_filters(
            filters,
            refusals,
            barred=self._barred(costs),
            rng=rng,
            pauses=self.pauses,
            kept=self.caches.dry_runs,
        )
        return self.failed(Outcome.UNSCHEDULABLE, refusals=refusals, after=after)

    def _nominated(self, filters: PodFilters) -> Bools | None:
        """[N], the node that preemption made room on, if the pod fits there now: no other is looked at then.

        Load limits do not hold there: the room was made for this very pod.
        """
        view = self.view
        row = view.row_of.get(view.nominated.node_of(self.pod.uid))
        if row is None:
            return None
        others = yields_to(view, self.pod, view.name(row))
        if filters.check(row, Overlay()) or (others and filters.check(row, Overlay(added=others))):
            return None
        alone = np.zeros(view.size, dtype=np.bool_)
        alone[row] = True
        return alone

    def _barred(self, costs: RowCosts) -> Sequence[Refusal]:
        """Where the policy lets the pod not be, whoever gives way; under LeastLoaded a limit bars nothing."""
        refusals = within_limits(self.view, self.load, self.pod, self.view.live, costs.over).refusals
        if self.policy.on_overload is OnOverload.WAIT:
            return refusals
        return [refusal for refusal in refusals if refusal.reason == load_limits.NO_READINGS]

    def failed(
        self,
        outcome: Outcome,
        *,
        problem: str = "",
        rejected_by: str = "",
        refusals: Iterable[Refusal] = (),
        after: PostFilter = _NOWHERE,
    ) -> Decision:
        plugins = {refusal.plugin for refusal in refusals} | ({rejected_by} - {""})
        return Decision(
            pod=self.pod,
            outcome=outcome,
            policy=self.policy.name,
            policy_generation=self.policy.generation,
            decided_at_s=self.now_s,
            nodes=len(self.view.row_of),
            feasible=0,
            rejections=self._rejections(refusals),
            rejected_by=frozenset(plugins),
            problem=problem,
            after=after.message,
            nominated_node=after.nominated_node,
            victims=after.victims,
            unfinished=after.unfinished,
            load_set_aside=self.load.set_aside,
            readings_at_s=self._readings_at_s(),
        )

    def _placed(
        self,
        filters: PodFilters,
        row: int,
        feasible: Bools,
        terms: Terms,
        *,
        refusals: Iterable[Refusal],
        overloaded: bool = False,
    ) -> Decision:
        rows: list[int] = best_rows(terms.cost, feasible).tolist()
        kept = rows if row in rows else [*rows[:-1], row]
        return Decision(
            pod=self.pod,
            outcome=Outcome.BIND,
            policy=self.policy.name,
            policy_generation=self.policy.generation,
            decided_at_s=self.now_s,
            nodes=len(self.view.row_of),
            feasible=int(feasible.sum()),
            node=self.view.name(row),
            score=_score(float(terms.cost[row])),
            best=node_scores(kept, view=self.view, load=self.load, terms=terms),
            place=kept.index(row),
            rejections=self._rejections(refusals),
            overloaded=overloaded,
            load_set_aside=self.load.set_aside,
            readings_at_s=self._readings_at_s(),
            prepare=preparation(filters, row),
        )

    def _terms(self, feasible: Bools, costs: RowCosts) -> Terms:
        return weigh(
            view=self.view,
            policy=self.policy,
            pod=self.pod,
            feasible=feasible,
            row_costs=costs,
            caches=self.caches.preferences,
        )

    def _rejections(self, refusals: Iterable[Refusal]) -> tuple[Rejection, ...]:
        return tuple(
            Rejection(
                plugin=refusal.plugin,
                reason=refusal.reason,
                count=int(refusal.rows.sum()),
                resolvable=bool(refusal.resolvable.any()),
                examples=tuple(self.view.name(int(r)) for r in np.flatnonzero(refusal.rows)[:_EXAMPLES]),
            )
            for refusal in refusals
        )

    def _readings_at_s(self) -> float | None:
        return self.load.newest_sample_s if self.load.counts else None


def _score(cost: float) -> float:
    return round(100 * (1 - cost), 2)
