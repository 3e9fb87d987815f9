"""Writes Events: grouped as client-go does, behind whatever has precedence, and none too late."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass

from plimsoll.errors import ApiError, Conflict, NotFound, Unavailable
from plimsoll.kube.backoff import Backoff
from plimsoll.kube.client import ApiClient, Json
from plimsoll.kube.rate import TokenBucket
from plimsoll.kube.resources import EVENTS
from plimsoll.kube.share import LaggingShare
from plimsoll.reporting.events import Event, series_json, to_json

log = logging.getLogger(__name__)

# client-go's finishTime: what happens again later than this is a new event.
_SERIES_S = 360.0
# client-go's cache has the same size; the oldest series are let go first.
_MAX_SERIES = 4096
_TRIES = 3
# How late it may be to notice that others are busy no more.
_LOOK_S = 0.05
_SHARE = LaggingShare()
# A pod is bound but once.
_ONCE = frozenset({"Scheduled"})
# What was done stays true whoever leads; why a pod waits is for the leader to say, who may have placed it since.
_ONLY_WHO_LEADS = frozenset({"FailedScheduling"})
# What a float still tells apart in this century.
_APART_S = 1e-6


@dataclass(slots=True)
class _Series:
    """``name`` is that of the Event object; "" until it has been written.

    ``first_s`` is unique, since the name is made of it.
    """

    count: int
    first_s: float
    last_s: float
    name: str = ""
    queued: bool = False


@dataclass(slots=True)
class _Waiting:
    """``since_s`` by the recorder's clock."""

    event: Event
    series: _Series
    since_s: float


class EventRecorder:
    """Takes events at once and writes them by and by: what others have to write goes first.

    Args:
        instance: which process reports.
        leading: asked before each request; without the Lease nothing is said about pods that wait.
        busy: whether something that has precedence is under way.
        written, dropped: called with the reason of each event that was written, the cause of each given up.
        per_s, burst: a budget, for who wants one; by itself the API server decides how fast it goes.
        waiting: how many may wait; beyond that new ones are dropped.
        share: how many requests are under way at a time.
    """

    def __init__(
        self,
        client: ApiClient,
        *,
        instance: str,
        leading: Callable[[], bool] = lambda: True,
        busy: Callable[[], bool] = lambda: False,
        written: Callable[[str], None] = lambda _: None,
        dropped: Callable[[str], None] = lambda _: None,
        per_s: float = 5000.0,
        burst: int = 500,
        waiting: int = 50_000,
        share: LaggingShare = _SHARE,
        now_s: Callable[[], float] = time.time,
    ) -> None:
        self._client = client
        self._instance = instance
        self._leading = leading
        self._busy = busy
        self._written = written
        self._dropped = dropped
        self._budget = TokenBucket(per_s=per_s, burst=burst)
        self._most_waiting = waiting
        self._share = share
        self._now_s = now_s
        self._waiting = deque[_Waiting]()
        self._under_way = 0
        self._resting: list[asyncio.Future[None]] = []
        self._all_told = asyncio.Event()
        self._all_told.set()
        self._series = OrderedDict[Event, _Series]()
        self._newest_s = 0.0

    @property
    def waiting(self) -> int:
        """How many have not been sent."""
        return len(self._waiting)

    @property
    def lag_s(self) -> float:
        """For how long the oldest of them has waited; 0 where none does."""
        return max(self._now_s() - self._waiting[0].since_s, 0.0) if self._waiting else 0.0

    def record(self, event: Event) -> None:
        """Never waits and never fails."""
        now_s = self._now_s()
        # What happens to a pod once has no later times to be told apart from, and would push out what has.
        series = self._new_series(now_s) if event.reason in _ONCE else self._series_of(event, now_s)
        series.count += 1
        series.last_s = now_s
        if not series.queued:
            self._enqueue(_Waiting(event, series, now_s))

    async def run(self) -> None:
        """Until cancelled."""
        async with asyncio.TaskGroup() as group:
            for _ in range(self._share.most):
                group.create_task(self._write_on())
            while True:
                # Nobody tells when others are no longer busy, nor that an event has become late.
                self._let_go()
                await asyncio.sleep(_LOOK_S)

    async def flush(self) -> None:
        """Returns once everything that was recorded is written or dropped; the caller sets the time limit."""
        await self._all_told.wait()

    def _series_of(self, event: Event, now_s: float) -> _Series:
        series = self._series.get(event)
        if series is None or now_s - series.last_s > _SERIES_S:
            series = self._series[event] = self._new_series(now_s)
        self._series.move_to_end(event)
        if len(self._series) > _MAX_SERIES:
            self._series.popitem(last=False)
        return series

    def _new_series(self, now_s: float) -> _Series:
        self._newest_s = max(now_s, self._newest_s + _APART_S)
        return _Series(count=0, first_s=self._newest_s, last_s=now_s)

    def _enqueue(self, waiting: _Waiting) -> None:
        if len(self._waiting) >= self._most_waiting:
            self._dropped("backlog")
            return
        self._waiting.append(waiting)
        waiting.series.queued = True
        self._all_told.clear()
        self._let_go()

    def _let_go(self) -> None:
        """Wakes as many writers as may be at work."""
        if not self._waiting or not self._resting:
            return
        free = min(self._allowed() - self._under_way, len(self._waiting))
        while free > 0 and self._resting:
            resting = self._resting.pop()
            if not resting.done():
                resting.set_result(None)
                self._under_way += 1
                free -= 1

    def _allowed(self) -> int:
        return self._share.under_way(oldest_s=self.lag_s, others_busy=self._busy())

    async def _write_on(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            resting = loop.create_future()
            self._resting.append(resting)
            await resting
            try:
                while self._waiting and self._under_way <= self._allowed():
                    await self._take(self._waiting.popleft())
            finally:
                self._under_way -= 1
                if not self._waiting and not self._under_way:
                    self._all_told.set()

    async def _take(self, waiting: _Waiting) -> None:
        # What is not ours to say takes nothing of the budget: thousands may wait when the Lease is lost.
        if self._may_tell(waiting.event):
            await self._budget.take()
        await self._write(waiting.event, waiting.series)

    async def _write(self, event: Event, series: _Series) -> None:
        series.queued = False
        backoff: Backoff | None = None
        for _ in range(_TRIES):
            if not self._may_tell(event):
                return self._dropped("not leading")
            try:
                return await self._send(event, series)
            except Unavailable as error:
                backoff = backoff or Backoff()
                await asyncio.sleep(backoff.next_s(at_least_s=error.retry_after_s))
            except ApiError as error:
                log.info("event was refused: %s", error, extra={"reason": event.reason})
                return self._dropped("refused")
        return self._dropped("unanswered")

    def _may_tell(self, event: Event) -> bool:
        return event.reason not in _ONLY_WHO_LEADS or self._leading()

    async def _send(self, event: Event, series: _Series) -> None:
        """The first time as an object; later times add up in its series."""
        if series.name:
            again = series_json(count=series.count, last_observed_s=series.last_s)
            try:
                await self._client.patch(EVENTS.path(namespace=event.namespace, name=series.name), again)
            except NotFound:  # expired meanwhile: begin anew
                series.name = ""
        if not series.name:
            series.name = await self._create(event, series)
        self._written(event.reason)

    async def _create(self, event: Event, series: _Series) -> str:
        body: Json = to_json(event, now_s=series.first_s, instance=self._instance)
        if series.count > 1:
            body |= series_json(count=series.count, last_observed_s=series.last_s)
        # It is there already where an earlier try was carried out without an answer.
        with contextlib.suppress(Conflict):
            await self._client.tell(EVENTS.path(namespace=event.namespace), body)
        return str(body["metadata"]["name"])
