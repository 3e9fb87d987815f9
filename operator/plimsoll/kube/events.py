"""Writes Events: grouped as client-go does, behind whatever has precedence, and none too late."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from plimsoll.errors import ApiError, Conflict, NotFound, Unavailable
from plimsoll.kube.backoff import Backoff
from plimsoll.kube.client import ApiClient, Json
from plimsoll.kube.event_series import Series, SeriesBook
from plimsoll.kube.rate import TokenBucket
from plimsoll.kube.resources import EVENTS
from plimsoll.kube.share import LaggingShare
from plimsoll.kube.writers import Writers, takes_nothing
from plimsoll.reporting.events import Event, series_json, to_json

log = logging.getLogger(__name__)

_TRIES = 3
# For so long an Event waits for an API server that takes nothing; Events are kept for an hour.
_PATIENCE_S = 600.0
# An Event that is not answered keeps others from being told.
_TIMEOUT_S = 5.0
_SHARE = LaggingShare()
# What was done stays true whoever leads; why a pod waits is for the leader to say, who may have placed it since.
_ONLY_WHO_LEADS = frozenset({"FailedScheduling"})


@dataclass(slots=True)
class _Waiting:
    """``since_s`` by the recorder's clock, which nobody sets."""

    event: Event
    series: Series
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
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._instance = instance
        self._leading = leading
        self._written = written
        self._dropped = dropped
        self._budget = TokenBucket(per_s=per_s, burst=burst)
        self._most_waiting = waiting
        self._now_s = now_s
        self._clock_s = clock_s
        self._book = SeriesBook()
        self._waiting = deque[_Waiting]()
        self._cut_off = 0
        self._writers = Writers(
            share=share,
            waiting=lambda: len(self._waiting),
            lag_s=lambda: self.lag_s,
            busy=busy,
            write_next=self._write_next,
        )

    @property
    def waiting(self) -> int:
        """How many have not been sent."""
        return len(self._waiting)

    @property
    def lag_s(self) -> float:
        """For how long the next of them has waited; 0 where none does."""
        return max(self._clock_s() - self._waiting[0].since_s, 0.0) if self._waiting else 0.0

    def record(self, event: Event) -> None:
        """Never waits and never fails."""
        series = self._book.happened(event, self._now_s())
        if not series.queued and not series.busy:
            self._enqueue(event, series)

    async def run(self) -> None:
        """Until cancelled; what is not written by then is dropped, counted and told."""
        try:
            await self._writers.run()
        finally:
            self._give_up()

    def hurry(self) -> None:
        """The process ends: nothing has precedence any more."""
        self._writers.hurry()

    async def flush(self) -> None:
        """Returns once everything that was recorded is written or dropped; the caller sets the time limit."""
        await self._writers.wait_through()

    def _enqueue(self, event: Event, series: Series) -> None:
        if len(self._waiting) >= self._most_waiting:
            self._dropped("backlog")
            return
        self._wait(_Waiting(event, series, self._clock_s()))

    def _wait(self, waiting: _Waiting) -> None:
        self._waiting.append(waiting)
        waiting.series.queued = True
        self._writers.wake()

    def _give_up(self) -> None:
        lost = len(self._waiting) + self._cut_off
        for _ in range(lost):
            self._dropped("stopped")
        self._waiting.clear()
        self._cut_off = 0
        if lost:
            log.warning("events were not written before the stop", extra={"events": lost})

    async def _write_next(self) -> None:
        waiting = self._waiting.popleft()
        event, series = waiting.event, waiting.series
        series.queued, series.busy = False, True
        try:
            # What is not ours to say takes nothing of the budget: thousands may wait when the Lease is lost.
            if self._may_tell(event):
                await self._budget.take()
            through = await self._write(waiting)
        except asyncio.CancelledError:
            self._cut_off += 1
            raise
        finally:
            series.busy = False
        if not through:
            # Behind the others: it may be this one alone that an admission plugin does not want so often.
            self._wait(waiting)
        elif series.count > series.tried:
            self._enqueue(event, series)

    async def _write(self, waiting: _Waiting) -> bool:
        """False: the API server takes nothing at the moment, try again later."""
        event, series = waiting.event, waiting.series
        backoff: Backoff | None = None
        for tries_left in reversed(range(_TRIES)):
            series.tried = series.count
            if not self._may_tell(event):
                self._dropped("not leading")
                return True
            try:
                await self._send(event, series)
            except Unavailable as error:
                if takes_nothing(error):
                    # Bindings have the same place in the API server's queue.
                    self._writers.pause(error.retry_after_s)
                    if self._clock_s() - waiting.since_s < _PATIENCE_S:
                        return False
                if tries_left:
                    backoff = backoff or Backoff()
                    await asyncio.sleep(backoff.next_s(at_least_s=error.retry_after_s))
            except ApiError as error:
                log.info("event was refused: %s", error, extra={"reason": event.reason})
                self._dropped("refused")
                return True
            else:
                return True
        self._dropped("unanswered")
        return True

    def _may_tell(self, event: Event) -> bool:
        return event.reason not in _ONLY_WHO_LEADS or self._leading()

    async def _send(self, event: Event, series: Series) -> None:
        """The first time as an object; later times add up in its series."""
        if not await self._added(event, series) and not await self._created(event, series) and series.count > 1:
            # The earlier try may have told of fewer times.
            await self._add(event, series)
        self._written(event.reason)

    async def _added(self, event: Event, series: Series) -> bool:
        """Whether there was an object to add to."""
        if series.name:
            with contextlib.suppress(NotFound):  # expired meanwhile: begin anew
                await self._add(event, series)
                return True
        return False

    async def _add(self, event: Event, series: Series) -> None:
        again = series_json(count=series.count, last_observed_s=series.last_s)
        series.tried = series.count
        path = EVENTS.path(namespace=event.namespace, name=series.name)
        await self._client.patch(path, again, timeout_s=_TIMEOUT_S)

    async def _created(self, event: Event, series: Series) -> bool:
        """False where it is there already: an earlier try was carried out without an answer."""
        body: Json = to_json(event, now_s=series.first_s, instance=self._instance)
        if series.count > 1:
            body |= series_json(count=series.count, last_observed_s=series.last_s)
        series.tried, created = series.count, False
        with contextlib.suppress(Conflict):
            await self._client.tell(EVENTS.path(namespace=event.namespace), body, timeout_s=_TIMEOUT_S)
            created = True
        series.name = str(body["metadata"]["name"])
        return created
