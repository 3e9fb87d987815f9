"""One decision about one pod: filters, limits, score, choice. Pure: nothing is changed, nothing awaited."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Bools, Snapshot
from plimsoll.filters.interface import Refusal
from plimsoll.filters.run import ANY_NODE, UNSUPPORTED, FilterCaches, run_filters, selected_rows
from plimsoll.load.estimate import PolicyLoad
from plimsoll.load.readings import Floats
from plimsoll.policy.compiled import Formula, InFlight, OnOverload, Policy
from plimsoll.scheduling.choice import best_rows, choose
from plimsoll.scheduling.decision import Decision, NodeScore, Outcome, Rejection
from plimsoll.scheduling.limits import within_limits
from plimsoll.scheduling.terms import Terms, weigh
from plimsoll.scores.load import least_loaded
from plimsoll.scores.preferences import PreferenceCaches

NO_NODES = "no nodes available to schedule pods"
_UNSUPPORTED = "pod uses fields that this scheduler does not support yet"
_EXAMPLES = 10


@dataclass(slots=True)
class Caches:
    """What decisions keep between each other; never changes an answer."""

    filters: FilterCaches = field(default_factory=FilterCaches)
    preferences: PreferenceCaches = field(default_factory=PreferenceCaches)


def decide(
    *,
    view: Snapshot,
    load: PolicyLoad,
    policy: Policy,
    pod: PodInfo,
    now_s: float,
    rng: np.random.Generator,
    caches: Caches,
) -> Decision:
    """Where the pod goes, or why nowhere.

    Args:
        load: the same policy's, its arrays standing for the view's rows.
        rng: chooses among nodes that are equally good.
    """
    attempt = _Attempt(view, load, policy, pod, now_s, caches)
    if pod.unsupported:
        problem = f"{_UNSUPPORTED}: {', '.join(pod.unsupported)}"
        return attempt.failed(Outcome.ERROR, problem=problem, rejected_by=UNSUPPORTED)
    if not view.row_of:
        return attempt.failed(Outcome.UNSCHEDULABLE, problem=NO_NODES, rejected_by=ANY_NODE)
    return attempt.run(rng)


@dataclass(frozen=True, slots=True)
class _Attempt:
    view: Snapshot
    load: PolicyLoad
    policy: Policy
    pod: PodInfo
    now_s: float
    caches: Caches

    def run(self, rng: np.random.Generator) -> Decision:
        fit = run_filters(self.view, self.pod, self.policy, self.caches.filters)
        if fit.problem:
            return self.failed(Outcome.UNSCHEDULABLE, problem=fit.problem, rejected_by=fit.problem_plugin)
        projected = self.load.projected(self.view, self.pod) if self.load.counts else None
        limited = within_limits(self.view, self.load, self.pod, fit.rows, projected)
        refusals = (*fit.refusals, *limited.refusals)
        if limited.rows.any():
            terms = self._terms(limited.rows, projected)
            row = choose(terms.cost, limited.rows, rng)
            return self._placed(row, limited.rows, terms, projected, refusals)
        if projected is not None and limited.over.any() and self.policy.on_overload is OnOverload.LEAST_LOADED:
            terms = self._terms(limited.over, projected)
            row = choose(least_loaded(self.load, projected), limited.over, rng)
            return self._placed(row, limited.over, terms, projected, refusals, overloaded=True)
        return self.failed(Outcome.UNSCHEDULABLE, refusals=refusals)

    def failed(
        self, outcome: Outcome, *, problem: str = "", rejected_by: str = "", refusals: Iterable[Refusal] = ()
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
            load_set_aside=self.load.set_aside,
            readings_at_s=self._readings_at_s(),
        )

    def _placed(
        self,
        row: int,
        feasible: Bools,
        terms: Terms,
        projected: Floats | None,
        refusals: Iterable[Refusal],
        *,
        overloaded: bool = False,
    ) -> Decision:
        rows = [int(r) for r in best_rows(terms.cost, feasible)]
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
            best=tuple(self._node_score(r, terms, projected) for r in kept),
            rejections=self._rejections(refusals),
            overloaded=overloaded,
            load_set_aside=self.load.set_aside,
            readings_at_s=self._readings_at_s(),
        )

    def _terms(self, feasible: Bools, projected: Floats | None) -> Terms:
        if (
            projected is not None
            and self.policy.formula is Formula.RELATIVE
            and self.policy.in_flight is InFlight.IGNORE
        ):
            # The classic plugins score nodes as they are; without accounting in flight their formula stays bare.
            projected = self.load.projected(self.view, None)
        return weigh(
            view=self.view,
            load=self.load,
            pod=self.pod,
            feasible=feasible,
            selected=selected_rows(self.view, self.policy, self.caches.filters),
            projected=projected,
            caches=self.caches.preferences,
        )

    def _node_score(self, row: int, terms: Terms, projected: Floats | None) -> NodeScore:
        counted = () if projected is None else self.load.metrics
        return NodeScore(
            node=self.view.name(row),
            score=_score(float(terms.cost[row])),
            terms={name: round(float(term[row]), 4) for name, term in terms.by_name.items()},
            readings={m.metric.name: percent(m.utilisation[row]) for m in counted},
            projected={
                m.metric.name: round(100 * float(d[row])) for m, d in zip(counted, _rows(projected), strict=True)
            },
            sampled_at_s=self.load.sampled_at_s(row) if counted else None,
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


def percent(utilisation: float) -> int | None:
    """None where the reading is missing."""
    return None if np.isnan(utilisation) else round(100 * float(utilisation))


def _score(cost: float) -> float:
    return round(100 * (1 - cost), 2)


def _rows(projected: Floats | None) -> Iterable[Floats]:
    return () if projected is None else projected
