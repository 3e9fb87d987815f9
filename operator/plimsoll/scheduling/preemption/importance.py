"""Who is spared first."""

from __future__ import annotations

import math
from collections.abc import Iterable

from plimsoll.cluster.pod import PodInfo


def by_importance(pods: Iterable[PodInfo]) -> list[PodInfo]:
    """The most important first: higher priority, then the one that has run longer (kube-scheduler's MoreImportantPod).

    Pods that have not started yet come last among equals, the newest first: kube-scheduler takes the present for
    their start at each comparison, which turns their order round.
    """
    known = list(pods)
    if len(known) < 2:  # as a rule
        return known
    started = [pod for pod in known if pod.started_s is not None]
    waiting = [pod for pod in reversed(known) if pod.started_s is None]
    return sorted((*started, *waiting), key=lambda pod: (-pod.priority, start_s(pod)))


def start_s(pod: PodInfo) -> float:
    """Infinite for a pod that has not started: later than any that has."""
    return math.inf if pod.started_s is None else pod.started_s
