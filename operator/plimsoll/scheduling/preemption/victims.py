"""The fewest pods of one node that must go for a pod to fit there (kube-scheduler's SelectVictimsOnNode)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from plimsoll.cluster.budgets import DisruptionBudget
from plimsoll.cluster.pod import PodInfo
from plimsoll.filters.prepared import PodFilters
from plimsoll.filters.run import yields_to
from plimsoll.scheduling.preemption.choosing import Candidate
from plimsoll.scheduling.preemption.disruptions import split_by_budgets
from plimsoll.scheduling.preemption.importance import by_importance
from plimsoll.scheduling.preemption.room import Room, Rooms
from plimsoll.scheduling.preemption.trial import Trial

NO_VICTIMS = "No preemption victims found for incoming pod"


@dataclass(frozen=True)
class DryRun:
    """Removes pods of lower priority in thought, node by node; good until anything changes."""

    filters: PodFilters
    budgets: Sequence[DisruptionBudget]

    @cached_property
    def _rooms(self) -> Rooms:
        return Rooms(self.filters.view, self.filters.pod)

    def victims_on(self, row: int) -> Candidate | tuple[str, ...]:
        """Whom to remove, or why removing pods does not help.

        A candidate without victims means that the pod fits there as it is.
        """
        view, pod = self.filters.view, self.filters.pod
        freed = view.held.below(row, pod.priority)
        if not freed:
            return (NO_VICTIMS,)
        others = yields_to(view, pod, view.name(row))
        room = self._rooms.on(row, freed=freed, added=others)
        summed = self.filters.only_fit
        if summed and (reasons := room.shortages() or self.filters.check_node(row)):
            return reasons
        lower = [p for p in view.residents.on(view.name(row)) if p.priority < pod.priority]
        trial = None if summed else Trial(self.filters, row, added=others, removed=lower, freed=freed)
        if trial is not None and (reasons := trial.reasons()):
            return reasons
        violating, rest = split_by_budgets(by_importance(lower), self.budgets)
        victims = _not_spared(trial, room, (*violating, *rest))
        return Candidate(row, tuple(by_importance(victims)), len({p.uid for p in violating} & {p.uid for p in victims}))


def _not_spared(trial: Trial | None, room: Room, pods: Sequence[PodInfo]) -> list[PodInfo]:
    """Puts them back one by one; those with which the pod does not fit stay away, in the order given.

    Args:
        trial: None where what is free says everything.
        room: what is free without any of them.
    """
    victims: list[PodInfo] = []
    for pod in pods:
        if not room.put_back(pod):
            victims.append(pod)
        elif trial is not None and not trial.put_back(pod):
            room.remove(pod)
            victims.append(pod)
    return victims
