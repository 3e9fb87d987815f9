"""The contender as a process: started, asked, ended."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

import aiohttp

from benchmarks.throughput.launching import Launch
from benchmarks.throughput.place import Place
from benchmarks.throughput.processes import child
from benchmarks.throughput.usage import Usage, usage

NAME = "scheduler"
_ASK_EVERY_S = 0.25
# Characters of a log's last line.
_SAID = 300


class Scheduler:
    """One contender that runs.

    Attributes:
        started_s: by ``time.monotonic``, just before the process was made.
    """

    def __init__(self, child: asyncio.subprocess.Process, launch: Launch, place: Place, started_s: float) -> None:
        self._child, self._launch, self._place = child, launch, place
        self.started_s = started_s

    def usage(self) -> Usage:
        return usage(self._child.pid)

    async def ended(self) -> str:
        """Waits for its end, which nobody has asked for; what to say then."""
        code = await self._child.wait()
        *_, last = ("", *self._place.log(NAME).read_text(errors="replace").splitlines())
        return f"it ended with {code}: {last[:_SAID]}"

    async def ready(self) -> None:
        while not (await self._get(self._launch.ready))[0]:  # noqa: ASYNC110 - another process cannot set an Event
            await asyncio.sleep(_ASK_EVERY_S)

    async def metrics(self) -> str:
        """Empty where it has none, or does not answer any more."""
        return (await self._get(self._launch.metrics))[1] if self._launch.metrics else ""

    async def _get(self, url: str) -> tuple[bool, str]:
        connector = aiohttp.TCPConnector(ssl=self._place.tls())
        with contextlib.suppress(aiohttp.ClientError, TimeoutError):
            async with aiohttp.ClientSession(connector=connector) as session, session.get(url) as answer:
                return answer.ok, await answer.text()
        return False, ""


@contextlib.asynccontextmanager
async def running(place: Place, launch: Launch) -> AsyncIterator[Scheduler]:
    """The process ends with the block."""
    started_s = time.monotonic()
    async with child(place, NAME, launch.command) as process:
        yield Scheduler(process, launch, place, started_s)
