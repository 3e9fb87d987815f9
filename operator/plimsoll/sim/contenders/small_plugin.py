"""What the two small plugins have in common: placed by one raw score, and nothing else."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from plimsoll.sim.contenders.queueing import Queueing
from plimsoll.sim.world import Bools, Floats, Pod


class SmallPlugin(Queueing):
    """The best of the nodes that fit, by chance among equals.

    Where the source fails theirs fail the pod's cycle, and the pod waits. Here what was told last goes on to count, and
    a node without a value scores 0, so that every pod is placed and can be compared.
    """

    def choose(self, pod: int, replica: Pod, fit: Bools, *, now_s: float) -> int:  # noqa: ARG002 - part of the protocol
        score = self.score(fit, now_s=now_s)
        return int(self.rng.choice(np.flatnonzero(fit & (score >= score[fit].max()))))

    @abstractmethod
    def score(self, fit: Bools, *, now_s: float) -> Floats:
        """[N], 0 to 100, whole points."""
