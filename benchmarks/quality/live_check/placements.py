"""Where the pods of one play went."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.live_check.scene import Scene


@dataclass(frozen=True, slots=True)
class Placements:
    """Attributes:
    counts: [R, N], pods by rollout and node, both in the scene's order.
    """

    counts: NDArray[np.int64]

    @classmethod
    def of(cls, scene: Scene, placed: Iterable[tuple[int, str]]) -> Self:
        """Args:
        placed: index of the rollout and name of the node, by pod.
        """
        index = {machine.name: i for i, machine in enumerate(scene.machines)}
        counts = np.zeros((len(scene.rollouts), len(scene.machines)), dtype=np.int64)
        for rollout, node in placed:
            counts[rollout, index[node]] += 1
        return cls(counts)

    @property
    def by_node(self) -> NDArray[np.int64]:
        """[N]."""
        total: NDArray[np.int64] = self.counts.sum(axis=0)
        return total
