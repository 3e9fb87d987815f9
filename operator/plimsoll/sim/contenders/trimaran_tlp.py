"""Trimaran's TargetLoadPacking beside kube-scheduler's default spreading.

Source: kubernetes-sigs/scheduler-plugins, pkg/trimaran/targetloadpacking (0404cc6b) and handler.go (1597a0b7): by cpu
alone, the fuller the better up to 40 %, the emptier the better above; weight 1. A pod is expected to use its limit, or
else 1.5 times its request, or else a core. Pods that were bound after the metrics' window or within its last 60 s are
added in full, until a cleanup each 5 minutes drops those that are older than 60 s by then. Its README's profile turns
LeastAllocated and BalancedAllocation off. A node that is unknown scores 0; there is no fall back.
"""

from __future__ import annotations

import numpy as np

from plimsoll.sim.contenders.kube_scheduler import KubeScheduler
from plimsoll.sim.contenders.load_watcher import LoadWatcher
from plimsoll.sim.contenders.queueing import Ints, limits, requests
from plimsoll.sim.metrics import MetricsPlane
from plimsoll.sim.world import Bools, Floats, Pod, World

_TARGET_PERCENT = 40.0
_MULTIPLIER, _WITHOUT_REQUEST_MILLI = 1.5, 1000
_REPORTED_AFTER_S, _CLEANUP_EVERY_S = 60, 300.0


class TargetLoadPacking(KubeScheduler):
    """TargetLoadPacking + 2 * PodTopologySpread."""

    def __init__(self, world: World, plane: MetricsPlane, rng: np.random.Generator) -> None:
        super().__init__(world, plane, rng)
        self._watcher = LoadWatcher(plane)
        # By pod: since when, where, and with how many millicores.
        self._bound: dict[int, tuple[int, int, int]] = {}
        self._cleaned_s = 0.0

    def refreshed(self, *, now_s: float) -> None:
        self._watcher.refreshed(now_s)
        if now_s - self._cleaned_s >= _CLEANUP_EVERY_S:
            self._cleaned_s = now_s
            self._bound = {p: b for p, b in self._bound.items() if b[0] + _REPORTED_AFTER_S > now_s}

    def placed(self, pod: int, node: int, *, now_s: float) -> None:
        self._bound[pod] = int(now_s), node, predicted_milli(self.world.pods[pod])

    def ended(self, pod: int, *, now_s: float) -> None:
        super().ended(pod, now_s=now_s)
        self._bound.pop(pod, None)

    def score(self, replica: Pod, fit: Bools, *, now_s: float) -> Ints:  # noqa: ARG002 - part of the protocol
        return self.by_spread(replica, fit) + self._points(replica)

    def _points(self, replica: Pod) -> Ints:
        load = self._watcher.seen
        if load is None:
            return np.zeros(len(self.live), dtype=np.int64)
        cpu_milli = self.allocatable[0]
        used_milli = load.mean[0] * cpu_milli + self._missing_milli(load.end_s) + predicted_milli(replica)
        return packing_score(100 * used_milli / cpu_milli)

    def _missing_milli(self, end_s: float) -> Ints:
        """[N], what pods are expected to use that the metrics cannot show."""
        missing = np.zeros(len(self.live), dtype=np.int64)
        for bound_s, node, milli in self._bound.values():
            if int(end_s) - bound_s < _REPORTED_AFTER_S:
                missing[node] += milli
        return missing


def predicted_milli(replica: Pod) -> int:
    """Millicores that the pod is expected to use."""
    limit, request = int(limits(replica)[0]), int(requests(replica)[0])
    if limit:
        return limit
    # Go rounds halves up.
    return int(request * _MULTIPLIER + 0.5) if request else _WITHOUT_REQUEST_MILLI


def packing_score(percent: Floats, *, target: float = _TARGET_PERCENT) -> Ints:
    """[N], whole points.

    Args:
        percent: [N], of the cpu, with the pod; NaN where unknown.
    """
    below = (100 - target) * percent / target + target
    above = np.where(percent > 100, 0.0, target * (100 - percent) / (100 - target))
    points = np.where(percent > target, above, below)
    return np.floor(np.nan_to_num(points) + 0.5).astype(np.int64)
