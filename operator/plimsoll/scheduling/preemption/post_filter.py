"""What happens after a pod fitted nowhere: kube-scheduler's PostFilter plugins and the sentence that they add."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plimsoll.cluster.budgets import KIND, DisruptionBudget
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Bools, Snapshot
from plimsoll.filters.interface import Refusal
from plimsoll.filters.prepared import PodFilters
from plimsoll.scheduling.preemption.candidates import NOT_HELPFUL, Look, Pauses, Search
from plimsoll.scheduling.preemption.choosing import Candidate, choose_candidate
from plimsoll.scheduling.preemption.eligibility import not_eligible
from plimsoll.scheduling.preemption.kept import KeptRuns
from plimsoll.scheduling.preemption.victims import NO_VICTIMS, DryRun

# After so many pods a search pauses: some tens of milliseconds.
_EFFORT = 6000
# What looking at a node costs, whatever runs there.
_PODS_PER_NODE = 3
# The plugins whose PreFilter comes so late that DynamicResources has had its turn.
_CLAIMS_READ = frozenset({"DynamicResources", "NodeDeclaredFeatures"})
# What DynamicResources' PostFilter answers where its PreFilter never ran; preemption is not even tried then.
_NOT_READ = "not found"
_NO_CLAIMS, _CLAIMS = "no new claims to deallocate", "still not schedulable"


@dataclass(frozen=True, slots=True)
class PostFilter:
    """Attributes:
    message: what is added to the sentence of the attempt.
    nominated_node: where room is being made; "" ends a nomination, None leaves it as it is.
    victims: who must go, the most important first.
    """

    message: str = ""
    nominated_node: str | None = None
    victims: tuple[PodInfo, ...] = ()
    unfinished: bool = False


def after_problem(filters: PodFilters) -> PostFilter:
    """For a pod that its PreFilters keep from every node: removing pods cannot help."""
    if filters.problem_plugin not in _CLAIMS_READ:
        return PostFilter(_NOT_READ)
    return _preempt(filters, np.zeros(filters.view.size, dtype=np.bool_), (), None)


def after_filters(
    filters: PodFilters,
    refusals: Iterable[Refusal],
    *,
    barred: Sequence[Refusal] = (),
    rng: np.random.Generator,
    pauses: Pauses | None = None,
    kept: KeptRuns | None = None,
) -> PostFilter:
    """For a pod that every node refused.

    Args:
        barred: nodes where the policy would not let the pod be, however many pods were removed.
        rng: says at which node the search begins.
        pauses: where a search that pauses is kept, and found again; without it none pauses.
        kept: what was found for pods like it.
    """
    return _preempt(filters, resolvable_rows(filters.view, refusals), barred, rng, pauses=pauses, kept=kept)


def resolvable_rows(view: Snapshot, refusals: Iterable[Refusal]) -> Bools:
    """[N], nodes of which removing pods may help: every reason of theirs is kube-scheduler's Unschedulable."""
    refused, final = np.zeros(view.size, dtype=np.bool_), np.zeros(view.size, dtype=np.bool_)
    for refusal in refusals:
        refused |= refusal.rows
        final |= refusal.rows & ~refusal.resolvable
    rows: Bools = refused & ~final & view.live
    return rows


def _preempt(
    filters: PodFilters,
    resolvable: Bools,
    barred: Sequence[Refusal],
    rng: np.random.Generator | None,
    *,
    pauses: Pauses | None = None,
    kept: KeptRuns | None = None,
) -> PostFilter:
    view, pod = filters.view, filters.pod
    nominated_row = view.row_of.get(view.nominated.node_of(pod.uid))
    hopeless = nominated_row is None or not resolvable[nominated_row]
    if why := not_eligible(view, pod, hopeless=hopeless):
        return PostFilter(_joined(filters, why))
    rows = np.flatnonzero(resolvable)
    search = pauses.of(pod.uid) if pauses is not None else None
    if search is None:
        search = Search(rows, offset=int(rng.integers(len(rows))) if len(rows) and rng is not None else 0)
    if len(rows) and not view.held.any_below(pod.priority):
        nobody = Counter({NO_VICTIMS: len(rows)})
        return PostFilter(_joined(filters, _not_fit(len(view.row_of), nobody, len(rows))), nominated_node="")
    looker = _Looker(filters, resolvable, barred, kept or KeptRuns())
    over = search.go_on(looker.look, effort=math.inf if pauses is None else _EFFORT, skip=looker.hopeless)
    search.tried.reasons.update(looker.reasons(search.skipped))
    if not over:
        assert pauses is not None
        pauses.put(pod.uid, search)
        return PostFilter(unfinished=True)
    tried = search.tried
    best = _still_best(tried.candidates, looker) if search.paused else _best(tried.candidates)
    if best is not None:
        return PostFilter(nominated_node=view.name(best.row), victims=best.victims)
    if tried.odd is not None:
        # An error silences what DynamicResources said before.
        return PostFilter(f'preemption: expected at least one victim pod on node "{view.name(tried.odd)}"')
    return PostFilter(_joined(filters, _not_fit(len(view.row_of), tried.reasons, len(rows))), nominated_node="")


def _best(candidates: Sequence[Candidate]) -> Candidate | None:
    return choose_candidate(candidates) if candidates else None


def _still_best(candidates: Sequence[Candidate], looker: _Looker) -> Candidate | None:
    """The best as things are now: since the search paused pods and nodes may have come and gone."""
    left, sure = list(candidates), set[int]()
    while (best := _best(left)) is not None and best.row not in sure:
        at = left.index(best)
        now, _ = looker.look(best.row)
        if isinstance(now, Candidate) and now.victims:
            left[at] = now
            sure.add(best.row)
        else:
            del left[at]
    return best


class _Looker:
    """Tries nodes, as they are now.

    Args:
        resolvable: [N], where removing pods may help.
        barred: where the policy does not let the pod be.
        kept: what was found for pods like it.

    Attributes:
        hopeless: [N], where nobody's end would help, as is known already; None where nothing is.
    """

    def __init__(self, filters: PodFilters, resolvable: Bools, barred: Sequence[Refusal], kept: KeptRuns) -> None:
        budgets = [b for b in filters.view.objects.all(KIND) if isinstance(b, DisruptionBudget)]
        self._dry_run = DryRun(filters, budgets)
        self._residents = filters.view.residents
        self._view = filters.view
        self._resolvable, self._barred = resolvable, barred
        self._runs = kept.of(filters, budgets)
        # Where the pod itself is nominated it does not yield to itself, as others do.
        self._own = filters.view.row_of.get(filters.view.nominated.node_of(filters.pod.uid))
        self.hopeless = None if self._runs is None else self._runs.hopeless()
        if self.hopeless is not None and self._own is not None:
            self.hopeless[self._own] = False

    def look(self, row: int) -> Look:
        """Nobody is evicted for a place that the policy does not let the pod have."""
        if not self._resolvable[row]:
            return (), 0  # no longer, since the search paused
        found, effort = self._found(row)
        bars = tuple([refusal.reason for refusal in self._barred if refusal.rows[row]])
        return bars if bars and isinstance(found, Candidate) else found, effort

    def reasons(self, skipped: NDArray[np.int64]) -> Counter[str]:
        """Of rows that are hopeless, counted."""
        return Counter() if self._runs is None else self._runs.reasons(skipped)

    def _found(self, row: int) -> Look:
        runs = None if row == self._own else self._runs
        if runs is not None and (known := runs.candidate(row)) is not None:
            return known, 0
        found = self._dry_run.victims_on(row)
        if runs is not None:
            runs.keep(row, found)
        return found, self._residents.count(self._view.name(row)) + _PODS_PER_NODE


def _joined(filters: PodFilters, preemption: str) -> str:
    return f"{_claims(filters)}, preemption: {preemption}"


def _claims(filters: PodFilters) -> str:
    prepared = any(cluster_filter.name == "DynamicResources" for cluster_filter, _ in filters.prepared)
    return _CLAIMS if prepared else _NO_CLAIMS


def _not_fit(nodes: int, reasons: Counter[str], tried: int) -> str:
    """kube-scheduler's FitError: reasons with their counts, sorted as text."""
    if nodes > tried:
        reasons = reasons + Counter({NOT_HELPFUL: nodes - tried})
    counted = ", ".join(sorted(f"{count} {reason}" for reason, count in reasons.items()))
    return f"0/{nodes} nodes are available: {counted}."
