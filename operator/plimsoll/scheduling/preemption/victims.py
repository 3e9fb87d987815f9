"""The fewest pods of one node that must go for a pod to fit there (kube-scheduler's SelectVictimsOnNode)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from plimsoll.cluster.budgets import DisruptionBudget
from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.filters.interface import Overlay
from plimsoll.filters.node_resources_fit import NodeResourcesFit
from plimsoll.filters.prepared import PodFilters
from plimsoll.filters.run import yields_to
from plimsoll.scheduling.preemption.choosing import Candidate
from plimsoll.scheduling.preemption.disruptions import split_by_budgets
from plimsoll.scheduling.preemption.importance import by_importance
from plimsoll.scheduling.preemption.room import Room

NO_VICTIMS = "No preemption victims found for incoming pod"

# Why the pod does not fit on a row, by reason, with these pods removed; empty where it fits.
Trial = Callable[[Sequence[PodInfo]], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class DryRun:
    """Removes pods of lower priority in thought, node by node."""

    filters: PodFilters
    budgets: Sequence[DisruptionBudget]

    def victims_on(self, row: int) -> Candidate | tuple[str, ...]:
        """Whom to remove, or why removing pods does not help.

        A candidate without victims means that the pod fits there as it is.
        """
        view, pod = self.filters.view, self.filters.pod
        freed = view.held.below(row, pod.priority)
        if not freed:
            return (NO_VICTIMS,)
        room, summed = Room(view, row, pod, freed=freed), self._sums_tell(row)
        if summed and (reasons := room.shortages()):
            return reasons
        lower = [p for p in view.residents.on(view.name(row)) if p.priority < pod.priority]
        trial = self._trial(row)
        if reasons := trial(lower):
            return reasons
        violating, others = split_by_budgets(by_importance(lower), self.budgets)
        victims = _not_spared(None if summed else trial, room, (*violating, *others))
        return Candidate(row, tuple(by_importance(victims)), len({p.uid for p in violating} & {p.uid for p in victims}))

    def _sums_tell(self, row: int) -> bool:
        """Nothing but resources is in the way of the pod."""
        view, prepared = self.filters.view, self.filters.prepared
        only_fit = len(prepared) == 1 and prepared[0][0].name == NodeResourcesFit.name
        return only_fit and not yields_to(view, self.filters.pod, view.name(row))

    def _trial(self, row: int) -> Trial:
        view = self.filters.view
        others = yields_to(view, self.filters.pod, view.name(row))

        def trial(removed: Sequence[PodInfo]) -> tuple[str, ...]:
            gone = tuple(removed)
            rejected = self.filters.check(row, Overlay(added=others, removed=gone))
            if others and not rejected:
                rejected = self.filters.check(row, Overlay(removed=gone))
            return () if rejected is None else tuple(reason.text for reason in rejected.reasons)

        return trial


def _not_spared(trial: Trial | None, room: Room, pods: Sequence[PodInfo]) -> list[PodInfo]:
    """Puts them back one by one; those with which the pod does not fit stay away.

    Args:
        trial: None where what is free says everything.
        room: what is free without any of them.
    """
    removed: dict[Uid, PodInfo] = {pod.uid: pod for pod in pods}
    for pod in pods:
        del removed[pod.uid]
        if not room.put_back(pod):
            removed[pod.uid] = pod
        elif trial is not None and trial(tuple(removed.values())):
            room.remove(pod)
            removed[pod.uid] = pod
    return list(removed.values())
