"""What is kept of costs between decisions, by policy and by class of pods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.resources import CPU, MEMORY
from plimsoll.cluster.snapshot import Snapshot
from plimsoll.load.estimate import PolicyLoad
from plimsoll.load.metric_load import MetricLoad
from plimsoll.policy.compiled import Policy
from plimsoll.scheduling.row_costs import RowCosts, Selected

# Of all policies together. A class costs some 20 bytes per node, and as much again for each metric; the one longest
# unused goes.
_MAX_CLASSES = 64


class _Key(NamedTuple):
    """A pod counts here by what it requests of cpu and memory, and by what it is expected to use."""

    policy: str
    cpu_milli: int
    mem_bytes: int
    uses: bytes


class _Under(NamedTuple):
    """What a policy's classes stand for."""

    view: Snapshot
    load: PolicyLoad
    metrics: tuple[MetricLoad, ...]

    def stands_for(self, view: Snapshot, load: PolicyLoad) -> bool:
        return self.view is view and self.load is load and self.metrics is load.metrics


class CostCaches:
    """Never changes an answer."""

    def __init__(self) -> None:
        self._under: dict[str, _Under] = {}
        self._classes: dict[_Key, RowCosts] = {}

    def keep_policies(self, policies: Mapping[str, Policy]) -> None:
        """Drops what was kept for policies that are gone, or others by now.

        Args:
            policies: by name.
        """
        for name, under in list(self._under.items()):
            if policies.get(name) != under.load.policy:
                self.forget(name)

    def forget(self, policy: str) -> None:
        """Its readings are others: the arrays of older ones are not to be kept alive until it decides again."""
        self._under.pop(policy, None)
        self._classes = {key: costs for key, costs in self._classes.items() if key.policy != policy}

    def of(self, view: Snapshot, load: PolicyLoad, pod: PodInfo, selected: Selected) -> RowCosts:
        """As things are now; good until anything changes.

        Args:
            selected: tells the policy's nodes, [N].
        """
        name, uses = load.policy.name, load.uses(pod)
        under = self._under.get(name)
        if under is None or not under.stands_for(view, load):
            self.forget(name)
            self._under[name] = _Under(view, load, load.metrics)
        key = _Key(name, pod.requests.get(CPU, 0), pod.requests.get(MEMORY, 0), uses.tobytes())
        found = self._classes.pop(key, None)
        if found is None:
            found = RowCosts(view, load, pod, uses, selected)
        else:
            found.follow()
        self._classes[key] = found
        if len(self._classes) > _MAX_CLASSES:
            del self._classes[next(iter(self._classes))]
        return found
