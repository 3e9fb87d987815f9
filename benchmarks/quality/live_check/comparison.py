"""How far the live control plane and the simulator agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.live_check.placements import Placements

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Attributes:
    simulated: one per seed.
    """

    simulated: Sequence[Placements]

    @property
    def least(self) -> Ints:
        """[N], the fewest pods that any seed puts on each node."""
        least: Ints = self._by_node.min(axis=0)
        return least

    @property
    def most(self) -> Ints:
        """[N]."""
        most: Ints = self._by_node.max(axis=0)
        return most

    @property
    def mean(self) -> Floats:
        """[N]."""
        mean: Floats = self._by_node.mean(axis=0)
        return mean

    @property
    def mean_by_rollout(self) -> Floats:
        """[R, N]."""
        mean: Floats = np.mean([play.counts for play in self.simulated], axis=0)
        return mean

    def within(self, play: Placements) -> Bools:
        """[N], whether each node's count lies within the range of the seeds."""
        within: Bools = (self.least <= play.by_node) & (play.by_node <= self.most)
        return within

    def holds(self, play: Placements) -> bool:
        return bool(self.within(play).all())

    def distance(self, play: Placements) -> float:
        """The sum over nodes of how far each count is from the seeds' mean, by the number of pods: 0 where all are
        the same, 2 where no pod is on a node that has any.
        """
        return float(np.abs(play.by_node - self.mean).sum() / play.by_node.sum())

    def distance_by_rollout(self, play: Placements) -> float:
        """The same within each rollout. Even where all is as in the simulator it is far from 0: a single pod is on one
        node, and the mean of the seeds on several.
        """
        return float(np.abs(play.counts - self.mean_by_rollout).sum() / play.counts.sum())

    def share_within(self, plays: Sequence[Placements]) -> float:
        return float(np.mean([self.holds(play) for play in plays]))

    @property
    def _by_node(self) -> Ints:
        return np.array([play.by_node for play in self.simulated])
