"""One task per policy: readings at every refresh, and the status that shows them."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol

from plimsoll.cluster.node import NodeInfo
from plimsoll.errors import ApiError, Conflict, NotFound
from plimsoll.load.pod_use import PodPlace
from plimsoll.load.readings import Readings
from plimsoll.load.verdicts import WHOLE_SOURCE
from plimsoll.policy.compiled import Policy
from plimsoll.reporting.events import Event, metrics_event
from plimsoll.reporting.noise import worth_writing
from plimsoll.reporting.status import invalid_status, policy_status
from plimsoll.runtime.policies import PolicyBook, PolicyEntry
from plimsoll.scheduling.overview import PolicyOverview
from plimsoll.scheduling.scheduler import Scheduler

Json = dict[str, Any]

log = logging.getLogger(__name__)

# Beyond a source's own time-out; the first pods do not wait longer for a source that hangs.
_FIRST_ANSWER_S = 15.0
# As the default refresh interval.
_INVALID_S = 30.0


class MetricsSources(Protocol):
    """Whoever asks Prometheus and metrics-server; failures are part of the Readings, never raised."""

    async def refresh(
        self,
        policy: Policy,
        *,
        nodes: Iterable[NodeInfo],
        pods: Mapping[str, str],
        places: Mapping[str, PodPlace],
        now_s: float,
        previous: Readings | None,
    ) -> Readings: ...


class StatusWriter(Protocol):
    async def __call__(self, entry: PolicyEntry, status: Json) -> None:
        """Raises ApiError where the API server did not take it."""


class Observer(Protocol):
    """Who counts."""

    def refreshed(self, policy: Policy, overview: PolicyOverview) -> None: ...
    def refresh_failed(self, name: str) -> None: ...
    def status_write(self, result: str) -> None: ...
    def forgotten(self, name: str) -> None: ...


class Refresher:
    """Keeps a task for each policy, begun anew when its spec changes: the first refresh is at once.

    Args:
        record, controller: takes events, and in whose name.
        node_of: nodes of assigned pods by ``namespace/name``.
        place_of: what is to be known of those that run, to learn from what they use.
        leading: standbys take readings as well, so that they can take over at once, but write nothing.
        wake: called when readings may have changed what pods wait for.
    """

    def __init__(
        self,
        *,
        scheduler: Scheduler,
        policies: PolicyBook,
        sources: MetricsSources,
        node_of: Mapping[str, str],
        place_of: Mapping[str, PodPlace],
        write: StatusWriter,
        record: Callable[[Event], None],
        controller: str,
        leading: Callable[[], bool],
        wake: Callable[[], None],
        observer: Observer,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._scheduler = scheduler
        self.policies = policies
        self._sources = sources
        self._node_of = node_of
        self._place_of = place_of
        self._write = write
        self._record = record
        self._controller = controller
        self._leading = leading
        self._wake = wake
        self._observer = observer
        self._sleep = sleep
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._answered: dict[str, asyncio.Event] = {}
        # Sources count upwards from 1.
        self._ids = itertools.count(-1, -1)
        self._failed: Callable[[BaseException], None] = lambda _: None
        self._started = False

    def start(self, *, failed: Callable[[BaseException], None]) -> None:
        """From now on; ``failed`` is told of what ended a task: no mistake in one refresh does."""
        self._started, self._failed = True, failed
        for entry in self.policies:
            self.changed(entry.name)

    def changed(self, name: str) -> None:
        """A policy was added, its spec changed, or it is gone."""
        self._wake()
        if not self._started:
            return
        if task := self._tasks.pop(name, None):
            task.cancel()
        entry = self.policies.get(name)
        if entry is None:
            self._answered.pop(name, None)
            self._observer.forgotten(name)
            return
        self._answered.setdefault(name, asyncio.Event())
        task = asyncio.create_task(self._refresh_on(entry), name=f"refresh of {name}")
        task.add_done_callback(self._ended)
        self._tasks[name] = task

    async def wait_first_answers(self, *, within_s: float = _FIRST_ANSWER_S) -> None:
        """Until each policy has been answered once or had its time."""
        waits = [asyncio.ensure_future(answered.wait()) for answered in self._answered.values()]
        if waits:
            _, late = await asyncio.wait(waits, timeout=within_s)
            for wait in late:
                wait.cancel()

    async def stop(self) -> None:
        self._started = False
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._tasks.clear()

    async def _refresh_on(self, entry: PolicyEntry) -> None:
        if entry.policy is None:
            return await self._show_invalid_on(entry)
        loop = asyncio.get_running_loop()
        due_s, readings = loop.time(), None
        while True:
            with self._surviving(entry):
                readings = await self._refresh(entry, entry.policy, readings)
            # From one due time to the next, so that a slow source does not stretch the interval.
            due_s = max(due_s + entry.policy.refresh_interval_s, loop.time())
            await self._sleep(due_s - loop.time())

    async def _refresh(self, entry: PolicyEntry, policy: Policy, previous: Readings | None) -> Readings | None:
        try:
            readings = await self._read(policy, previous)
        except Exception as error:  # noqa: BLE001 - a mistake of ours, told with its traceback
            self._tell(error, entry)
            readings = self._unread()
            self._scheduler.readings_taken(policy.name, readings, now_s=time.time())
        self._answered[entry.name].set()
        await self._show_state(entry, policy)
        return readings

    @contextlib.contextmanager
    def _surviving(self, entry: PolicyEntry) -> Iterator[None]:
        """A mistake of ours in one policy must not end the scheduling of all; its readings age by themselves."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - as above
            self._tell(error, entry)

    def _tell(self, error: Exception, entry: PolicyEntry) -> None:
        extra = {"policy": entry.name}
        log.error("refresh failed, trying again at the next interval", exc_info=error, extra=extra)
        self._observer.refresh_failed(entry.name)

    def _unread(self) -> Readings:
        """What stands for readings that could not be taken by a mistake of ours."""
        nodes = tuple(node.name for node in self._scheduler.nodes())
        sentence = "Reading the source failed unexpectedly: see the traceback in the log of the scheduler."
        return Readings(
            id=next(self._ids), taken_at_s=time.time(), nodes=nodes, metrics={}, failures={WHOLE_SOURCE: sentence}
        )

    async def _show_state(self, entry: PolicyEntry, policy: Policy) -> None:
        overview = self._scheduler.overview(policy.name, now_s=time.time())
        if overview is None:
            return
        self._observer.refreshed(policy, overview)
        status = policy_status(overview, previous=entry.status, now_s=time.time())
        await self._show(
            entry, status, event=metrics_event(overview, previous=entry.status, controller=self._controller)
        )

    async def _read(self, policy: Policy, previous: Readings | None) -> Readings | None:
        if policy.source is None or not policy.metrics:
            return None
        readings = await self._sources.refresh(
            policy,
            nodes=self._scheduler.nodes(),
            pods=self._node_of,
            places=self._place_of,
            now_s=time.time(),
            previous=previous,
        )
        self._scheduler.readings_taken(policy.name, readings, now_s=time.time())
        self._wake()
        return readings

    async def _show_invalid_on(self, entry: PolicyEntry) -> None:
        """Written once; tried again while it could not be, or another process led."""
        assert entry.error is not None
        self._answered[entry.name].set()
        while True:
            with self._surviving(entry):
                status = invalid_status(
                    generation=entry.generation, error=entry.error, previous=entry.status, now_s=time.time()
                )
                await self._show(entry, status)
            await self._sleep(_INVALID_S)

    async def _show(self, entry: PolicyEntry, status: Json, *, event: Event | None = None) -> None:
        if not self._leading():
            return
        if event:
            self._record(event)
        if not worth_writing(entry.status, status, time.time()):
            self._observer.status_write("skipped")
            return
        try:
            await self._write(entry, status)
        except (NotFound, Conflict):
            return  # deleted or recreated; the watch is about to say so
        except ApiError as error:
            log.warning("status could not be written: %s", error, extra={"policy": entry.name})
            self._observer.status_write("failed")
        else:
            entry.status = status
            self._observer.status_write("written")

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()):
            self._failed(error)
