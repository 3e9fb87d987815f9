"""Affinity terms of pods on nodes: which of them speak of an incoming pod, and where they stand.

For the filters (required anti-affinity of others) and for the scores (kube-scheduler's InterPodAffinity adds, per
domain, for every pod on a node whose term selects the incoming pod: the weight of a preferred affinity term,
minus the weight of a preferred anti-affinity term, and hardPodAffinityWeight (1 by default) for a required affinity
term). A score therefore reads::

    groups = view.terms.matching(TermKind.PREFERRED_ANTI_AFFINITY, pod)
    for key, totals in totals_by_key(groups, view.domains, lambda group: group.weight).items():
        raw -= totals[view.domains.column(key).ids]
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from plimsoll.cluster.domains import DomainColumn, Domains
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.pod_terms import AffinityTerm
from plimsoll.cluster.row_counts import RowCounts, summed_by_domain
from plimsoll.cluster.selector_index import SelectorIndex

Ints = NDArray[np.int64]
Labels = Mapping[str, str]

# Groups with pods on fewer rows are summed together: one array each would cost more than they have to say.
_FEW_ROWS = 32
# Classes of incoming pods whose groups are remembered.
_MAX_KNOWN = 1024


class TermKind(enum.Enum):
    REQUIRED_AFFINITY = enum.auto()
    REQUIRED_ANTI_AFFINITY = enum.auto()
    PREFERRED_AFFINITY = enum.auto()
    PREFERRED_ANTI_AFFINITY = enum.auto()


class TermGroup:
    """Equal terms of any number of pods on nodes.

    Attributes:
        term: namespaces are spelt out; the owner's namespace stands in them where the term names none.
        weight: of preferred terms, as written in the pod (always positive); 0 for required ones.
    """

    __slots__ = ("_rows", "term", "weight")

    def __init__(self, term: AffinityTerm, weight: int) -> None:
        self.term = term
        self.weight = weight
        self._rows = RowCounts()

    @property
    def topology_key(self) -> str:
        return self.term.topology_key

    @property
    def counts_by_row(self) -> Mapping[int, int]:
        """Pods that have the term, by row; a pod that has it twice counts twice. Live, not to be written."""
        return self._rows.by_row

    def by_domain(self, column: DomainColumn) -> Ints:
        """[D], pods that have the term, by domain id; 0 at id 0 (nodes without the label spread nothing)."""
        return self._rows.by_domain(column)

    def count(self, row: int, amount: int) -> bool:
        """Written by the index only; whether any pod has the term still."""
        self._rows.add(row, amount)
        return bool(self._rows)


def totals_by_key(groups: Iterable[TermGroup], domains: Domains, weight: Callable[[TermGroup], int]) -> dict[str, Ints]:
    """[D] per topology key: the groups' pods by domain id, times the group's weight; 0 at id 0."""
    totals: dict[str, Ints] = {}
    few: dict[str, tuple[list[int], list[int]]] = {}
    for group in groups:
        factor, rows = weight(group), group.counts_by_row
        if len(rows) < _FEW_ROWS:
            where, how_many = few.setdefault(group.topology_key, ([], []))
            where.extend(rows)
            how_many.extend(factor * count for count in rows.values())
        else:
            _add(totals, group.topology_key, factor * group.by_domain(domains.column(group.topology_key)))
    for key, (where, how_many) in few.items():
        column = domains.column(key)
        _add(totals, key, summed_by_domain(column.ids[where], np.array(how_many, dtype=np.int64), column.size))
    return totals


def _add(totals: dict[str, Ints], key: str, by_domain: Ints) -> None:
    known = totals.get(key)
    totals[key] = by_domain if known is None else known + by_domain


class _Groups:
    """Of one kind.

    Attributes:
        keys: topology keys, each with how many groups have it.
    """

    def __init__(self, namespaces: Mapping[str, Labels]) -> None:
        self._namespaces = namespaces
        self._groups: dict[tuple[AffinityTerm, int], TermGroup] = {}
        self._index: SelectorIndex[TermGroup] = SelectorIndex()
        self.keys: Counter[str] = Counter()
        self._known: dict[tuple[str, ...], tuple[TermGroup, ...]] = {}

    def count(self, row: int, term: AffinityTerm, weight: int, amount: int) -> None:
        group = self._groups.get((term, weight)) or self._new(term, weight)
        if not group.count(row, amount):
            del self._groups[term, weight]
            self.keys[term.topology_key] -= 1
            if not self.keys[term.topology_key]:
                del self.keys[term.topology_key]
            self._index.remove(group)
            self._known.clear()

    def _new(self, term: AffinityTerm, weight: int) -> TermGroup:
        group = self._groups[term, weight] = TermGroup(term, weight)
        self._index.add(group, (term.pods,))
        self.keys[term.topology_key] += 1
        self._known.clear()
        return group

    def matching(self, pod: PodInfo) -> tuple[TermGroup, ...]:
        if not self._groups:
            return ()
        key = (pod.namespace, *pod.labels, *pod.labels.values())
        found = self._known.get(key)
        if found is None:
            found = tuple(self._found(pod))
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            self._known[key] = found
        return found

    def _found(self, pod: PodInfo) -> Iterator[TermGroup]:
        namespace_labels = self._namespaces.get(pod.namespace)
        for group in self._index.candidates(pod.namespace, pod.labels):
            if group.term.pods.selects(pod.namespace, namespace_labels, pod.labels):
                yield group

    def forget_matches(self) -> None:
        self._known.clear()


class TermIndex:
    """Terms of all pods on nodes, equal ones together.

    Args:
        namespaces: labels by name, live.
    """

    def __init__(self, namespaces: Mapping[str, Labels]) -> None:
        self._of = {kind: _Groups(namespaces) for kind in TermKind}

    def matching(self, kind: TermKind, pod: PodInfo) -> tuple[TermGroup, ...]:
        """Groups whose term selects the incoming pod (its namespace, that namespace's labels, its labels).

        Costs a few microseconds however many terms there are; groups are live.
        """
        return self._of[kind].matching(pod)

    def topology_keys(self, kind: TermKind) -> Collection[str]:
        """Those of all terms of the kind."""
        return self._of[kind].keys.keys()

    # -- written by the cache only --------------------------------------------------------------------

    def add(self, row: int, pod: PodInfo) -> None:
        self._count(row, pod, 1)

    def remove(self, row: int, pod: PodInfo) -> None:
        self._count(row, pod, -1)

    def namespace_changed(self) -> None:
        """Some namespace's labels are others now."""
        for groups in self._of.values():
            groups.forget_matches()

    def _count(self, row: int, pod: PodInfo, amount: int) -> None:
        for term in pod.required_affinity:
            self._of[TermKind.REQUIRED_AFFINITY].count(row, term, 0, amount)
        for term in pod.required_anti_affinity:
            self._of[TermKind.REQUIRED_ANTI_AFFINITY].count(row, term, 0, amount)
        for weighted in pod.preferred_affinity:
            self._of[TermKind.PREFERRED_AFFINITY].count(row, weighted.term, weighted.weight, amount)
        for weighted in pod.preferred_anti_affinity:
            self._of[TermKind.PREFERRED_ANTI_AFFINITY].count(row, weighted.term, weighted.weight, amount)
