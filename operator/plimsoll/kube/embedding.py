"""kopf inside our own process: started, watched over, and started again where it gives up."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

import kopf

from plimsoll.kube.backoff import Backoff

log = logging.getLogger(__name__)

_ENOUGH_S = 60.0
_KOPF_FOLDER = str(Path(kopf.__file__).parent)
# For each step of a stop; in good order all of it takes milliseconds.
_STOP_S = 1.0


class EmbeddedKopf:
    """Runs kopf's tasks until cancelled.

    kopf ends as a whole where a list or a watch fails in a way that it does not know (an expired page token,
    a CRD that went away); what it would have told is repaired by the sweeps, so it is simply started anew.
    ``kopf.operator()`` is not used: as it stops, it waits for and cancels tasks that are not its own.

    Args:
        started: called after each start; kopf has taken over the signals by then, to be taken back.
        ready: awaited before each start; kopf looks once for the resources that it serves.
    """

    def __init__(
        self,
        registry: kopf.OperatorRegistry,
        settings: kopf.OperatorSettings,
        *,
        started: Callable[[], None],
        ready: Callable[[], Awaitable[None]],
        backoff: Backoff | None = None,
    ) -> None:
        self._registry = registry
        self._settings = settings
        self._started = started
        self._ready = ready
        self._backoff = backoff or Backoff(initial_s=1.0, cap_s=10.0)
        self.running = False
        self.restarts = 0

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._ready()
            began_s = loop.time()
            problem = await self._run_once()
            if loop.time() - began_s > _ENOUGH_S:
                self._backoff.reset()
            self.restarts += 1
            delay_s = self._backoff.next_s()
            log.warning("kopf gave up and is started again in %.1f s: %s", delay_s, problem)
            await asyncio.sleep(delay_s)

    async def _run_once(self) -> str:
        tasks = await kopf.spawn_tasks(
            registry=self._registry,
            settings=self._settings,
            memo=kopf.Memo(),
            clusterwide=True,
            standalone=True,
            # For peering, which is not used. Left to itself kopf asks for the name of the user, and in a
            # container the user has a number only.
            identity="plimsoll",  # type: ignore[arg-type]
        )
        self._started()
        self.running = True
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            return _problem(done)
        finally:
            self.running = False
            await _stop(set(tasks))


async def _stop(roots: set[asyncio.Task[None]]) -> None:
    """Kopf's own order first; where it failed it leaves the other watchers behind, and in them their helpers.

    The helpers come last: a watcher whose helper is cancelled takes that for a sign of its own.
    """
    await _cancel(roots)
    await _cancel({task for task in _left_behind() if task.get_name().startswith("watcher for ")})
    hung = await _cancel(_left_behind())
    if hung:
        log.warning("kopf did not stop in time", extra={"tasks": sorted(task.get_name() for task in hung)})
    _problem({task for task in roots if task.done()})


async def _cancel(tasks: set[asyncio.Task[None]]) -> set[asyncio.Task[None]]:
    """Those that are not through in time."""
    if not tasks:
        return set()
    for task in tasks:
        task.cancel()
    _, hung = await asyncio.wait(tasks, timeout=_STOP_S)
    return hung


def _left_behind() -> set[asyncio.Task[None]]:
    return {task for task in asyncio.all_tasks() if _is_of_kopf(task)}


def _is_of_kopf(task: asyncio.Task[None]) -> bool:
    code = getattr(task.get_coro(), "cr_code", None)
    return code is not None and code.co_filename.startswith(_KOPF_FOLDER)


def _problem(done: set[asyncio.Task[None]]) -> str:
    """What ended the first of them; also marks the exceptions as seen."""
    errors = [task.exception() for task in done if not task.cancelled()]
    return next((f"{type(error).__name__}: {error}" for error in errors if error), "no reason given")
