"""Pods that other schedulers place, as policies with mode Observe see them."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.unbound import before_binding
from plimsoll.scheduling.regret import Regret
from plimsoll.scheduling.scheduler import Scheduler

Json = dict[str, Any]

log = logging.getLogger(__name__)


class PlacedByOthers:
    """Has pods scored as they come, one after another, each on the cluster as it was before.

    Args:
        in_sync: whether all of the cluster is known; what the first lists hold is old news.
        judged: told of each pod and policy.
    """

    def __init__(self, scheduler: Scheduler, *, in_sync: Callable[[], bool], judged: Callable[[Regret], None]) -> None:
        self._scheduler = scheduler
        self._in_sync = in_sync
        self._judged = judged

    def seen(self, raw: Json, pod: PodInfo) -> None:
        """A pod on a node, before the Scheduler is told of it."""
        now_s = time.time()
        if not self._scheduler.observes(pod, now_s=now_s) or not self._in_sync():
            return
        try:
            found = self._scheduler.observe(before_binding(raw), node=pod.node, now_s=now_s)
        except Exception:
            # Nobody waits for the answer, and the pod must count on its node all the same.
            log.exception("pod of another scheduler could not be scored", extra={"pod": pod.key, "node": pod.node})
            return
        for regret in found:
            self._judged(regret)
