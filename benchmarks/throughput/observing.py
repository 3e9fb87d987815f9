"""The observer from the harness' side: it waits for words, and asks nothing."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import orjson

from benchmarks.throughput.place import Place
from benchmarks.throughput.processes import child
from benchmarks.throughput.stamps import Stamps

_NAME = "observer"
_READY_S = 30.0
_END_S = 30.0


class Observer:
    """Words as they come; its stamps once it has ended."""

    def __init__(self, child: asyncio.subprocess.Process, *, out: Path, log: Path) -> None:
        self._child, self._out, self._log = child, out, log
        self._events: dict[str, asyncio.Event] = {}
        self._reading = asyncio.create_task(self._read())

    async def word(self, word: str) -> None:
        """When it was said.

        Raises:
            RuntimeError: the observer ended before.
        """
        said = asyncio.create_task(self._said(word).wait())
        try:
            await asyncio.wait([said, self._reading], return_when=asyncio.FIRST_COMPLETED)
            if not said.done():
                raise RuntimeError(f"the observer ended before it said {word!r}; see {self._log}")
        finally:
            said.cancel()

    async def end(self) -> Stamps:
        assert self._child.stdin is not None
        self._child.stdin.close()
        await asyncio.wait_for(self._child.wait(), _END_S)
        await self._reading
        return Stamps(**orjson.loads(self._out.read_bytes()))

    async def _read(self) -> None:
        assert self._child.stdout is not None
        async for line in self._child.stdout:
            self._said(line.decode().strip()).set()

    def _said(self, word: str) -> asyncio.Event:
        return self._events.setdefault(word, asyncio.Event())


def tls_flags(place: Place) -> tuple[str, ...]:
    """How processes of the harness reach the API server."""
    pki = place.pki
    files = {"--ca": pki.ca, "--cert": pki.certificate("admin"), "--key": pki.key("admin")}
    return (f"--server={place.server}", *(f"{flag}={path}" for flag, path in files.items()))


def write_names(path: Path, *, warm: Iterable[str], measured: Iterable[str], expected: int) -> None:
    names = {"warm": list(warm), "measured": list(measured), "expected": expected}
    path.write_bytes(orjson.dumps(names))


@contextlib.asynccontextmanager
async def observing(place: Place, names: Path) -> AsyncIterator[Observer]:
    """An observer that watches already."""
    out = place.folder / "stamps.json"
    command = (sys.executable, "-m", "benchmarks.throughput.observer", f"--names={names}", f"--out={out}")
    pipe = asyncio.subprocess.PIPE
    async with child(place, _NAME, (*command, *tls_flags(place)), stdin=pipe, stdout=pipe) as process:
        observer = Observer(process, out=out, log=place.log(_NAME))
        await asyncio.wait_for(observer.word("ready"), _READY_S)
        yield observer
