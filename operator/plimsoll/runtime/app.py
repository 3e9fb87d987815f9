"""Start and stop.

Start: the Lease is tried for before the first LISTs, so that these count for whoever gets it at once. Then the
mirrors, the policies and their first readings, the pending pods, and only then decisions.
Stop: no more decisions; what was sent, Bindings and what goes before them, is waited for; then the Lease is let go,
and Events have what is left of the time. What is not written by then is counted and told.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from collections.abc import Callable

from plimsoll.kube import permissions, preflight
from plimsoll.kube.config import find_access
from plimsoll.kube.connection import Connection
from plimsoll.runtime.deadline import Deadline
from plimsoll.runtime.memory import settle_memory
from plimsoll.runtime.parts import Parts
from plimsoll.runtime.server import Views, serving
from plimsoll.runtime.settings import Settings
from plimsoll.runtime.tasks import Tasks

log = logging.getLogger(__name__)

# A stop is through within 5 s: all steps together, and each for itself, so that the Lease is always let go.
_STOP_S = 4.5
_DRAIN_S, _RELEASE_S, _END_S = 2.0, 0.7, 1.5
# The decision loop shows itself every 5 s: one that has not for a minute hangs.
_ALIVE_WITHIN_S = 60.0
# A watch that is taken up again at once is no reason to be unready.
_BROKEN_FOR_S = 10.0


async def run(settings: Settings) -> None:
    """Until SIGTERM or SIGINT.

    Raises:
        SettingsError: one line that says what keeps it from starting, and what to do.
    """
    stop = asyncio.Event()
    take_signals = _signal_taker(stop)
    take_signals()
    access = find_access(kubeconfig=settings.kubeconfig, context=settings.context)
    connection = await asyncio.to_thread(Connection, access)
    parts = Parts(settings, connection, kopf_started=take_signals)
    operator = Operator(settings, parts)
    try:
        async with serving(settings.metrics_address, operator.views()) as address:
            log.info("serving probes and metrics", extra={"address": str(address)})
            await _until_stopped(operator, stop)
    finally:
        await parts.client.close()
    if operator.tasks.failure:
        raise operator.tasks.failure


async def _until_stopped(operator: Operator, stop: asyncio.Event) -> None:
    starting = asyncio.create_task(operator.start(), name="start")
    ends = {
        asyncio.create_task(stop.wait(), name="stop"),
        asyncio.create_task(operator.tasks.wait_failed(), name="failure"),
    }
    try:
        await asyncio.wait({starting, *ends}, return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            starting.result()
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (starting, *ends):
            task.cancel()
        await asyncio.gather(starting, *ends, return_exceptions=True)
        await operator.stop()


class Operator:
    """The parts, started and stopped in order."""

    def __init__(self, settings: Settings, parts: Parts) -> None:
        self.tasks = Tasks()
        self._settings = settings
        self._parts = parts
        self._ready = False
        self._missing = "start: the API server is being asked for what is needed"

    def views(self) -> Views:
        return Views(
            ailing=self._ailing,
            unready=self._unready,
            decisions=self._parts.decisions,
            metrics=self._parts.metrics,
        )

    async def start(self) -> None:
        """Returns once decisions can be made.

        Raises:
            SettingsError: one line that says what is missing, and what to do.
        """
        parts = self._parts
        await preflight.check(parts.client, needed=self._permissions(), patience_s=self._settings.startup_timeout_s)
        turns = await self._try_for_lease()
        await self._mirror()
        await self._read_policies()
        self._missing = "start: pending pods have not been listed"
        await parts.pod_sweep.sweep_until_done()
        settle_memory()
        if parts.leadership.turns == turns:
            parts.leadership.caches_are_current()
        self._decide()
        self._ready = True
        log.info("started", extra={"leading": parts.leadership.leading, "scheduler": self._settings.scheduler_name})

    async def stop(self) -> None:
        """Returns within 5 s, whatever the API server does."""
        parts, deadline = self._parts, Deadline(_STOP_S)
        parts.leadership.resign()
        ending = asyncio.create_task(self.tasks.stop("decisions", "kopf", "sweep of pods", "sweep of policies"))
        await deadline.step(_DRAIN_S, self._drain())
        # Before the Events: the next holder need not wait for what is said about pods that are placed.
        await deadline.step(_RELEASE_S, self._release_lease())
        parts.events.hurry()
        await deadline.step(deadline.left_s - _END_S, parts.events.flush())
        await deadline.step(_END_S, self._end_all(ending))
        log.info("stopped", extra={"seconds": round(deadline.spent_s, 2)})

    def _permissions(self) -> tuple[permissions.Permission, ...]:
        settings = self._settings
        if not settings.leader_elect:
            return permissions.ALWAYS
        return permissions.ALWAYS + permissions.lease_permissions(namespace=settings.namespace, name=settings.lease)

    async def _try_for_lease(self) -> int:
        """How many turns leadership has taken: only if there are no more are the first LISTs new enough."""
        parts = self._parts
        if parts.elector is None:
            return parts.leadership.turns
        await parts.elector.attempt()
        self.tasks.start("lease", parts.elector.run())
        return parts.leadership.turns if parts.leadership.leading else -1

    async def _mirror(self) -> None:
        parts = self._parts
        for reflector in parts.reflectors:
            self.tasks.start(f"reflector of {reflector.name}", reflector.run())
        self.tasks.start("events", parts.events.run())
        self.tasks.start("conditions", parts.conditions.run())
        self.tasks.start("stalls", parts.watch_stalls())
        self.tasks.start("holds", parts.watch_holds(ready=lambda: self._ready))
        for reflector in parts.reflectors:
            self._missing = f"start: {reflector.name} have not been listed"
            await reflector.wait_synced()

    async def _read_policies(self) -> None:
        parts = self._parts
        self._missing = "start: policies have not been listed"
        await parts.policy_sweep.sweep_until_done()
        parts.refresher.start(failed=self.tasks.fail)
        self.tasks.start("kopf", parts.kopf.run())
        self._missing = "start: metrics sources have not answered"
        await parts.refresher.wait_first_answers()

    def _decide(self) -> None:
        parts = self._parts
        self.tasks.start("binds", parts.binds.run())
        self.tasks.start("preparations", parts.preparations.run())
        self.tasks.start("evictions", parts.evictions.run())
        self.tasks.start("decisions", parts.loop.run())
        self.tasks.start("sweep of pods", parts.pod_sweep.run())
        self.tasks.start("sweep of policies", parts.policy_sweep.run())
        mirrors, sweeps = parts.reflectors, (parts.policy_sweep, parts.pod_sweep)
        self.tasks.start("leadership", parts.leadership.run(mirrors=mirrors, sweeps=sweeps))

    async def _drain(self) -> None:
        """What is prepared goes on to the Bindings."""
        await self._parts.preparations.drain()
        await self._parts.binds.drain()

    async def _release_lease(self) -> None:
        """Not where a Binding, or what is written before it, may still arrive: the next holder must not decide yet."""
        parts = self._parts
        await self.tasks.stop("lease", "conditions", "evictions", "preparations")
        if parts.elector and not parts.binds.sent and not parts.preparations.under_way:
            await parts.elector.release()

    async def _end_all(self, ending: asyncio.Task[None]) -> None:
        await asyncio.gather(ending, self.tasks.stop(), self._parts.refresher.stop(), self._parts.sources.close())

    def _ailing(self) -> list[str]:
        silent_s = time.monotonic() - self._parts.loop.beat_s
        return (
            [f"decisions: the loop has been silent for {silent_s:.0f} s"]
            if self._ready and silent_s > _ALIVE_WITHIN_S
            else []
        )

    def _unready(self) -> list[str]:
        if not self._ready:
            return [self._missing]
        return [
            f"caches: {reflector.name} have been without list and watch for {broken_s:.0f} s"
            for reflector in self._parts.reflectors
            if (broken_s := reflector.broken_for_s()) > _BROKEN_FOR_S
        ]


def _signal_taker(stop: asyncio.Event) -> Callable[[], None]:
    loop = asyncio.get_running_loop()

    def take() -> None:
        for signal_number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(signal_number, stop.set)

    return take
