"""Chance: any node that has room for the requests. What does not beat it does harm."""

from __future__ import annotations

import numpy as np

from plimsoll.sim.contenders.queueing import Queueing
from plimsoll.sim.world import Bools, Pod


class Chance(Queueing):
    """Uniform over the nodes that fit."""

    def choose(self, pod: int, replica: Pod, fit: Bools, *, now_s: float) -> int:  # noqa: ARG002 - blind
        return int(self.rng.choice(np.flatnonzero(fit)))
