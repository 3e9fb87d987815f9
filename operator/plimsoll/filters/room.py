"""Whether a change made room on a node for pods that NodeResourcesFit rejected.

Sharper than kube-scheduler's hints, which look at the change alone: the node must have been short of something and
have enough now, be it after preempting pods of lower priority.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.resources import PODS, Amounts
from plimsoll.cluster.snapshot import Bools, Ints, Snapshot

# Of new nodes, of places that were kept for nominated pods, nothing is known of the time before.
_NEWS = ChangeKind.NODE_ADDED | ChangeKind.NOMINATION_ENDED


class NewRoom:
    """One change: a node that came or grew, or a pod that went or shrank on its node, or gave its place there up.

    What depends on the change alone is worked out once, however many pods ask.

    Attributes:
        freed: by how much the node's room grew, or shrank.
        grown: the resources of which there is more.
    """

    def __init__(self, change: Change, view: Snapshot) -> None:
        node = _node_of(change)
        self._view, self._row = view, view.row_of.get(node)
        self.freed = _freed(change)
        self.grown = frozenset(name for name, value in self.freed.items() if value > 0)
        self._news = change.late or bool(change.kind & _NEWS)
        # A pod that could have been preempted itself was no obstacle to those above it before it went.
        self._gone = change.before.priority if isinstance(change.before, PodInfo) else None
        # Pods that had to share the node with these in thought may have been short where the node was not.
        self._shared = max((pod.priority for pod in view.nominated.pods_on(node)), default=None)
        self._free: Amounts = {}
        self._removable: dict[int, Amounts] = {}

    @property
    def there(self) -> bool:
        """Whether the node is."""
        return self._row is not None

    def fits(self, pod: PodInfo) -> bool:
        """Whether the pod fits there now and did not before."""
        if self._row is None:
            return False
        wanted = wanted_by(pod)
        if self.grown.isdisjoint(wanted):
            return False
        known = not self._news and (self._shared is None or self._shared < pod.priority)
        return self._newly(wanted, {}, known=known) or (
            pod.may_preempt
            and bool(removable := self.removable_below(pod.priority))
            and self._newly(wanted, removable, known=known)
        )

    def known_to(self, priorities: Ints) -> Bools:
        """Of which of the priorities a pod's room before the change is known."""
        if self._news:
            return np.zeros(len(priorities), dtype=np.bool_)
        return np.ones(len(priorities), dtype=np.bool_) if self._shared is None else priorities > self._shared

    def left(self, name: str) -> int:
        """What is free of a resource now."""
        if name not in self._free:
            column, row = self._view.columns.get(name), self._row
            offered = 0 if column is None else int(self._view.allocatable[row, column])
            self._free[name] = offered - (0 if column is None else int(self._view.requested[row, column]))
        return self._free[name]

    def removable_below(self, priority: int) -> Amounts:
        """What a pod of the priority could free beside by preemption."""
        if self._row is None or (self._gone is not None and self._gone < priority):
            return {}
        if priority not in self._removable:
            self._removable[priority] = self._view.held.below(self._row, priority)
        return self._removable[priority]

    def _newly(self, wanted: Amounts, removable: Mapping[str, int], *, known: bool) -> bool:
        """Enough is free now and, where the time before is known, was not before."""
        if any(value > self.left(name) + removable.get(name, 0) for name, value in wanted.items()):
            return False
        return not known or any(
            value > self.left(name) + removable.get(name, 0) - self.freed.get(name, 0) for name, value in wanted.items()
        )


def wanted_by(pod: PodInfo) -> Amounts:
    """What a node must have free for the pod; ``pods`` counts places."""
    return {PODS: 1, **{name: value for name, value in pod.requests.items() if value > 0}}


def _node_of(change: Change) -> str:
    thing = change.after if change.before is None else change.before
    return thing.name if isinstance(thing, NodeInfo) else str(thing.node)


def _freed(change: Change) -> Amounts:
    """By how much the node's room grew, or shrank, by the change."""
    before, after = change.before, change.after
    if isinstance(after, NodeInfo):
        return _difference(after.allocatable, {} if before is None else before.allocatable)
    if after is None or after.node != before.node:
        return {PODS: 1, **before.requests}
    return _difference(before.requests, after.requests)


def _difference(more: Mapping[str, int], less: Mapping[str, int]) -> Amounts:
    return {name: more.get(name, 0) - less.get(name, 0) for name in {*more, *less}}
