"""InterPodAffinity: required pod affinity and anti-affinity, the pod's own and that of the pods on the nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from plimsoll.cluster.changes import Change
from plimsoll.cluster.invalidates import Invalidates
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.pod_counts import PodMatcher
from plimsoll.cluster.pod_terms import AffinityTerm, Labels
from plimsoll.cluster.snapshot import Bools, Snapshot
from plimsoll.cluster.term_index import TermKind, totals_by_key
from plimsoll.filters import affinity_hints
from plimsoll.filters.affinity_totals import AffinityTotals
from plimsoll.filters.interface import Overlay, Problem, Reason, Refusal

_NAME = "InterPodAffinity"
ALONE = "node(s) didn't match pod affinity rules"
OWN = "node(s) didn't match pod anti-affinity rules"
OTHERS = "node(s) didn't satisfy existing pods anti-affinity rules"


class InterPodAffinity:
    """Pods with a deletion timestamp count in full until they are gone."""

    name = _NAME
    invalidates = Invalidates.DOMAIN
    wakes = affinity_hints.WAKES

    def prepare(self, view: Snapshot, pod: PodInfo) -> AffinityOfPod | Problem | None:
        if pod.terms_problem:
            return Problem(f"parsing pod: {pod.terms_problem}")
        others = _others(view, pod)
        if not (pod.required_affinity or pod.required_anti_affinity or others):
            return None
        return AffinityOfPod(view, pod, _affinity(view, pod), _own(view, pod), others)

    def helps(self, change: Change, pod: PodInfo, view: Snapshot) -> bool:
        return affinity_hints.helps(change, pod, view)


@dataclass(frozen=True, slots=True)
class AffinityOfPod:
    """What stands where, for one pod.

    Attributes:
        affinity: pods that all of its required affinity terms select, for the key of each.
        own: pods that its required anti-affinity terms select.
        others: required anti-affinity terms of pods on nodes that select it.
    """

    view: Snapshot
    pod: PodInfo
    affinity: AffinityTotals
    own: AffinityTotals
    others: AffinityTotals

    def refusals(self) -> Iterable[Refusal]:
        alone = self._alone()
        own = self.own.rows_in_any() & ~alone
        others = self.others.rows_in_any() & ~alone & ~own
        yield Refusal(_NAME, ALONE, alone, resolvable=np.zeros_like(alone))
        yield Refusal(_NAME, OWN, own, resolvable=own)
        yield Refusal(_NAME, OTHERS, others, resolvable=others)

    def _alone(self) -> Bools:
        if not self.pod.required_affinity:
            return np.zeros(self.view.size, dtype=np.bool_)
        if not self.affinity and self._matches_itself():
            return ~self._labelled()
        return ~self.affinity.rows_in_all()

    def _labelled(self) -> Bools:
        """[N], nodes with the keys of all required affinity terms."""
        rows = np.ones(self.view.size, dtype=np.bool_)
        for term in self.pod.required_affinity:
            rows &= self.view.domains.column(term.topology_key).ids > 0
        return rows

    def _matches_itself(self) -> bool:
        """The first pod of a group that wants to be together must start somewhere."""
        return self._selected_by_all(self.pod)

    def check(self, row: int, overlay: Overlay) -> tuple[Reason, ...]:
        if self._alone_at(row, overlay):
            return (Reason(ALONE, resolvable=False),)
        if self.own.any_at(row, self._own_changes(overlay)):
            return (Reason(OWN, resolvable=True),)
        if self.others.any_at(row, self._others_changes(overlay)):
            return (Reason(OTHERS, resolvable=True),)
        return ()

    def beside(self, row: int, overlay: Overlay) -> AffinityBeside:
        return AffinityBeside(self, row, overlay)

    def effect(self, pod: PodInfo) -> tuple[bool, tuple[str, ...], tuple[str, ...]] | None:
        together = bool(self.pod.required_affinity) and self._selected_by_all(pod)
        own, others = tuple(self._own_of(pod)), tuple(self._others_of(pod))
        return (together, own, others) if together or own or others else None

    def _alone_at(self, row: int, overlay: Overlay) -> bool:
        terms = self.pod.required_affinity
        if not terms:
            return False
        if not all(self.view.domains.column(term.topology_key).ids[row] for term in terms):
            return True
        return self.alone_with(row, sum(sign for pod, sign in _signed(overlay) if self._selected_by_all(pod)))

    def alone_with(self, row: int, change: int) -> bool:
        """Whether required affinity keeps the pod from a node that has all keys.

        Args:
            change: how many more pods on the node all of its terms select.
        """
        if self.affinity.all_at(row, change):
            return False
        return not (self.affinity.empty_with(change) and self._matches_itself())

    def _own_changes(self, overlay: Overlay) -> Counter[str]:
        changes: Counter[str] = Counter()
        for pod, sign in _signed(overlay):
            for key in self._own_of(pod):
                changes[key] += sign
        return changes

    def _others_changes(self, overlay: Overlay) -> Counter[str]:
        changes: Counter[str] = Counter()
        for pod, sign in _signed(overlay):
            for key in self._others_of(pod):
                changes[key] += sign
        return changes

    def _own_of(self, pod: PodInfo) -> Iterator[str]:
        """Keys of the incoming pod's anti-affinity terms that select a pod."""
        for term in self.pod.required_anti_affinity:
            if selected_by_incoming(self.view, term, pod):
                yield term.topology_key

    def _others_of(self, pod: PodInfo) -> Iterator[str]:
        """Keys of a pod's anti-affinity terms that select the incoming pod."""
        if pod.required_anti_affinity:
            namespace_labels = self.view.namespaces.get(self.pod.namespace)
            for term in pod.required_anti_affinity:
                if term.pods.selects(self.pod.namespace, namespace_labels, self.pod.labels):
                    yield term.topology_key

    def _selected_by_all(self, pod: PodInfo) -> bool:
        return all(selected_by_incoming(self.view, term, pod) for term in self.pod.required_affinity)


class AffinityBeside:
    """Pods of one node that matter to the terms, as they come back."""

    def __init__(self, asked: AffinityOfPod, row: int, overlay: Overlay) -> None:
        columns = [asked.view.domains.column(term.topology_key) for term in asked.pod.required_affinity]
        self._unlabelled = not all(column.ids[row] for column in columns)
        self._asked, self._row = asked, row
        self._together = 0
        self._own: Counter[str] = Counter()
        self._others: Counter[str] = Counter()
        for pod, sign in _signed(overlay):
            self._count(asked.effect(pod), sign)

    def put_back(self, pod: PodInfo, effect: Hashable) -> None:  # noqa: ARG002
        self._count(effect, 1)

    def remove(self, pod: PodInfo, effect: Hashable) -> None:  # noqa: ARG002
        self._count(effect, -1)

    def refuses(self) -> bool:
        asked, row = self._asked, self._row
        if self._unlabelled or (asked.pod.required_affinity and asked.alone_with(row, self._together)):
            return True
        return asked.own.any_at(row, self._own) or asked.others.any_at(row, self._others)

    def _count(self, effect: Hashable, sign: int) -> None:
        if effect is None:
            return
        assert isinstance(effect, tuple)
        together, own, others = effect
        self._together += sign * together
        for key in own:
            self._own[key] += sign
        for key in others:
            self._others[key] += sign


def selected_by_incoming(view: Snapshot, term: AffinityTerm, pod: PodInfo) -> bool:
    """Whether a term of an incoming pod selects a pod on a node."""
    namespace_labels: Labels | None = view.namespaces.get(pod.namespace)
    return term.pods.of_incoming_selects(pod.namespace, namespace_labels, pod.labels)


def _signed(overlay: Overlay) -> Iterator[tuple[PodInfo, int]]:
    yield from ((pod, 1) for pod in overlay.added)
    yield from ((pod, -1) for pod in overlay.removed)


def _affinity(view: Snapshot, pod: PodInfo) -> AffinityTotals:
    """One pod on a node must be selected by all terms to count for any."""
    totals = AffinityTotals(view)
    if pod.required_affinity:
        counts = view.pods.counts(PodMatcher(tuple(term.pods for term in pod.required_affinity)))
        totals.add_rows({term.topology_key for term in pod.required_affinity}, counts)
    return totals


def _own(view: Snapshot, pod: PodInfo) -> AffinityTotals:
    totals = AffinityTotals(view)
    for term in pod.required_anti_affinity:
        totals.add_rows((term.topology_key,), view.pods.counts(PodMatcher((term.pods,))))
    return totals


def _others(view: Snapshot, pod: PodInfo) -> AffinityTotals:
    totals = AffinityTotals(view)
    groups = view.terms.matching(TermKind.REQUIRED_ANTI_AFFINITY, pod)
    for key, by_domain in totals_by_key(groups, view.domains, weight=lambda _: 1).items():
        totals.add(key, by_domain)
    return totals
