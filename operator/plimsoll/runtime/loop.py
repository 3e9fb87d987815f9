"""The loop around the Scheduler: asks for commands, hands them on, and lets everything else run in between."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Protocol

from plimsoll.scheduling.decision import Bind, Command, Decision, Preempt, Refuse, Skip
from plimsoll.scheduling.scheduler import Scheduler

# Short against a request's round trip, which is what Bindings and watches wait for meanwhile.
_HOLD_S = 0.005
# How long it sleeps at most; also how often it shows that it is alive.
_NAP_S = 5.0


class Binds(Protocol):
    """Who carries Binds out."""

    @property
    def full(self) -> bool:
        """Too many are under way: nothing more is decided until some are done."""

    def submit(self, command: Bind, *, took_s: float) -> None: ...


class Reports(Protocol):
    """Who tells of decisions, and carries refusals out."""

    def decided(self, decision: Decision, *, took_s: float, cpu_s: float) -> None: ...
    def refused(self, command: Refuse | Preempt, *, took_s: float) -> None: ...
    def skipped(self, command: Skip) -> None: ...


class Evictions(Protocol):
    """Who makes pods give way."""

    def preempt(self, command: Preempt) -> None: ...


class DecisionLoop:
    """Decides while ``may_decide``.

    Attributes:
        beat_s: when it last showed that it is alive, by the monotonic clock.
    """

    def __init__(
        self,
        *,
        scheduler: Scheduler,
        binds: Binds,
        evictions: Evictions,
        reports: Reports,
        may_decide: Callable[[], bool],
    ) -> None:
        self.beat_s = time.monotonic()
        self._scheduler = scheduler
        self._binds = binds
        self._evictions = evictions
        self._reports = reports
        self._may_decide = may_decide
        self._woken = False
        self._napping: asyncio.Future[None] | None = None

    def wake(self) -> None:
        """Something changed that may let it decide."""
        self._woken = True
        if self._napping is not None:
            _end(self._napping)

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            self._woken = False
            self.beat_s = time.monotonic()
            if await self._decide_for_a_while():
                await asyncio.sleep(0)
            else:
                await self._nap()

    async def _decide_for_a_while(self) -> bool:
        """True where there may be more to do."""
        until_s = time.perf_counter() + _HOLD_S
        while self._may_decide() and not self._binds.full:
            began_s = time.perf_counter()
            if began_s >= until_s:
                return True
            began_cpu_s = time.thread_time()
            command = self._scheduler.next_command(now_s=time.time())
            if command is None:
                return False
            cpu_s = time.thread_time() - began_cpu_s
            self._hand_on(command, took_s=time.perf_counter() - began_s, cpu_s=cpu_s)
        return False

    def _hand_on(self, command: Command, *, took_s: float, cpu_s: float) -> None:
        if isinstance(command, Skip):
            self._reports.skipped(command)
            return
        self._reports.decided(command.decision, took_s=took_s, cpu_s=cpu_s)
        match command:
            case Bind():
                self._binds.submit(command, took_s=took_s)
            case Refuse():
                self._reports.refused(command, took_s=took_s)
            case Preempt():
                self._reports.refused(command, took_s=took_s)
                self._evictions.preempt(command)

    async def _nap(self) -> None:
        nap_s = _NAP_S
        if self._may_decide() and not self._binds.full and (due_s := self._scheduler.wake_at_s()) is not None:
            nap_s = min(max(due_s - time.time(), 0.0), _NAP_S)
        if self._woken:
            return
        loop = asyncio.get_running_loop()
        self._napping = loop.create_future()
        timer = loop.call_later(nap_s, _end, self._napping)
        try:
            await self._napping
        finally:
            timer.cancel()
            self._napping = None


def _end(nap: asyncio.Future[None]) -> None:
    if not nap.done():
        nap.set_result(None)
