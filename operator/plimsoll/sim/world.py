"""One world: nodes, and pods that arrive, each with its load over time. The same for every contender."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from plimsoll.policy.compiled import CPU, MEMORY, NETWORK_RECEIVE, NETWORK_TRANSMIT
from plimsoll.sim.scenario import Scenario

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# The order of every axis over metrics, [M]: cores, bytes, bytes/s received, bytes/s sent.
METRICS = (CPU, MEMORY, NETWORK_RECEIVE, NETWORK_TRANSMIT)
CPU_AT, MEMORY_AT, RECEIVE_AT, TRANSMIT_AT = range(4)
# Load is constant within a step; a world may have another.
STEP_S = 15.0
LAG_S = 1800.0


class Owner(enum.Enum):
    """What made a pod: kube-scheduler spreads a service's pods by default, and no others."""

    SERVICE = "Service"
    JOB = "Job"


class Node(NamedTuple):
    """Attributes:
    cores, mem_bytes: capacity, all of it allocatable.
    nic_bytes_s: in each direction.
    joins_s, drains_s: since the start of the world; it is there from the start with 0, and stays with infinity.
    """

    name: str
    cores: float
    mem_bytes: float
    nic_bytes_s: float
    joins_s: float = 0.0
    drains_s: float = float("inf")


class Pod(NamedTuple):
    """One replica.

    Attributes:
        app: index of what it is a replica of.
        arrives_s: when it is created.
        lifetime_s: how long it runs.
        ready_s: from its placement to its start.
        lag_s: how far it is apart from the app's other replicas, at most LAG_S: a service's follows the app's load so
            much later, a job's begins so much later in it. A job that comes anew goes on where it was.
        request: cores and bytes, 0 of a pod that requests nothing.
        limit: the same; 0 without a limit.
    """

    app: int
    owner: Owner
    arrives_s: float
    lifetime_s: float
    ready_s: float
    lag_s: float
    request: tuple[float, float]
    limit: tuple[float, float]

    def anew(self, *, now_s: float, ran_s: float) -> Pod:
        """The pod that takes its place for the rest of its life, after it was evicted."""
        lag_s = self.lag_s + ran_s if self.owner is Owner.JOB else self.lag_s
        return self._replace(arrives_s=now_s, lifetime_s=self.lifetime_s - ran_s, lag_s=lag_s)


@dataclass(slots=True)
class World:
    """Attributes:
    curves: [A, M, S] load of one replica of each app, by slots of ``slot_s``: of a service since LAG_S before the
        start of the world, of a job since the start of the pod.
    background: [M, N, K], load by steps that no pod accounts for.
    step_s: length of a step.
    pods: those that arrive by themselves; evicted ones that come anew are added while it runs.
    """

    scenario: Scenario
    seed: int
    nodes: tuple[Node, ...]
    capacity: Floats
    curves: Floats
    slot_s: float
    background: Floats
    pods: list[Pod]
    horizon_s: float
    step_s: float = STEP_S
    _sums: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        start = np.zeros((*self.curves.shape[:2], 1))
        self._sums = np.concatenate((start, np.cumsum(self.curves, axis=2)), axis=2)

    @property
    def steps(self) -> int:
        """K."""
        return int(self.background.shape[2])

    def copy(self) -> Self:
        """For one contender: pods that come anew are its own."""
        return replace(self, pods=list(self.pods))

    def load(self, pod: int, *, from_step: int, until_step: int, started_s: float) -> Floats:
        """[M, until - from], what the pod demands by steps, once it runs."""
        replica = self.pods[pod]
        zero_s = begin_s(replica, started_s)
        at_s = np.arange(from_step, until_step) * self.step_s - zero_s
        slots = np.clip(at_s // self.slot_s, 0, self.curves.shape[2] - 1).astype(np.int64)
        load: Floats = self.curves[replica.app][:, slots]
        return load

    def mean_use(self, apps: NDArray[np.int64], at_s: Floats, window_s: float | Floats) -> Floats:
        """[P, M], the mean over the window that ends at each moment of each app's curve, within the curve."""
        end, begin = self._sum_until(apps, at_s), self._sum_until(apps, at_s - window_s)
        mean: Floats = (end - begin) * self.slot_s / np.broadcast_to(window_s, at_s.shape)[:, None]
        return mean

    def _sum_until(self, apps: NDArray[np.int64], at_s: Floats) -> Floats:
        position = np.clip(at_s / self.slot_s, 0, self.curves.shape[2] - 1e-6)
        slot = position.astype(np.int64)
        part: Floats = self._sums[apps, :, slot] + (position - slot)[:, None] * self.curves[apps, :, slot]
        return part


def begin_s(replica: Pod, started_s: float) -> float:
    """The moment at which a replica is at the begin of its app's curve; a service's is never before it."""
    return started_s - replica.lag_s if replica.owner is Owner.JOB else replica.lag_s - LAG_S
