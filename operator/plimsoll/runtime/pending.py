"""The scheduler's pending pods: from kopf's events and the sweep into the queue."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.cluster.salvage import salvage
from plimsoll.errors import ObjectError
from plimsoll.reporting.conditions import PodCondition, read_condition
from plimsoll.runtime.known import Known
from plimsoll.scheduling.scheduler import Scheduler

Json = dict[str, Any]

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Waiting:
    """What is remembered of a pending pod beside what the Scheduler knows.

    Attributes:
        condition: PodScheduled as it was read or last written.
        since_s: when the pod was first seen.
        attempts: how many were made.
    """

    condition: PodCondition | None
    generation: int | None
    since_s: float
    attempts: int = 0


class PendingPods:
    """Takes events and lists, hands pods to the Scheduler, and remembers their condition.

    A pod that cannot be read goes there as well as it can be told: it is refused, and so hears what is wrong with it.
    """

    def __init__(
        self, scheduler: Scheduler, *, wake: Callable[[], None], repaired: Callable[[], None] = lambda: None
    ) -> None:
        self._scheduler = scheduler
        self._wake = wake
        self._waiting: dict[Uid, Waiting] = {}
        self._known = Known(on_seen=self._on_seen, on_gone=self._on_gone, repaired=repaired)
        self.gone = self._known.gone
        self.sweep_begins = self._known.sweep_begins
        self.swept = self._known.swept
        self.sweep_ends = self._known.sweep_ends

    def __len__(self) -> int:
        return len(self._known)

    def seen(self, raw: Json) -> None:
        self._known.seen(raw)

    def waiting(self, uid: Uid) -> Waiting | None:
        """None of a pod that is no longer pending, or was never seen to be."""
        return self._waiting.get(uid)

    def condition_of(self, uid: Uid) -> PodCondition | None:
        waiting = self._waiting.get(uid)
        return waiting.condition if waiting else None

    def condition_written(self, uid: Uid, condition: PodCondition) -> None:
        if waiting := self._waiting.get(uid):
            waiting.condition = condition

    def _on_seen(self, raw: Json) -> None:
        try:
            pod = PodInfo.parse(raw)
        except ObjectError as error:
            log.warning("pod is left pending: %s", error)
            found = salvage(raw, error)
            if found is None:
                return
            pod = found
        generation = raw["metadata"].get("generation")
        if known := self._waiting.get(pod.uid):
            known.condition, known.generation = read_condition(raw), generation
        else:
            self._waiting[pod.uid] = Waiting(read_condition(raw), generation, since_s=time.time())
        self._scheduler.pod_pending(pod, now_s=time.time())
        self._wake()

    def _on_gone(self, uid: str) -> None:
        self._waiting.pop(Uid(uid), None)
        self._scheduler.pending_pod_gone(Uid(uid), now_s=time.time())
