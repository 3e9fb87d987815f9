"""Writes the PodScheduled condition of pods that could not be placed."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.errors import ApiError, Conflict, NotFound, Unavailable
from plimsoll.kube.backoff import Backoff
from plimsoll.kube.client import STRATEGIC_MERGE_PATCH, ApiClient
from plimsoll.kube.rate import TokenBucket
from plimsoll.kube.resources import PODS
from plimsoll.kube.share import LaggingShare
from plimsoll.kube.writers import Writers
from plimsoll.reporting.conditions import PodCondition, completed, condition_patch, needs_patch

log = logging.getLogger(__name__)

_TRIES = 3
# Few beside the 48 Bindings that may be under way, however late; autoscalers look every ten seconds.
_SHARE = LaggingShare(few=2, most=8, early_s=1.0, late_s=4.0)


@dataclass(frozen=True, slots=True)
class _Wanted:
    pod: PodInfo
    condition: PodCondition


class PodStatusWriter:
    """Takes conditions at once and writes the newest of each pod by and by, where it says something new.

    Args:
        condition_of: the condition that the pod has as far as is known; None where it has none.
        written: told after each write, so that ``condition_of`` knows.
        busy: whether Bindings are under way, which go first.
        share: how many requests are under way at a time.
        may_write: asked before each request; what comes up while it says no is never written.
        timeout_s: of a request; no longer than others wait for the Lease once ``may_write`` has become false.
    """

    def __init__(
        self,
        client: ApiClient,
        *,
        condition_of: Callable[[Uid], PodCondition | None],
        written: Callable[[Uid, PodCondition], None],
        may_write: Callable[[], bool],
        timeout_s: float,
        per_s: float = 500.0,
        burst: int = 500,
        busy: Callable[[], bool] = lambda: False,
        share: LaggingShare = _SHARE,
        now_s: Callable[[], float] = time.time,
    ) -> None:
        self._client = client
        self._condition_of = condition_of
        self._written = written
        self._may_write = may_write
        self._timeout_s = timeout_s
        self._budget = TokenBucket(per_s=per_s, burst=burst)
        self._now_s = now_s
        self._waiting: dict[Uid, _Wanted] = {}
        self._order = deque[tuple[Uid, float]]()
        self._under_way: dict[Uid, asyncio.Event] = {}
        self._writers = Writers(
            share=share,
            waiting=lambda: len(self._order),
            lag_s=self._lag_s,
            busy=busy,
            write_next=self._write_next,
        )

    def unscheduled(self, pod: PodInfo, condition: PodCondition) -> None:
        """Never waits. A condition that waits already is replaced."""
        known = pod.uid in self._waiting
        self._waiting[pod.uid] = _Wanted(pod, condition)
        if not known:
            self._order.append((pod.uid, self._now_s()))
            self._writers.wake()

    def clear_nomination(self, pod: PodInfo) -> None:
        """The pod is nominated no more; whatever waits to be said about it is said without."""
        waiting = self._waiting.get(pod.uid)
        condition = waiting.condition if waiting else self._condition_of(pod.uid)
        # Without a condition of ours there is no nomination of ours.
        if condition is not None:
            self.unscheduled(pod, replace(condition, nominated_node=""))

    async def withdraw(self, uid: Uid) -> None:
        """What waits is not written any more; returns once what was under way is through.

        Whoever binds the pod calls this first: False must not be written over the API server's True.
        """
        self._waiting.pop(uid, None)
        while under_way := self._under_way.get(uid):
            await under_way.wait()

    @property
    def busy(self) -> bool:
        """Whether any condition is being written or waits to be."""
        return bool(self._waiting or self._under_way)

    def under_way(self, uid: Uid) -> bool:
        """Whether ``withdraw`` would have something to do."""
        return uid in self._waiting or uid in self._under_way

    def drop(self) -> None:
        """What waits is never written: another process may have bound these pods since."""
        self._waiting.clear()

    async def run(self) -> None:
        """Until cancelled."""
        await self._writers.run()

    def _lag_s(self) -> float:
        return max(self._now_s() - self._order[0][1], 0.0) if self._order else 0.0

    async def _write_next(self) -> None:
        uid, _ = self._order.popleft()
        if uid not in self._waiting:
            return
        await self._budget.take()
        if wanted := self._waiting.pop(uid, None):
            await self._write_one(wanted)

    async def _write_one(self, wanted: _Wanted) -> None:
        uid = wanted.pod.uid
        while earlier := self._under_way.get(uid):
            await earlier.wait()
        done = self._under_way[uid] = asyncio.Event()
        try:
            await self._write(wanted)
        finally:
            del self._under_way[uid]
            done.set()

    async def _write(self, wanted: _Wanted) -> None:
        pod, previous = wanted.pod, self._condition_of(wanted.pod.uid)
        if not needs_patch(previous, wanted.condition):
            return
        patch = condition_patch(wanted.condition, previous=previous, uid=pod.uid, now_s=self._now_s())
        path = PODS.path(namespace=pod.namespace, name=pod.name, subresource="status")
        backoff = Backoff()
        for _ in range(_TRIES):
            # False must not be written over the True of whoever leads by now.
            if not self._may_write():
                return
            try:
                await self._client.patch(path, patch, content_type=STRATEGIC_MERGE_PATCH, timeout_s=self._timeout_s)
            except (NotFound, Conflict):
                return  # deleted, or another pod by now
            except Unavailable as error:
                await asyncio.sleep(backoff.next_s(at_least_s=error.retry_after_s))
            except ApiError as error:
                log.warning("condition was refused: %s", error, extra={"pod": pod.key})
                return
            else:
                self._written(pod.uid, completed(previous, wanted.condition))
                return
