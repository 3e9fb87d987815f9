"""Writes Events: grouped as client-go does, within a budget of their own, and never in anybody's way."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from plimsoll.errors import ApiError, Conflict, NotFound, Unavailable
from plimsoll.kube.backoff import Backoff
from plimsoll.kube.client import ApiClient, Json
from plimsoll.kube.rate import TokenBucket
from plimsoll.kube.resources import EVENTS
from plimsoll.reporting.events import Event, series_json, to_json

log = logging.getLogger(__name__)

# client-go's finishTime: what happens again later than this is a new event.
_SERIES_S = 360.0
# client-go's cache has the same size; the oldest series are let go first.
_MAX_SERIES = 4096
_TRIES = 3
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


class EventRecorder:
    """Takes events at once and writes them by and by.

    Args:
        instance: which process reports.
        leading: asked before each request; without the Lease nothing is said about pods that wait.
        written, dropped: called with the reason of each event that was written, the cause of each given up.
        per_s, burst: the budget: a tenth of what an API server can bind.
        waiting: how many may wait; beyond that new ones are dropped.
    """

    def __init__(
        self,
        client: ApiClient,
        *,
        instance: str,
        leading: Callable[[], bool] = lambda: True,
        written: Callable[[str], None] = lambda _: None,
        dropped: Callable[[str], None] = lambda _: None,
        per_s: float = 100.0,
        burst: int = 500,
        waiting: int = 10_000,
        writers: int = 4,
        now_s: Callable[[], float] = time.time,
    ) -> None:
        self._client = client
        self._instance = instance
        self._leading = leading
        self._written = written
        self._dropped = dropped
        self._budget = TokenBucket(per_s=per_s, burst=burst)
        self._queue: asyncio.Queue[tuple[Event, _Series]] = asyncio.Queue(waiting)
        self._series = OrderedDict[Event, _Series]()
        self._newest_s = 0.0
        self._writers = writers
        self._now_s = now_s

    def record(self, event: Event) -> None:
        """Never waits and never fails."""
        now_s = self._now_s()
        series = self._series.get(event)
        if series is None or now_s - series.last_s > _SERIES_S:
            self._newest_s = max(now_s, self._newest_s + _APART_S)
            series = self._series[event] = _Series(count=0, first_s=self._newest_s, last_s=now_s)
        self._series.move_to_end(event)
        series.count += 1
        series.last_s = now_s
        if len(self._series) > _MAX_SERIES:
            self._series.popitem(last=False)
        if not series.queued:
            self._enqueue(event, series)

    async def run(self) -> None:
        """Until cancelled."""
        async with asyncio.TaskGroup() as group:
            for _ in range(self._writers):
                group.create_task(self._write_on())

    async def flush(self) -> None:
        """Returns once everything that was recorded is written or dropped; the caller sets the time limit."""
        await self._queue.join()

    def _enqueue(self, event: Event, series: _Series) -> None:
        try:
            self._queue.put_nowait((event, series))
            series.queued = True
        except asyncio.QueueFull:
            self._dropped("budget")

    async def _write_on(self) -> None:
        while True:
            event, series = await self._queue.get()
            try:
                # What is not ours to say takes nothing of the budget: thousands may wait when the Lease is lost.
                if self._may_tell(event):
                    await self._budget.take()
                await self._write(event, series)
            finally:
                self._queue.task_done()

    async def _write(self, event: Event, series: _Series) -> None:
        series.queued = False
        backoff = Backoff()
        for _ in range(_TRIES):
            if not self._may_tell(event):
                return self._dropped("not leading")
            try:
                return await self._send(event, series)
            except Unavailable as error:
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
            await self._client.post(EVENTS.path(namespace=event.namespace), body)
        return str(body["metadata"]["name"])
