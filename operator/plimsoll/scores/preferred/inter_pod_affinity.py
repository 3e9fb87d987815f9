"""Preferred pod affinity and anti-affinity (kube-scheduler's InterPodAffinity), both ways.

A node's raw score adds, per topology domain that it is in: the weight of each preferred term of the incoming pod for
every pod there that the term selects, and of each preferred term of a pod there that selects the incoming pod;
anti-affinity counts against. A required affinity of a pod there counts like a preferred one of weight 1.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from plimsoll.cluster.domains import DomainColumn
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.pod_counts import PodMatcher
from plimsoll.cluster.row_counts import summed_by_domain
from plimsoll.cluster.snapshot import Bools, Ints, Snapshot
from plimsoll.cluster.term_index import TermKind
from plimsoll.scores.normalise import percent_between

NAME = "InterPodAffinity"
_HARD_POD_AFFINITY_WEIGHT = 1
_SIGNS = {TermKind.REQUIRED_AFFINITY: 1, TermKind.PREFERRED_AFFINITY: 1, TermKind.PREFERRED_ANTI_AFFINITY: -1}


def score(view: Snapshot, pod: PodInfo, feasible: Bools) -> Ints | None:
    """[N]; None where no pod on any node is wanted near or far, nor wants this one so."""
    totals: dict[DomainColumn, Ints] = {}
    for column, by_domain in _opinions(view, pod):
        totals[column] = totals[column] + by_domain if column in totals else by_domain
    if not totals:
        return None
    raw = np.zeros(view.size, dtype=np.int64)
    for column, by_domain in totals.items():
        raw += by_domain[column.ids]
    return percent_between(raw, feasible)


def _opinions(view: Snapshot, pod: PodInfo) -> Iterator[tuple[DomainColumn, Ints]]:
    """Topologies, each with [D], the weights by domain of the pods that one term is about."""
    for weight, column, counts in (*_own(view, pod), *_of_others(view, pod)):
        if counts.any():
            yield column, weight * counts


def _own(view: Snapshot, pod: PodInfo) -> Iterator[tuple[int, DomainColumn, Ints]]:
    for sign, terms in ((1, pod.preferred_affinity), (-1, pod.preferred_anti_affinity)):
        for weighted in terms:
            column = view.domains.column(weighted.term.topology_key)
            counts = view.pods.counts(PodMatcher((weighted.term.pods,)))
            yield sign * weighted.weight, column, summed_by_domain(column.ids, counts, column.size)


def _of_others(view: Snapshot, pod: PodInfo) -> Iterator[tuple[int, DomainColumn, Ints]]:
    for kind, sign in _SIGNS.items():
        for group in view.terms.matching(kind, pod):
            weight = _HARD_POD_AFFINITY_WEIGHT if kind is TermKind.REQUIRED_AFFINITY else group.weight
            column = view.domains.column(group.topology_key)
            yield sign * weight, column, group.by_domain(column)
