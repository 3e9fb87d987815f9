"""The pods that run, as arrays, since they are asked for all at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plimsoll.sim.world import Floats, World, begin_s


class LivePods:
    """Attributes are by pod, and grow as pods come anew.

    Attributes:
        node: where it is.
        started_s: NaN for a pod that does not run.
        app: what it is a replica of.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        size = len(world.pods)
        self.node = np.zeros(size, dtype=np.int64)
        self.app = np.zeros(size, dtype=np.int64)
        self.started_s = np.full(size, np.nan)
        self._begin_s = np.zeros(size)

    def started(self, pod: int, node: int, *, now_s: float) -> None:
        if pod >= len(self.node):
            self._grow(2 * pod)
        replica = self._world.pods[pod]
        self.node[pod], self.app[pod], self.started_s[pod] = node, replica.app, now_s
        self._begin_s[pod] = begin_s(replica, now_s)

    def ended(self, pod: int) -> None:
        if pod < len(self.node):
            self.started_s[pod] = np.nan

    def pods(self) -> NDArray[np.int64]:
        """[P], those that run."""
        return np.flatnonzero(~np.isnan(self.started_s))

    def mean_use(self, pods: NDArray[np.int64], window_s: float, now_s: float) -> Floats:
        """[P, M], the mean of what each demanded in the window, or since it started; NaN in its first seconds."""
        age_s = now_s - self.started_s[pods]
        ran_s = np.clip(age_s, self._world.step_s, window_s)
        use = self._world.mean_use(self.app[pods], now_s - self._begin_s[pods], ran_s)
        use[~(age_s >= self._world.step_s)] = np.nan
        return use

    def _grow(self, size: int) -> None:
        more = size + 1 - len(self.node)
        self.node, self.app = (np.append(a, np.zeros(more, dtype=np.int64)) for a in (self.node, self.app))
        self.started_s = np.append(self.started_s, np.full(more, np.nan))
        self._begin_s = np.append(self._begin_s, np.zeros(more))
