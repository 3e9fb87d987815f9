"""Spreading where it is not required (kube-scheduler's PodTopologySpread): ScheduleAnyway, and by default.

A pod without constraints of its own that a Service or its controller selects is spread over nodes and zones. A node's
raw score adds, per constraint, the pods in its domain times a weight that grows with the number of domains.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from plimsoll.cluster.default_spread import default_selector
from plimsoll.cluster.domains import DomainColumn
from plimsoll.cluster.node import HOSTNAME_LABEL, ZONE_LABEL, NodeInfo
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.pod_counts import PodMatcher
from plimsoll.cluster.pod_terms import PodSelector
from plimsoll.cluster.selectors import selects_node
from plimsoll.cluster.snapshot import Bools, Ints, Snapshot
from plimsoll.cluster.spread import SpreadConstraint
from plimsoll.cluster.taints import tolerated
from plimsoll.load.readings import Floats
from plimsoll.scores.normalise import MAX_SCORE
from plimsoll.scores.preferred.caches import PreferenceCaches

NAME = "PodTopologySpread"
_DEFAULT_MAX_SKEW = {HOSTNAME_LABEL: 3, ZONE_LABEL: 5}


def score(view: Snapshot, pod: PodInfo, feasible: Bools, caches: PreferenceCaches) -> Ints | None:
    """[N]; None where the pod need not be spread."""
    constraints = _constraints(view, pod)
    if not constraints:
        return None
    return _Spread(view, pod, feasible, caches, constraints).scores()


def _constraints(view: Snapshot, pod: PodInfo) -> tuple[SpreadConstraint, ...]:
    if pod.spread:
        return tuple(constraint for constraint in pod.spread if not constraint.hard)
    selector = default_selector(view.services, pod)
    if selector is None:
        return ()
    return tuple(SpreadConstraint(key, skew, hard=False, selector=selector) for key, skew in _DEFAULT_MAX_SKEW.items())


@dataclass(frozen=True)
class _Spread:
    """One pod, spread by ``constraints``, all of them soft."""

    view: Snapshot
    pod: PodInfo
    feasible: Bools
    caches: PreferenceCaches
    constraints: tuple[SpreadConstraint, ...]

    def scores(self) -> Ints:
        """[N]; nodes without all the labels have none, unless the constraints are the default ones."""
        raw = np.zeros(self.view.size)
        for constraint in self.constraints:
            raw += self._raw(constraint)
        return _normalised(_rounded(raw), self._scored)

    @cached_property
    def _complete(self) -> Bools:
        """[N], nodes that count: by default those without a zone do, so that they are spread by name at least."""
        complete = self.view.live.copy()
        if self.pod.spread:
            for constraint in self.constraints:
                complete &= self._column(constraint).ids > 0
        return complete

    @cached_property
    def _scored(self) -> Bools:
        scored: Bools = self.feasible & self._complete
        return scored

    def _column(self, constraint: SpreadConstraint) -> DomainColumn:
        return self.view.domains.column(constraint.topology_key)

    def _raw(self, constraint: SpreadConstraint) -> Floats:
        """[N], 0 at nodes without the label."""
        column = self._column(constraint)
        if column.size == 1:
            return np.zeros(self.view.size)
        counts = self._matching(constraint)
        if constraint.topology_key == HOSTNAME_LABEL:
            raw = _weighed(counts, int(np.count_nonzero(self._scored)), constraint)
            return raw if column.ids.all() else np.where(column.ids > 0, raw, 0.0)
        blank = column.id_of("")
        ids = _merged(column, blank) if blank else column.ids
        totals = np.bincount(ids, weights=counts * self._counted(constraint), minlength=column.size)
        present = np.bincount(ids, weights=self._scored, minlength=column.size)
        by_domain = _weighed(totals, int(np.count_nonzero(present)), constraint)
        if blank:
            return np.where(column.ids > 0, by_domain[ids], 0.0)
        by_domain[0] = 0.0
        return by_domain[ids]

    def _matching(self, constraint: SpreadConstraint) -> Ints:
        """[N], pods by row; a selector that selects everything selects nothing here."""
        if constraint.selector is None or not constraint.selector.requirements:
            return np.zeros(self.view.size, dtype=np.int64)
        pods = PodSelector(frozenset((self.pod.namespace,)), constraint.selector)
        return self.view.pods.counts(PodMatcher((pods,), terminating=False))

    def _counted(self, constraint: SpreadConstraint) -> Bools:
        """[N], nodes whose pods count; what the pod's affinity or the taints rule out does not."""
        honor_affinity = constraint.honor_affinity and (self.pod.node_selector or self.pod.node_affinity is not None)
        if not honor_affinity and not constraint.honor_taints:
            return self._complete
        key = f"{bool(honor_affinity)} {constraint.honor_taints} {self.pod.class_key}"
        included = self.caches.included.of(self.view, key, lambda node: _included(node, self.pod, constraint))
        counted: Bools = self._complete & (included > 0)
        return counted


def _included(node: NodeInfo, pod: PodInfo, constraint: SpreadConstraint) -> bool:
    if constraint.honor_affinity and not selects_node(
        pod.node_selector, pod.node_affinity, labels=node.labels, name=node.name
    ):
        return False
    return not constraint.honor_taints or all(tolerated(t, pod.tolerations) for t in node.taints if t.hard)


def _weighed(counts: Ints | Floats, domains: int, constraint: SpreadConstraint) -> Floats:
    """The more domains, the more each pod weighs."""
    raw: Floats = counts * np.log(domains + 2.0) + (constraint.max_skew - 1)
    return raw


def _merged(column: DomainColumn, blank: int) -> Ints:
    """[N], ids by which a label without a value is no label, as kube-scheduler's default spreading has it.

    A pod's own constraints never compare the two: nodes without the label do not count there.
    """
    return np.where(column.ids == blank, 0, column.ids)


def _rounded(raw: Floats) -> Ints:
    """Halves away from zero, as Go rounds; nothing here is below zero."""
    whole = np.floor(raw)
    return (whole + (raw - whole >= 0.5)).astype(np.int64)


def _normalised(raw: Ints, scored: Bools) -> Ints:
    """[N], the fewest pods score 100; 0 where a node has no score."""
    compared = raw[scored]
    if not compared.size:
        return np.zeros_like(raw)
    least, most = int(compared.min()), int(compared.max())
    scores = MAX_SCORE * (most + least - raw) // most if most else np.full_like(raw, MAX_SCORE)
    return np.where(scored, scores, 0)
