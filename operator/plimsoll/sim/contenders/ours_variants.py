"""Ours without one of its nets, and with more than anybody can know: what each part is worth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from plimsoll.load.readings import Readings
from plimsoll.load.workload_use import Uses, WorkloadUse
from plimsoll.policy.compiled import Formula, InFlight, Placement, Policy
from plimsoll.sim.contenders.ours import Ours
from plimsoll.sim.metrics import MetricsPlane
from plimsoll.sim.world import METRICS, World

# So much of it makes a history count for nearly everything.
_LOOKS, _LOOK_EVERY_S = 48, 300.0
_AGAIN_EVERY_S = 3600.0


def without_spreading(policy: Policy) -> Policy:
    return replace(policy, placement=replace(policy.placement, spreading=0.0))


def without_requests(policy: Policy) -> Policy:
    return replace(policy, placement=replace(policy.placement, requests=0.0))


def without_in_flight(policy: Policy) -> Policy:
    return replace(policy, in_flight=InFlight.IGNORE)


def load_alone(policy: Policy) -> Policy:
    """Metrics and nothing else: the classic mistake."""
    return replace(
        policy, in_flight=InFlight.IGNORE, placement=Placement(load=1, requests=0, spreading=0, preferences=0)
    )


def bare(policy: Policy) -> Policy:
    """The classic plugins' formula and nothing else."""
    return replace(load_alone(policy), formula=Formula.RELATIVE)


class WithoutHistory(Ours):
    """Pods are expected to use what requests suggest."""

    def _use(self) -> WorkloadUse | None:
        return None


class Oracle(Ours):
    """What each workload will use, on the mean over the whole world, is its history from the start."""

    def __init__(self, policy: Policy, world: World, plane: MetricsPlane, rng: np.random.Generator) -> None:
        super().__init__(policy, world, plane, rng)
        self._truth = self._known_use()
        for look in range(_LOOKS):
            at_s = (look - _LOOKS) * _LOOK_EVERY_S
            self._tell(at_s)

    def _tell(self, at_s: float) -> None:
        said = Readings(id=0, taken_at_s=at_s, nodes=(), metrics={}, use=replace(self._truth, sampled_at_s=at_s))
        self._scheduler.readings_taken(self._policy.name, said, now_s=at_s)

    def _use(self) -> WorkloadUse | None:
        """The same again, so that it is not forgotten."""
        if self._read_s - self._use_s < _AGAIN_EVERY_S:
            return None
        self._use_s = self._read_s
        return replace(self._truth, sampled_at_s=self._read_s)

    def _known_use(self) -> WorkloadUse:
        curves = self._world.curves
        mean, square = curves.mean(axis=2), (curves**2).mean(axis=2)
        return WorkloadUse(
            0.0,
            {
                name: Uses(tuple(self._keys), np.ones(len(self._keys)), mean[:, i], square[:, i])
                for i, name in enumerate(METRICS)
            },
        )
