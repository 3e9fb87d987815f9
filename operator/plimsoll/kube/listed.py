"""What kopf's lists find is taken out of its hands.

For each object of a list kopf makes a queue, a task and a record of what it remembers, and again a task as the object
goes: a third of a millisecond and 23 KB each, when a start or a lost watch finds thousands of pods waiting. The handler
would do no more than pass them on. So they are passed on as the answer is read, in the order in which it tells of
them: the list, and from the watch that follows whatever becomes of what was listed. kopf goes on as if the list had
been empty, and carries all that comes after it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

import aiohttp
import orjson
from aiohttp.connector import Connection as AnswersOn

from plimsoll.kube.connection import Response
from plimsoll.kube.pacing import Pacer
from plimsoll.kube.resources import Resource
from plimsoll.kube.sink import Json, Sink, hand_on

_CHUNK_BYTES = 1024 * 1024


def handed_on(resource: Resource, sink: Sink) -> type[Response]:
    """Answers for a session of kopf's: those about the resource leave out what goes to the sink directly."""
    path, listed = resource.path(), _Listed(resource, sink)

    class HandedOn(Response):
        async def start(self, connection: AnswersOn) -> aiohttp.ClientResponse:
            started = await super().start(connection)
            if self._concerns() and "watch" in self.url.query:
                self.content: Any = _Sifted(self.content, listed)
            return started

        async def json(
            self,
            *,
            encoding: str | None = None,
            loads: Callable[[str], Any] = orjson.loads,
            content_type: str | None = "application/json",
        ) -> Any:
            told = await super().json(encoding=encoding, loads=loads, content_type=content_type)
            if self._concerns() and "items" in told:
                if "continue" not in self.url.query:
                    listed.begins()
                await listed.take(told["items"] or ())
                told["items"] = []
            return told

        def _concerns(self) -> bool:
            return self.ok and self.url.path.endswith(path)

    return HandedOn


class _Listed:
    """Objects by uid, from the last list until they go."""

    def __init__(self, resource: Resource, sink: Sink) -> None:
        self._resource = resource
        self._sink = sink
        self._uids: set[str] = set()
        self._pacer = Pacer()

    def begins(self) -> None:
        """A list: what was known before it and is not in it is gone without a word."""
        self._uids.clear()

    async def take(self, objects: Iterable[Json]) -> None:
        """A page of the list."""
        self._pacer.start()
        for raw in objects:
            self._uids.add(raw["metadata"]["uid"])
            self._hand_on(raw)
            await self._pacer.breathe()

    async def left_of(self, lines: Iterable[bytes]) -> AsyncIterator[bytes]:
        """Lines of the watch that are about others; the rest is passed on."""
        self._pacer.start()
        for line in lines:
            if not self._takes(line):
                yield line
            await self._pacer.breathe()

    def _takes(self, line: bytes) -> bool:
        if not self._uids or not line:
            return False
        event = orjson.loads(line)
        raw, gone = event["object"], event["type"] == "DELETED"
        uid = (raw.get("metadata") or {}).get("uid")
        if uid not in self._uids:
            return False
        if gone:
            self._uids.discard(uid)
        self._hand_on(raw, gone=gone)
        return True

    def _hand_on(self, raw: Json, *, gone: bool = False) -> None:
        hand_on(raw, self._sink, gone=gone, resource=self._resource)


class _Sifted:
    """A watch's answer, as far as kopf reads one, without the lines that are passed on already."""

    def __init__(self, content: aiohttp.StreamReader, listed: _Listed) -> None:
        self._content = content
        self._listed = listed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._content, name)

    async def iter_chunked(self, size: int = _CHUNK_BYTES) -> AsyncIterator[bytes]:
        rest = b""
        async for data in self._content.iter_chunked(size):
            *lines, rest = (rest + data).split(b"\n")
            if kept := [line async for line in self._listed.left_of(lines)]:
                yield b"\n".join((*kept, b""))
        if rest:
            yield rest
