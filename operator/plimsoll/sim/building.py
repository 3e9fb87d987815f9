"""Worlds from traces and scenarios: the same seed makes the same world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plimsoll.errors import InvalidInput
from plimsoll.sim.arrivals import Rollout, recorded_rollouts, rollouts
from plimsoll.sim.machines import nodes_of
from plimsoll.sim.recorded import Recorded
from plimsoll.sim.scaling import MOST_OF_A_NODE, Offer, scaled
from plimsoll.sim.scenario import HOUR_S, Arrivals, Scenario, Workloads
from plimsoll.sim.trace import Trace
from plimsoll.sim.world import CPU_AT, LAG_S, MEMORY_AT, STEP_S, Floats, Node, Owner, Pod, World

# Machines whose load no pod accounts for are none of those that pods are made of.
_HELD_OUT = 0.2
_BACKGROUND_TIMES = 3
# How wrong requests are: in the mean 65 % above the use, and now and then by a factor of ten.
_REQUEST_MEDIAN, _REQUEST_SIGMA = 1.1, (0.9, 0.6)
_LIMIT_TIMES = (3.0, 2.0)
_READY_S = (15.0, 60.0)
_REQUESTED = [CPU_AT, MEMORY_AT]


def build_world(trace: Trace, scenario: Scenario, seed: int, *, recorded: Recorded | None = None) -> World:
    """Args:
        seed: everything that is random follows from it, and from the scenario's numbers, not from its name.

    Raises:
        InvalidInput: the scenario needs something recorded that is not there, or the trace is too small for it.
    """
    if trace.machines < 2:
        raise InvalidInput("the trace has one machine only: pods and background need machines of their own")
    return _Building(trace, scenario, recorded or Recorded(), seed, np.random.default_rng([seed, 0])).world()


@dataclass(frozen=True, slots=True)
class _Building:
    trace: Trace
    scenario: Scenario
    recorded: Recorded
    seed: int
    rng: np.random.Generator

    def world(self) -> World:
        nodes = nodes_of(self.scenario, self.recorded, self.rng)
        capacity = np.array([(n.cores, n.mem_bytes, n.nic_bytes_s, n.nic_bytes_s) for n in nodes]).T
        offer = Offer.of(nodes, capacity)
        machines = self.rng.permutation(self.trace.machines)
        split = max(1, int(_HELD_OUT * self.trace.machines))
        pods = self._pods(self._arriving())
        curves = self._curves(machines[split:], apps=1 + max(pod.app for pod in pods))
        curves = scaled(curves, pods, offer, self.scenario, slot_s=self.trace.step_s)
        return World(
            scenario=self.scenario,
            seed=self.seed,
            nodes=nodes,
            capacity=capacity,
            curves=curves,
            slot_s=self.trace.step_s,
            background=self._background(machines[:split], nodes, capacity),
            pods=self._requesting(pods, curves, offer),
            horizon_s=self._horizon_s,
        )

    @property
    def _horizon_s(self) -> float:
        return self.scenario.hours * HOUR_S

    @property
    def _slots(self) -> int:
        """S, so many that no pod comes to the end of its app's curve."""
        return int(np.ceil((self._horizon_s + LAG_S) / self.trace.step_s)) + 1

    def _arriving(self) -> Sequence[Rollout]:
        pods, horizon_s = self.scenario.pods, self._horizon_s
        if self.scenario.arrivals is not Arrivals.RECORDED:
            single = self.scenario.arrivals is Arrivals.SINGLE
            return list(rollouts(pods=pods, horizon_s=horizon_s, single=single, rng=self.rng))
        if not self.recorded.arrivals:
            raise InvalidInput(
                f"scenario {self.scenario.name} needs the arrivals of a recorded cluster: give a CSV file of pods"
            )
        return list(recorded_rollouts(self.recorded.arrivals, pods=pods, horizon_s=horizon_s, rng=self.rng))

    def _pods(self, arriving: Sequence[Rollout]) -> list[Pod]:
        """In the order of their arrival, without requests."""
        owners = self._owners(1 + max(rollout.app for rollout in arriving))
        pods = [
            Pod(
                app=rollout.app,
                owner=owners[rollout.app],
                arrives_s=at_s,
                lifetime_s=life_s,
                ready_s=self.rng.uniform(*_READY_S),
                lag_s=self.rng.uniform(0, LAG_S),
                request=(0.0, 0.0),
                limit=(0.0, 0.0),
            )
            for rollout in arriving
            for at_s, life_s in rollout.pods
        ]
        return sorted(pods, key=lambda pod: pod.arrives_s)

    def _owners(self, apps: int) -> list[Owner]:
        match self.scenario.workloads:
            case Workloads.SERVICES:
                return [Owner.SERVICE] * apps
            case Workloads.JOBS:
                return [Owner.JOB] * apps
            case Workloads.MIXED:
                return [Owner.SERVICE if service else Owner.JOB for service in self.rng.random(apps) < 0.5]

    def _curves(self, machines: NDArray[np.int64], *, apps: int) -> Floats:
        """[A, M, S], each app a stretch of some machine's load."""
        chosen = machines[self.rng.integers(len(machines), size=apps)]
        return np.stack([self._stretch(int(machine)) for machine in chosen])

    def _stretch(self, machine: int) -> Floats:
        """[M, S], from a random moment on; a trace that is too short begins anew."""
        begin = int(self.rng.integers(max(1, self.trace.slots - self._slots)))
        at = np.arange(begin, begin + self._slots) % self.trace.slots
        return self.trace.use[:, machine, :][:, at].astype(np.float64)

    def _background(self, machines: NDArray[np.int64], nodes: Sequence[Node], capacity: Floats) -> Floats:
        """[M, N, K]: on some nodes what three machines use, as it is, but never more than half of the node."""
        steps = int(np.ceil(self._horizon_s / STEP_S))
        begins_s = np.arange(steps) * STEP_S
        background = np.zeros((*capacity.shape, steps))
        for node in self.rng.permutation(len(nodes))[: round(self.scenario.unmanaged * len(nodes))]:
            for machine in machines[self.rng.integers(len(machines), size=_BACKGROUND_TIMES)]:
                slot = (begins_s // self.trace.step_s).astype(np.int64)
                background[:, node] += self._stretch(int(machine))[:, slot]
            background[:, node, begins_s < nodes[node].joins_s] = 0.0
        return np.minimum(background, MOST_OF_A_NODE * capacity[:, :, None])

    def _requesting(self, pods: Sequence[Pod], curves: Floats, offer: Offer) -> list[Pod]:
        """The pods with what they request, which is what they use, but for an error of each app's own."""
        mean = curves.mean(axis=2)[:, _REQUESTED]
        error = np.exp(self.rng.normal(np.log(_REQUEST_MEDIAN), _REQUEST_SIGMA, size=mean.shape))
        requests = np.minimum(mean * error, offer.most[_REQUESTED])
        requests[self.rng.random(len(curves)) < self.scenario.best_effort] = 0.0
        limits = (requests * np.array(_LIMIT_TIMES)).tolist()
        asked = list(zip(map(tuple, requests.tolist()), map(tuple, limits), strict=True))
        return [pod._replace(request=asked[pod.app][0], limit=asked[pod.app][1]) for pod in pods]
