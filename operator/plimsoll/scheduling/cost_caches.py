"""What is kept of costs between decisions, by policy and by class of pods."""

from __future__ import annotations

from collections.abc import Collection

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.resources import CPU, MEMORY
from plimsoll.cluster.snapshot import Snapshot
from plimsoll.load.estimate import PolicyLoad
from plimsoll.scheduling.row_costs import RowCosts, Selected

# A class costs some 20 bytes per node, and as much again for each metric; the one longest unused goes.
_MAX_CLASSES = 32

# A pod counts here by what it requests of cpu and memory, and by what it is expected to use.
_ClassKey = tuple[int, int, bytes]


class CostCaches:
    """Never changes an answer."""

    def __init__(self) -> None:
        self._policies: dict[str, _PolicyCosts] = {}

    def keep_policies(self, names: Collection[str]) -> None:
        """Drops what was kept for policies that are gone."""
        self._policies = {name: kept for name, kept in self._policies.items() if name in names}

    def of(self, view: Snapshot, load: PolicyLoad, pod: PodInfo, selected: Selected) -> RowCosts:
        """As things are now; good until anything changes.

        Args:
            selected: tells the policy's nodes, [N].
        """
        name = load.policy.name
        kept = self._policies.get(name)
        if kept is None or not kept.stands_for(view, load):
            kept = self._policies[name] = _PolicyCosts(view, load)
        return kept.of(pod, selected)


class _PolicyCosts:
    """Under one set of readings: the arrays of older ones are not to be kept alive by classes that nobody asks for."""

    def __init__(self, view: Snapshot, load: PolicyLoad) -> None:
        self._view, self._load, self._metrics = view, load, load.metrics
        self._classes: dict[_ClassKey, RowCosts] = {}

    def stands_for(self, view: Snapshot, load: PolicyLoad) -> bool:
        return self._view is view and self._load is load and self._metrics is load.metrics

    def of(self, pod: PodInfo, selected: Selected) -> RowCosts:
        uses = self._load.uses(pod)
        key = pod.requests.get(CPU, 0), pod.requests.get(MEMORY, 0), uses.tobytes()
        found = self._classes.pop(key, None)
        if found is None:
            found = RowCosts(self._view, self._load, pod, uses, selected)
        else:
            found.follow()
        self._classes[key] = found
        if len(self._classes) > _MAX_CLASSES:
            del self._classes[next(iter(self._classes))]
        return found
