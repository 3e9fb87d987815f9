"""Binds under way: a bounded number at a time, reported to the Scheduler one by one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Protocol

from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.kube.binding import BindOutcome, BindResult
from plimsoll.reporting.annotation import annotation
from plimsoll.scheduling.decision import Bind
from plimsoll.scheduling.scheduler import Scheduler

# How many decided pods may wait for a connection, in multiples of the concurrency. Enough to keep the
# connections busy, and little to take back when the Lease is lost.
_AHEAD = 4
# What is decided then is decided in one go.
_FEW = 2


class Binder(Protocol):
    async def bind(self, pod: PodInfo, *, node: str, annotation: str) -> BindResult: ...


class Withdraw(Protocol):
    """Makes sure that no PodScheduled=False is written after the pod was bound."""

    def under_way(self, uid: Uid) -> bool: ...
    async def withdraw(self, uid: Uid) -> None: ...


class BindPipeline:
    """Carries out Bind commands while ``may_bind``.

    Args:
        settled: told the outcome of each, and how long decision and Binding took together in seconds.
        undo: takes back what was prepared for a pod that was preempted; before it is tried again.
        taken_back: told of each that was not sent, since binding is not allowed any more, or it was preempted.
        wake: called when a place becomes free or a pod came back.
    """

    def __init__(
        self,
        *,
        scheduler: Scheduler,
        binder: Binder,
        conditions: Withdraw,
        may_bind: Callable[[], bool],
        settled: Callable[[Bind, BindResult, float], None],
        undo: Callable[[Bind], Awaitable[None]],
        taken_back: Callable[[Bind], None],
        wake: Callable[[], None],
        concurrency: int,
    ) -> None:
        self._scheduler = scheduler
        self._binder = binder
        self._conditions = conditions
        self._may_bind = may_bind
        self._settled = settled
        self._undo = undo
        self._taken_back = taken_back
        self._wake = wake
        self._concurrency = concurrency
        self._queue: asyncio.Queue[tuple[Bind, float]] = asyncio.Queue()
        self._full = False
        self._sent = 0
        self._waiting: set[Uid] = set()
        self._unwanted: set[Uid] = set()

    @property
    def full(self) -> bool:
        """From when so many wait until few do."""
        return self._full

    @property
    def busy(self) -> bool:
        """Whether any Binding is under way or waits to be."""
        return self._sent > 0 or not self._queue.empty()

    @property
    def sent(self) -> int:
        """Bindings that were sent and whose outcome is not known yet."""
        return self._sent

    def submit(self, command: Bind, *, took_s: float) -> None:
        self._waiting.add(command.pod.uid)
        self._queue.put_nowait((command, took_s))
        self._full = self._full or self._queue.qsize() >= _AHEAD * self._concurrency

    def take_back(self, uid: Uid) -> bool:
        """Whether the pod's Binding waits still; it is not sent then, and the pod goes back to the queue."""
        if uid in self._waiting:
            self._unwanted.add(uid)
        return uid in self._waiting

    async def run(self) -> None:
        """Until cancelled."""
        async with asyncio.TaskGroup() as group:
            for _ in range(self._concurrency):
                group.create_task(self._work())

    async def drain(self) -> None:
        """Returns once nothing waits and nothing is under way; the caller sets the time limit.

        Commands that have not been sent are given back to the Scheduler where binding is not allowed any more.
        """
        await self._queue.join()

    async def _work(self) -> None:
        while True:
            command, took_s = await self._queue.get()
            if self._full and self._queue.qsize() <= _FEW * self._concurrency:
                self._full = False
                self._wake()
            try:
                await self._carry_out(command, took_s)
            finally:
                self._queue.task_done()

    async def _carry_out(self, command: Bind, took_s: float) -> None:
        pod = command.pod
        if self._conditions.under_way(pod.uid):
            await self._conditions.withdraw(pod.uid)
        unwanted = pod.uid in self._unwanted
        if unwanted:
            await self._undo(command)
        self._waiting.discard(pod.uid)
        self._unwanted.discard(pod.uid)
        if unwanted or not self._may_bind():
            self._scheduler.bind_failed(pod.uid, retry=True, now_s=time.time())
            self._taken_back(command)
            return
        began_s = time.perf_counter()
        self._sent += 1
        try:
            result = await self._binder.bind(pod, node=command.decision.node, annotation=annotation(command.decision))
        finally:
            self._sent -= 1
        self._report(pod.uid, result)
        self._settled(command, result, took_s + time.perf_counter() - began_s)

    def _report(self, uid: Uid, result: BindResult) -> None:
        if result.outcome is BindOutcome.BOUND:
            self._scheduler.bound(uid, now_s=time.time())
        else:
            self._scheduler.bind_failed(uid, retry=result.outcome.retry, now_s=time.time())
            self._wake()
