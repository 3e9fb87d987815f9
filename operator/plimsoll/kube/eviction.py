"""Makes a pod give way: says so in its status, then deletes it with its own grace period (kube-scheduler's PreemptPod).

Not by the eviction API: preemption goes past disruption budgets where there is no other way.
"""

from __future__ import annotations

import asyncio
import enum
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

from plimsoll.cluster.disruption import DISRUPTION_TARGET, PREEMPTION_BY_SCHEDULER, Disruption
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.times import timestamp
from plimsoll.errors import ApiError, Conflict, NotFound, Unavailable
from plimsoll.kube.backoff import Backoff
from plimsoll.kube.client import STRATEGIC_MERGE_PATCH, ApiClient
from plimsoll.kube.resources import PODS

log = logging.getLogger(__name__)

Json = dict[str, Any]

_TRIES = 3


class Eviction(enum.Enum):
    EVICTED = "evicted"
    GONE = "gone"  # it had gone before, or another pod has its name
    FAILED = "failed"


class Evictor:
    """Evicts pods.

    Args:
        scheduler_name: what the victim's condition names.
        may_write: asked before each request.
        timeout_s: of a request; no longer than others wait for the Lease once ``may_write`` has become false.
    """

    def __init__(
        self,
        client: ApiClient,
        *,
        scheduler_name: str,
        may_write: Callable[[], bool],
        timeout_s: float,
        now_s: Callable[[], float] = time.time,
    ) -> None:
        self._client = client
        self._scheduler_name = scheduler_name
        self._may_write = may_write
        self._timeout_s = timeout_s
        self._now_s = now_s

    async def evict(self, victim: PodInfo) -> Eviction:
        """Returns once the API server has taken the deletion, or will not."""
        marked = await self._tried(victim, self._mark)
        return await self._tried(victim, self._delete) if marked is Eviction.EVICTED else marked

    async def _mark(self, victim: PodInfo) -> None:
        if victim.disruption == _preemption(self._scheduler_name):
            return  # by an earlier attempt, whose deletion failed
        path = PODS.path(namespace=victim.namespace, name=victim.name, subresource="status")
        patch = disruption_patch(victim, scheduler_name=self._scheduler_name, now_s=self._now_s())
        await self._client.patch(path, patch, content_type=STRATEGIC_MERGE_PATCH, timeout_s=self._timeout_s)

    async def _delete(self, victim: PodInfo) -> None:
        # With the uid a pod that was recreated under the same name is left alone.
        options = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": victim.uid}}
        path = PODS.path(namespace=victim.namespace, name=victim.name)
        await self._client.delete(path, options, timeout_s=self._timeout_s)

    async def _tried(self, victim: PodInfo, step: Callable[[PodInfo], Awaitable[None]]) -> Eviction:
        backoff = Backoff()
        for _ in range(_TRIES):
            if not self._may_write():
                return Eviction.FAILED
            try:
                await step(victim)
            except (NotFound, Conflict):
                return Eviction.GONE
            except Unavailable as error:
                await asyncio.sleep(backoff.next_s(at_least_s=error.retry_after_s))
            except ApiError as error:
                log.warning("eviction was refused: %s", error, extra={"pod": victim.key})
                return Eviction.FAILED
            else:
                return Eviction.EVICTED
        return Eviction.FAILED


def disruption_patch(victim: PodInfo, *, scheduler_name: str, now_s: float) -> Json:
    """The body of the strategic merge PATCH of ``pods/status``."""
    reason, message = _preemption(scheduler_name)
    condition: Json = {
        "type": DISRUPTION_TARGET,
        "status": "True",
        "reason": reason,
        "message": message,
        "lastProbeTime": None,
    }
    if victim.disruption is None:
        condition["lastTransitionTime"] = timestamp(now_s)
    if victim.generation:
        condition["observedGeneration"] = victim.generation
    return {"metadata": {"uid": victim.uid}, "status": {"conditions": [condition]}}


def _preemption(scheduler_name: str) -> Disruption:
    message = f"{scheduler_name}: preempting to accommodate a higher priority pod"
    return Disruption(PREEMPTION_BY_SCHEDULER, message)
