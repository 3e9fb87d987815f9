"""What schedulers that only choose have in common: requests, a queue, and who is where."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from plimsoll.sim.contenders.interface import Placement
from plimsoll.sim.metrics import MetricsPlane
from plimsoll.sim.world import CPU_AT, MEMORY_AT, Bools, Floats, Pod, World

Ints = NDArray[np.int64]

_REQUESTED = [CPU_AT, MEMORY_AT]
# Cores to milli, as the API counts them; bytes are whole as they are.
_PER_UNIT = np.array([1000.0, 1.0])
# As kubelet's default.
_MOST_PODS = 110


class Queueing(ABC):
    """First come, first placed; who does not fit is tried again when room comes free.

    Attributes:
        allocatable, requested: [2, N], millicores and bytes.
        pods: [N], how many are there.
        live: [N], nodes that take pods.
        of_app: by app, [N], how many of its pods are there.

    One who was refused is tried again when a node comes or a pod ends, and when ``try_again`` says so.
    """

    def __init__(self, world: World, plane: MetricsPlane, rng: np.random.Generator) -> None:
        self.world, self.plane, self.rng = world, plane, rng
        nodes = len(world.nodes)
        self.allocatable = whole(world.capacity[_REQUESTED])
        self.requested = np.zeros((2, nodes), dtype=np.int64)
        self.pods = np.zeros(nodes, dtype=np.int64)
        self.live = np.zeros(nodes, dtype=np.bool_)
        self.of_app: dict[int, Ints] = {}
        self._on: dict[int, int] = {}
        self._new: list[int] = []
        self._refused: list[int] = []
        self._again = False

    @abstractmethod
    def choose(self, pod: int, replica: Pod, fit: Bools, *, now_s: float) -> int | None:
        """One of the nodes that fit, of which there is at least one; None: not now."""

    def node_joined(self, node: int, *, now_s: float) -> None:  # noqa: ARG002 - part of the protocol
        self.live[node] = True
        self.try_again()

    def node_drained(self, node: int, *, now_s: float) -> None:  # noqa: ARG002 - as above
        self.live[node] = False

    def arrived(self, pod: int, *, now_s: float) -> None:  # noqa: ARG002 - as above
        self._new.append(pod)

    def started(self, pod: int, *, now_s: float) -> None:  # noqa: B027 - for those who need it
        """Nothing changes for most."""

    def refreshed(self, *, now_s: float) -> None:  # noqa: B027 - as above
        """Most ask the plane when they place."""

    def due_s(self) -> float | None:
        return None

    def ended(self, pod: int, *, now_s: float) -> None:  # noqa: ARG002 - as above
        self._count(pod, self._on.pop(pod), sign=-1)
        self.try_again()

    def place(self, *, now_s: float) -> Iterable[Placement]:
        for pod in self._to_try():
            node = self._tried(pod, now_s=now_s)
            if node is None:
                self._refused.append(pod)
                continue
            self._on[pod] = node
            self._count(pod, node, sign=1)
            self.placed(pod, node, now_s=now_s)
            yield Placement(pod, node)

    def placed(self, pod: int, node: int, *, now_s: float) -> None:  # noqa: B027 - as above
        """Most know enough by what is requested."""

    def try_again(self) -> None:
        """What was refused may find a node now."""
        self._again = True

    def _to_try(self) -> list[int]:
        """The oldest first; without anything new to the refused only those that came since."""
        new, self._new = self._new, []
        if not self._again:
            return new
        refused, self._refused, self._again = self._refused, [], False
        return refused + new

    def replicas(self, pod: Pod) -> Ints:
        """[N], pods of the same app on each node."""
        return self.of_app.setdefault(pod.app, np.zeros(len(self.live), dtype=np.int64))

    def _tried(self, pod: int, *, now_s: float) -> int | None:
        replica = self.world.pods[pod]
        after = self.requested + requests(replica)[:, None]
        fit = self.live & (self.pods < _MOST_PODS) & (after <= self.allocatable).all(axis=0)
        return self.choose(pod, replica, fit, now_s=now_s) if fit.any() else None

    def _count(self, pod: int, node: int, *, sign: int) -> None:
        replica = self.world.pods[pod]
        self.requested[:, node] += sign * requests(replica)
        self.pods[node] += sign
        self.replicas(replica)[node] += sign


def requests(replica: Pod) -> Ints:
    """[2], millicores and bytes."""
    return _whole_pair(replica.request)


def limits(replica: Pod) -> Ints:
    """[2], the same; 0 without a limit."""
    return _whole_pair(replica.limit)


def whole(amount: Floats) -> Ints:
    """[2, ...], cores and bytes in the API's units."""
    scaled = amount * _PER_UNIT.reshape(-1, *[1] * (amount.ndim - 1))
    rounded: Ints = np.rint(scaled).astype(np.int64)
    return rounded


@lru_cache(maxsize=4096)
def _whole_pair(amount: tuple[float, float]) -> Ints:
    """[2], shared by all replicas of an app."""
    pair = whole(np.array(amount))
    pair.setflags(write=False)
    return pair
