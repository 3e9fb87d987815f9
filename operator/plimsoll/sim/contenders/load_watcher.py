"""What Trimaran's plugins know of the nodes: utilisation over 15 minutes, fetched each minute.

Source: paypal/load-watcher, pkg/watcher/watcher.go and internal/metricsprovider/prometheus.go (0eba986d): mean and
standard deviation over 15 minutes of the recording rules ``instance:node_cpu:ratio`` (itself a rate over 5 minutes)
and ``instance:node_memory_utilisation:ratio`` (of an instant), all nodes in one query, every 60 s;
kubernetes-sigs/scheduler-plugins, pkg/trimaran/collector.go: the plugin copies the newest every 30 s. Nothing looks at
the age of what is there, and a fetch that fails leaves it; a node that a fetch does not name is unknown.

A value that is no number makes Go's integer score one that kube-scheduler refuses; here such a node is unknown.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from plimsoll.sim.metrics import MetricsPlane
from plimsoll.sim.world import CPU_AT, MEMORY_AT, Bools, Floats

WINDOW_S, _FETCH_EVERY_S, _RULE_WINDOW_S = 900.0, 60.0, 300.0
_KNOWN = [CPU_AT, MEMORY_AT]


class Watched(NamedTuple):
    """Attributes:
    mean, deviation: [2, N], shares of capacity, cpu and memory; NaN where a node is unknown.
    end_s: the end of the window.
    """

    mean: Floats
    deviation: Floats
    end_s: float


class LoadWatcher:
    """Told of every refresh, 30 s apart.

    Attributes:
        seen: what the plugin has; None before the first.
    """

    def __init__(self, plane: MetricsPlane) -> None:
        self._plane = plane
        self._capacity = plane.world.capacity[_KNOWN]
        self._recorded: deque[tuple[float, Floats]] = deque()
        self._fetched: Watched | None = None
        self._fetched_s = -np.inf
        self.seen: Watched | None = None

    def refreshed(self, now_s: float) -> None:
        """The plugin's copy is made just before the fetch of the same moment is done."""
        self.seen = self._fetched
        if not self._plane.answers(now_s):
            return
        self._record(now_s)
        if now_s - self._fetched_s >= _FETCH_EVERY_S:
            self._fetched, self._fetched_s = self._fetch(now_s), now_s

    def _record(self, now_s: float) -> None:
        cpu = self._plane.mean(_RULE_WINDOW_S, now_s)[CPU_AT]
        memory = self._plane.latest(now_s)[MEMORY_AT]
        self._recorded.append((now_s, np.stack((cpu, memory)) / self._capacity))
        while self._recorded[0][0] <= now_s - WINDOW_S:
            self._recorded.popleft()

    def _fetch(self, now_s: float) -> Watched:
        return watched(np.stack([share for _, share in self._recorded]), now_s, numbers=self._numbers(now_s))

    def _numbers(self, now_s: float) -> Bools:
        """[N]; false of nodes that were scraped, and yet are answered for with what is no number."""
        scraped = self._plane.covered_s(_RULE_WINDOW_S, now_s) > 0
        numbers: Bools = ~(scraped & np.isnan(self._recorded[-1][1][0]))
        return numbers


def watched(shares: Floats, end_s: float, *, numbers: Bools) -> Watched:
    """Over what there is in the window.

    Args:
        shares: [K, 2, N], NaN where nothing was recorded.
        numbers: [N], nodes without one are unknown.
    """
    known = ~np.isnan(shares)
    count = known.sum(axis=0)
    enough = (count > 0) & numbers
    divisor = np.maximum(count, 1)
    mean = np.where(known, shares, 0.0).sum(axis=0) / divisor
    variance = np.where(known, (shares - mean) ** 2, 0.0).sum(axis=0) / divisor
    return Watched(np.where(enough, mean, np.nan), np.where(enough, np.sqrt(variance), np.nan), end_s)
