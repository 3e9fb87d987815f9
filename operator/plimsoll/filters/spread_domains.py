"""What one spread constraint of one pod counts, by domain (kube-scheduler's ``preFilterState``)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plimsoll.cluster.domains import DomainColumn
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.pod_counts import PodMatcher
from plimsoll.cluster.pod_terms import PodSelector
from plimsoll.cluster.row_counts import summed_by_domain
from plimsoll.cluster.snapshot import Bools, Ints, Snapshot
from plimsoll.cluster.spread import SpreadConstraint

# What kube-scheduler takes for the fewest pods where no domain counts.
_NO_DOMAIN = 2**31 - 1


@dataclass(frozen=True, slots=True)
class SpreadDomains:
    """One hard constraint.

    Attributes:
        eligible: [N], nodes that count: they have all of the pod's topology keys and its inclusion policies hold.
        totals: [D], matching pods on eligible nodes, by domain id; 0 where there is no eligible node.
        domains: how many have an eligible node; their ids are the ones that ``fewest`` looks at.
        fewest_id, fewest, second: the domain with the fewest pods, their number, and the fewest in any other.
        self_match: 1 if the pod itself is selected, else 0.
    """

    constraint: SpreadConstraint
    column: DomainColumn
    eligible: Bools
    totals: Ints
    domains: int
    fewest_id: int
    fewest: int
    second: int
    self_match: int

    @classmethod
    def of(cls, view: Snapshot, pod: PodInfo, constraint: SpreadConstraint, eligible: Bools) -> SpreadDomains:
        column = view.domains.column(constraint.topology_key)
        ids = column.ids[eligible]
        totals = _totals(view, pod, constraint, eligible, column)
        present = np.zeros(column.size, dtype=np.bool_)
        present[ids] = True
        candidates = np.where(present, totals, _NO_DOMAIN)
        fewest_id = int(candidates.argmin())
        fewest = int(candidates[fewest_id])
        candidates[fewest_id] = _NO_DOMAIN
        return cls(
            constraint=constraint,
            column=column,
            eligible=eligible,
            totals=totals,
            domains=int(present.sum()),
            fewest_id=fewest_id,
            fewest=fewest,
            second=int(candidates.min()),
            self_match=int(constraint.selects(pod.labels)),
        )

    def skewed(self) -> Bools:
        """[N], nodes where the pod would make the skew larger than allowed; nodes without the label say anything."""
        most = self.constraint.max_skew - self.self_match + self._least(self.fewest)
        rows: Bools = (self.totals > most)[self.column.ids]
        return rows

    def at(self, row: int) -> SpreadAt:
        """Of one node that has the label."""
        domain = int(self.column.ids[row])
        return SpreadAt(
            here=int(self.totals[domain]),
            fewest=self.fewest,
            elsewhere=self.second if domain == self.fewest_id else self.fewest,
            eligible=bool(self.eligible[row]),
            allowed=self.constraint.max_skew - self.self_match,
            enough=self.domains >= self.constraint.min_domains,
        )

    def _least(self, fewest: int) -> int:
        """With fewer domains than wanted the ones that are not there count as empty."""
        return 0 if self.domains < self.constraint.min_domains else fewest


@dataclass(frozen=True, slots=True)
class SpreadAt:
    """The same at one node.

    Attributes:
        here: matching pods in its domain.
        fewest, elsewhere: the fewest in any domain, and in any other than this one.
        eligible: whether pods of this node count.
        allowed: by how much ``here`` may be more than the fewest.
        enough: there are as many domains as wanted; where there are not, those that are not there count as empty.
    """

    here: int
    fewest: int
    elsewhere: int
    eligible: bool
    allowed: int
    enough: bool

    def skewed(self, change: int) -> bool:
        """Whether the pod would make the skew too large, with this many more matching pods on the node."""
        here, fewest = self.here, self.fewest
        if change and self.eligible:
            here += change
            fewest = min(here, self.elsewhere)
        return here - (fewest if self.enough else 0) > self.allowed


def _totals(view: Snapshot, pod: PodInfo, constraint: SpreadConstraint, eligible: Bools, column: DomainColumn) -> Ints:
    """kube-scheduler counts no pod for an empty selector, though it selects them all."""
    if constraint.selector is None or not constraint.selector.requirements:
        return np.zeros(column.size, dtype=np.int64)
    selector = PodSelector(frozenset((pod.namespace,)), constraint.selector)
    counts = view.pods.counts(PodMatcher((selector,), terminating=False))
    return summed_by_domain(column.ids, counts * eligible, column.size)
