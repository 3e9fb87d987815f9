"""Which pods landed together: replicas of one app, and bursts."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from plimsoll.sim.engine import Outcome
from plimsoll.sim.world import Floats

# A burst is what is placed within one interval of the metrics; smaller ones cannot herd.
_BURST_S = 30.0
_BURST_PODS = 10


def siblings_together(outcome: Outcome) -> float:
    """The share of the placed pods that were for some time on one node with another replica of their app.

    NaN without placed pods.
    """
    stays: dict[tuple[int, int], list[tuple[float, float]]] = defaultdict(list)
    for pod, node, placed_s, ended_s in zip(
        outcome.world.pods, outcome.node, outcome.placed_s, outcome.ended_s, strict=True
    ):
        if node >= 0:
            stays[pod.app, node].append((placed_s, float("inf") if np.isnan(ended_s) else ended_s))
    placed = sum(map(len, stays.values()))
    return sum(map(_overlapping, stays.values())) / placed if placed else float("nan")


def _overlapping(stays: list[tuple[float, float]]) -> int:
    """How many of them overlap another one."""
    stays = sorted(stays)
    together = [False] * len(stays)
    latest = 0
    for i in range(1, len(stays)):
        if stays[i][0] < stays[latest][1]:
            together[i] = together[latest] = True
        if stays[i][1] > stays[latest][1]:
            latest = i
    return sum(together)


def largest_herd(placed_s: Floats, node: NDArray[np.int64]) -> float:
    """The largest share of any burst that landed on a single node; NaN where there was no burst."""
    order = np.argsort(placed_s, kind="stable")
    placed_s, node = placed_s[order], node[order]
    end = np.searchsorted(placed_s, placed_s + _BURST_S, side="left")
    size = end - np.arange(len(end))
    shares = [np.bincount(node[i : end[i]]).max() / size[i] for i in np.flatnonzero(size >= _BURST_PODS)]
    return float(max(shares, default=float("nan")))
