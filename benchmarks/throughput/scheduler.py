"""The contender as a process: started, asked, ended."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import AsyncIterator

import aiohttp

from benchmarks.throughput.launching import Launch
from benchmarks.throughput.place import Place
from benchmarks.throughput.processes import child
from benchmarks.throughput.usage import Usage, usage

NAME = "scheduler"
_ASK_EVERY_S = 0.25
# kube-scheduler answers 403 until it has read whom to trust, by when it may have bound a few pods already.
_METRICS_S = 15.0
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
        self._why = "no answer"

    def usage(self) -> Usage:
        return usage(self._child.pid)

    async def ended(self) -> str:
        """Waits for its end, which nobody has asked for; what to say then."""
        code = await self._child.wait()
        *_, last = ("", *self._place.log(NAME).read_text(errors="replace").splitlines())
        return f"it ended with {code}: {last[:_SAID]}"

    async def ready(self) -> None:
        await self._answer(self._launch.ready)

    async def metrics(self, *, within_s: float = _METRICS_S) -> str:
        """Empty where it has none, has ended, or refuses: figures of them are missing then, and stderr says why."""
        if not self._launch.metrics or self._child.returncode is not None:
            return ""
        try:
            async with asyncio.timeout(within_s):
                return await self._answer(self._launch.metrics)
        except TimeoutError:
            print(f"warning: {self._launch.metrics} did not answer within {within_s:g} s: {self._why}", file=sys.stderr)
            return ""

    async def _answer(self, url: str) -> str:
        """The first that is not a refusal."""
        while (text := await self._get(url)) is None:  # noqa: ASYNC110 - another process cannot set an Event
            await asyncio.sleep(_ASK_EVERY_S)
        return text

    async def _get(self, url: str) -> str | None:
        connector = aiohttp.TCPConnector(ssl=self._place.tls())
        try:
            async with aiohttp.ClientSession(connector=connector) as session, session.get(url) as answer:
                if answer.ok:
                    return await answer.text()
                self._why = f"{answer.status} {answer.reason}"
        except (aiohttp.ClientError, TimeoutError) as error:
            self._why = f"{type(error).__name__}: {error}"
        return None


@contextlib.asynccontextmanager
async def running(place: Place, launch: Launch) -> AsyncIterator[Scheduler]:
    """The process ends with the block."""
    started_s = time.monotonic()
    async with child(place, NAME, launch.command) as process:
        yield Scheduler(process, launch, place, started_s)
