"""PodTopologySpread: constraints with whenUnsatisfiable DoNotSchedule."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from plimsoll.cluster.changes import Change
from plimsoll.cluster.invalidates import Invalidates
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Bools, Snapshot
from plimsoll.cluster.spread import SpreadConstraint
from plimsoll.filters import spread_hints
from plimsoll.filters.interface import Code, Overlay, Problem, Reason, Refusal
from plimsoll.filters.node_inclusion import included_rows
from plimsoll.filters.spread_domains import SpreadAt, SpreadDomains

_NAME = "PodTopologySpread"
SKEWED = "node(s) didn't match pod topology spread constraints"
UNLABELLED = f"{SKEWED} (missing required label)"


class PodTopologySpread:
    """Defaults of the scheduler itself are ScheduleAnyway only, so a pod without constraints is never refused."""

    name = _NAME
    invalidates = Invalidates.ALL
    wakes = spread_hints.WAKES

    def prepare(self, view: Snapshot, pod: PodInfo) -> SpreadOfPod | Problem | None:
        hard = tuple(constraint for constraint in pod.spread if constraint.hard)
        if not hard:
            return None
        if problem := next((constraint.problem for constraint in hard if constraint.problem), ""):
            sentence = f"get constraints from pod: obtaining pod's hard topology spread constraints: {problem}"
            return Problem(sentence, Code.ERROR)
        return SpreadOfPod(pod, tuple(_domains(view, pod, hard)))

    def helps(self, change: Change, pod: PodInfo, view: Snapshot) -> bool:  # noqa: ARG002
        return spread_hints.helps(change, pod)


@dataclass(frozen=True, slots=True)
class SpreadOfPod:
    """The hard constraints of one pod, in the pod's order; the first that a node fails names the reason."""

    pod: PodInfo
    constraints: tuple[SpreadDomains, ...]

    def refusals(self) -> Iterable[Refusal]:
        size = len(self.constraints[0].column.ids)
        left, unlabelled = np.ones(size, dtype=np.bool_), np.zeros(size, dtype=np.bool_)
        for domains in self.constraints:
            unlabelled |= left & (domains.column.ids == 0)
            left &= ~unlabelled & ~domains.skewed()
        skewed: Bools = ~left & ~unlabelled
        yield Refusal(_NAME, UNLABELLED, unlabelled, resolvable=np.zeros(size, dtype=np.bool_))
        yield Refusal(_NAME, SKEWED, skewed, resolvable=skewed)

    def check(self, row: int, overlay: Overlay) -> tuple[Reason, ...]:
        """As kube-scheduler's AddPod and RemovePod do, pods of the overlay count even if they terminate."""
        for domains in self.constraints:
            if not domains.column.ids[row]:
                return (Reason(UNLABELLED, resolvable=False),)
            if domains.at(row).skewed(self._change(domains.constraint, overlay)):
                return (Reason(SKEWED, resolvable=True),)
        return ()

    def effect(self, pod: PodInfo) -> tuple[bool, ...] | None:
        if pod.namespace != self.pod.namespace:
            return None
        selected = tuple([domains.constraint.selects(pod.labels) for domains in self.constraints])
        return selected if any(selected) else None

    def beside(self, row: int, overlay: Overlay) -> SpreadBeside:
        changes = [self._change(domains.constraint, overlay) for domains in self.constraints]
        labelled = all(domains.column.ids[row] for domains in self.constraints)
        return SpreadBeside([domains.at(row) for domains in self.constraints] if labelled else None, changes)

    def _change(self, constraint: SpreadConstraint, overlay: Overlay) -> int:
        return self._selected(constraint, overlay.added) - self._selected(constraint, overlay.removed)

    def _selected(self, constraint: SpreadConstraint, pods: Iterable[PodInfo]) -> int:
        return sum(pod.namespace == self.pod.namespace and constraint.selects(pod.labels) for pod in pods)


class SpreadBeside:
    """Matching pods of one node, as they come back.

    Args:
        at: by constraint; None where the node lacks a label.
        changes: by constraint, how many more there are than there were.
    """

    def __init__(self, at: Sequence[SpreadAt] | None, changes: list[int]) -> None:
        self._at, self._changes = at, changes

    def put_back(self, pod: PodInfo, effect: Hashable) -> None:  # noqa: ARG002
        self._count(effect, 1)

    def remove(self, pod: PodInfo, effect: Hashable) -> None:  # noqa: ARG002
        self._count(effect, -1)

    def refuses(self) -> bool:
        return self._at is None or any(map(SpreadAt.skewed, self._at, self._changes))

    def _count(self, effect: Hashable, sign: int) -> None:
        assert isinstance(effect, tuple)
        for i, selected in enumerate(effect):
            self._changes[i] += sign * selected


def _domains(view: Snapshot, pod: PodInfo, hard: tuple[SpreadConstraint, ...]) -> Iterable[SpreadDomains]:
    labelled = np.ones(view.size, dtype=np.bool_)
    for constraint in hard:
        labelled &= view.domains.column(constraint.topology_key).ids > 0
    for constraint in hard:
        yield SpreadDomains.of(view, pod, constraint, labelled & included_rows(view, pod, constraint))
