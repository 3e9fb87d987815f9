"""What the nodes are asked to carry over time, and what of it they can."""

from __future__ import annotations

import numpy as np

from plimsoll.sim.world import Floats, World


class Demand:
    """Filled in as pods are placed; the past is never changed.

    Attributes:
        amount: [M, N, K], demanded in each step.
    """

    def __init__(self, world: World) -> None:
        self._world, self._step_s = world, world.step_s
        self.amount = world.background.copy()
        # Up to which step the sums of what was carried are made.
        self._settled = 0
        self._sums = np.zeros((*world.capacity.shape, world.steps + 1))

    def put(self, pod: int, node: int, *, started_s: float, ends_s: float) -> None:
        """The pod runs from the first whole step on."""
        begin, end = self._steps(started_s, ends_s)
        self.amount[:, node, begin:end] += self._world.load(pod, from_step=begin, until_step=end, started_s=started_s)

    def take(self, pod: int, node: int, *, started_s: float, from_s: float, ends_s: float) -> None:
        """The pod ends before its time."""
        begin, end = self._steps(max(from_s, started_s), ends_s)
        self.amount[:, node, begin:end] -= self._world.load(pod, from_step=begin, until_step=end, started_s=started_s)

    def carried_until(self, at_s: Floats) -> Floats:
        """[M, N], the sum of what each node has carried until its moment, in units times seconds."""
        step = np.clip((at_s / self._step_s).astype(np.int64), 0, self._world.steps - 1)
        self._settle(int(step.max()))
        nodes = np.arange(len(step))
        within = np.clip(at_s / self._step_s - step, 0.0, 1.0)
        now = np.minimum(self.amount[:, nodes, step], self._world.capacity)
        carried: Floats = self._sums[:, nodes, step] + within * self._step_s * now
        return carried

    def carried(self, from_step: int, until_step: int) -> Floats:
        """[M, N, until - from]."""
        part = self.amount[:, :, max(from_step, 0) : until_step]
        return np.minimum(part, self._world.capacity[:, :, None])

    def _steps(self, from_s: float, until_s: float) -> tuple[int, int]:
        last = self._world.steps
        begin = min(int(np.ceil(from_s / self._step_s)), last)
        return begin, max(begin, min(int(np.ceil(until_s / self._step_s)), last))

    def _settle(self, until_step: int) -> None:
        until_step = min(until_step, self._world.steps)
        if until_step <= self._settled:
            return
        new = self.carried(self._settled, until_step) * self._step_s
        first = self._sums[:, :, self._settled : self._settled + 1]
        self._sums[:, :, self._settled + 1 : until_step + 1] = first + np.cumsum(new, axis=2)
        self._settled = until_step
