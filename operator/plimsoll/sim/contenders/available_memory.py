"""NodeAvailableMemory: the node with the most memory available, of the two small plugins that this project generalises.

Source: the plugin's formula, 100 * available memory / ``max_memory``, at most 100, read from metrics-server as it does
without a Prometheus; ``max_memory`` is that of the largest node. It knows nothing of pods that the metric cannot show
yet.
"""

from __future__ import annotations

import numpy as np

from plimsoll.sim.contenders.small_plugin import SmallPlugin
from plimsoll.sim.world import MEMORY_AT, Bools, Floats


class AvailableMemory(SmallPlugin):
    """100 * available / most."""

    def score(self, fit: Bools, *, now_s: float) -> Floats:  # noqa: ARG002 - all nodes are measured by the largest
        capacity = self.world.capacity[MEMORY_AT]
        used = self.plane.latest(now_s)[MEMORY_AT]
        return available_score(capacity - used, max_mem_bytes=float(capacity.max()))


def available_score(available: Floats, *, max_mem_bytes: float) -> Floats:
    """[N].

    Args:
        available: [N], bytes; NaN where unknown.
    """
    return np.nan_to_num(np.clip(available * 100 // max_mem_bytes, 0, 100), nan=0.0)
