"""Trimaran's LoadVariationRiskBalancing inside kube-scheduler's default profile.

Source: kubernetes-sigs/scheduler-plugins, pkg/trimaran/loadvariationriskbalancing (0404cc6b): risk = (mean + margin *
deviation^(1/sensitivity)) / 2 of cpu and of memory, the pod's request added to the mean, the worse of the two counts;
weight 1. Margin 1 and sensitivity 2, as its README recommends; the README's profile leaves the default plugins on.
It does not count pods that the metrics cannot show yet. A node of
which one resource is unknown is scored by the other, one that is unknown scores 0.
"""

from __future__ import annotations

import numpy as np

from plimsoll.sim.contenders.kube_scheduler import MAX_SCORE, KubeScheduler
from plimsoll.sim.contenders.load_watcher import LoadWatcher
from plimsoll.sim.contenders.queueing import Ints, requests
from plimsoll.sim.metrics import MetricsPlane
from plimsoll.sim.world import Bools, Floats, Pod, World

_MARGIN, _SENSITIVITY = 1.0, 2.0


class LoadVariationRiskBalancing(KubeScheduler):
    """LoadVariationRiskBalancing + the default profile."""

    def __init__(self, world: World, plane: MetricsPlane, rng: np.random.Generator) -> None:
        super().__init__(world, plane, rng)
        self._watcher = LoadWatcher(plane)

    def refreshed(self, *, now_s: float) -> None:
        self._watcher.refreshed(now_s)

    def score(self, replica: Pod, fit: Bools, *, now_s: float) -> Ints:
        return super().score(replica, fit, now_s=now_s) + self._points(requests(replica))

    def _points(self, request: Ints) -> Ints:
        load = self._watcher.seen
        if load is None:
            return np.zeros(len(self.live), dtype=np.int64)
        return risk_score(load.mean, load.deviation, request[:, None] / self.allocatable)


def risk_score(
    mean: Floats,
    deviation: Floats,
    request: Floats,
    *,
    margin: float = _MARGIN,
    sensitivity: float = _SENSITIVITY,
) -> Ints:
    """[N], whole points.

    Args:
        mean, deviation: [R, N], shares of capacity; NaN where unknown.
        request: [R, N], the pod's, in the same way.
    """
    mu = np.clip(np.clip(mean, 0.0, 1.0) + request, 0.0, 1.0)
    sigma = np.clip(margin * np.clip(deviation, 0.0, 1.0) ** (1 / sensitivity), 0.0, 1.0)
    worst: Floats = np.fmax.reduce((mu + sigma) / 2, axis=0)
    return np.where(np.isnan(worst), 0, np.floor((1 - np.nan_to_num(worst)) * MAX_SCORE + 0.5)).astype(np.int64)
