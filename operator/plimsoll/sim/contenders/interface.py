"""What the engine asks of whoever places pods."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol

import numpy as np

from plimsoll.sim.metrics import MetricsPlane
from plimsoll.sim.world import World


class Placement(NamedTuple):
    """Attributes:
    pod, node: indexes into the world's.
    """

    pod: int
    node: int


class Contender(Protocol):
    """Told what happens, asked where pods go. Times are seconds since the start of the world.

    It may look at what a scheduler can know: requests, owners, limits, which pods are where, and the metrics plane;
    never at a pod's load to come, unless it says so in its name.
    """

    def node_joined(self, node: int, *, now_s: float) -> None: ...
    def node_drained(self, node: int, *, now_s: float) -> None:
        """No new pods for it; its pods end, and come anew, by themselves."""

    def arrived(self, pod: int, *, now_s: float) -> None:
        """It waits for a node from now on."""

    def started(self, pod: int, *, now_s: float) -> None:
        """It runs, some time after it was placed."""

    def ended(self, pod: int, *, now_s: float) -> None:
        """Its node has its room again."""

    def refreshed(self, *, now_s: float) -> None:
        """The moment at which metrics are read."""

    def place(self, *, now_s: float) -> Iterable[Placement]:
        """Every pod that can be placed now, each exactly once; it counts as on its node from then on."""

    def due_s(self) -> float | None:
        """When ``place`` may find more although nothing happens before."""


Make = Callable[[World, MetricsPlane, np.random.Generator], Contender]
