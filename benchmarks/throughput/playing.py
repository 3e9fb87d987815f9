"""From the start of a scheduler to the last Event: what is waited for, and what is noted when."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass, field

from benchmarks.throughput.admin import Admin
from benchmarks.throughput.case import Case
from benchmarks.throughput.contenders import Contender
from benchmarks.throughput.creating import create_all, create_timed
from benchmarks.throughput.observing import Observer
from benchmarks.throughput.scheduler import Scheduler
from benchmarks.throughput.spending import BOUND, END, FIRST, SCHEDULER, START, Spending
from benchmarks.throughput.workload import Thing
from benchmarks.throughput.workloads import WORKLOADS

# A scheduler that has just bound the warm-up pods still writes of them.
_BREATHE_S = 2.0
# Events that come later than this after the last bind are not waited for.
_EVENTS_S = 180.0


@dataclass(slots=True)
class Playing:
    """One contender at work. ``unfinished`` says why it did not come to its end."""

    case: Case
    contender: Contender
    admin: Admin
    observer: Observer
    scheduler: Scheduler
    spending: Spending
    warm: list[Thing]
    pods: list[Thing]
    sent_s: dict[str, float] = field(default_factory=dict)
    unfinished: str = ""
    ended_s: float = 0.0

    async def play(self) -> None:
        over = asyncio.Event()
        work = asyncio.create_task(self._work(over))
        died = asyncio.create_task(self.scheduler.ended())
        try:
            await asyncio.wait([work, died], return_when=asyncio.FIRST_COMPLETED)
            if died.done():
                self.unfinished = died.result()
        finally:
            self.ended_s = time.monotonic()
            over.set()
            died.cancel()
            if not work.done():
                work.cancel()
                await asyncio.wait([work])
        if not work.cancelled():
            work.result()
        self.spending.mark(END)

    async def _work(self, over: asyncio.Event) -> None:
        try:
            async with asyncio.timeout(self.case.limit_s):
                await self._warm_up()
                self.spending.mark(START, born="" if self.case.mode.warm else SCHEDULER)
                async with asyncio.TaskGroup() as beside:
                    beside.create_task(self._create())
                    await self.observer.word("first")
                    self.spending.mark(FIRST)
                    beside.create_task(self._meanwhile(over))
                    await self._bound()
                    over.set()
        except TimeoutError:
            self.unfinished = f"not all pods were bound within {self.case.limit_s:g} s"
            return
        if self.contender.events and not self.case.seconds:
            await self._settled()

    async def _warm_up(self) -> None:
        if self.case.mode.warm:
            await self.scheduler.ready()
            await create_all(self.admin, self.warm)
            await self.observer.word("warm")
            await asyncio.sleep(_BREATHE_S)

    async def _create(self) -> None:
        if self.case.mode.warm:
            await create_timed(self.admin, self.pods, sent_s=self.sent_s, rate=self.case.rate)

    async def _meanwhile(self, over: asyncio.Event) -> None:
        workload = WORKLOADS[self.case.workload]
        if workload.meanwhile is not None:
            await workload.meanwhile(self.admin, self.contender.scheduler, self.case.nodes, over)

    async def _bound(self) -> None:
        """All of them, or as many as there are when the time is over that counts."""
        counted_s = self.case.seconds or None
        with contextlib.suppress(TimeoutError) if counted_s else contextlib.nullcontext():
            async with asyncio.timeout(counted_s):
                await self.observer.word("bound")
        self.spending.mark(BOUND)

    async def _settled(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_EVENTS_S):
                await self.observer.word("settled")
