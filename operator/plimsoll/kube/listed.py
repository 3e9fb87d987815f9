"""What kopf's lists find is taken out of its hands.

For each object of a list kopf makes a queue, a task and a record of what it remembers, and again a task as the object
goes: a third of a millisecond and 23 KB each, when a start or a lost watch finds thousands of pods waiting. The
handler would do no more than pass them on. So they are passed on as the answer is read, in the order in which it
tells of them: the list, and from the watch that follows whatever becomes of what was listed. kopf goes on as if
nothing of it had been in the list, and carries whatever is new after it.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterable
from typing import Any

import aiohttp
import orjson
from aiohttp.connector import Connection as AnswersOn

from plimsoll.kube.connection import Response
from plimsoll.kube.pacing import Pacer
from plimsoll.kube.reflector import newer_or_same
from plimsoll.kube.resources import Resource
from plimsoll.kube.sink import Json, Sink, hand_on

# The API server keeps ten events for a watch of one node's name, and of none's, and ends it where more wait, under load
# several times a second: all since what kopf has heard last is then written out anew, by a server that is busy.
_TELL_EVERY_S = 0.1
_BOOKMARK = b'{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"%s"}}}'


def handed_on(resource: Resource, sink: Sink) -> type[Response]:
    """Answers for sessions of kopf's: those about the resource leave out what goes to the sink directly."""
    path, listed = resource.path(), _Listed(resource, sink)

    class HandedOn(Response):
        async def start(self, connection: AnswersOn) -> aiohttp.ClientResponse:
            started = await super().start(connection)
            if self._concerns() and "watch" in self.url.query:
                self.content: Any = _Sifted(self.content, listed)
            return started

        async def heard(self, told: Any) -> Any:
            if self._concerns() and "items" in told:
                if "continue" not in self.url.query:
                    listed.begins()
                told["items"] = await listed.left_of_page(told["items"] or ())
                if not (told.get("metadata") or {}).get("continue"):
                    listed.ends()
            return told

        def _concerns(self) -> bool:
            return self.ok and self.url.path.endswith(path)

    return HandedOn


class _Listed:
    """Objects by uid: whoever told of one first, a list or the watch, tells its whole story."""

    def __init__(self, resource: Resource, sink: Sink) -> None:
        self._resource = resource
        self._sink = sink
        self._ours: set[str] = set()
        # Of these, with the versions of their going: until kopf has heard that the watch has come so far it may all be
        # told again.
        self._went: dict[str, str] = {}
        self._kopfs: set[str] = set()
        self._kopfs_before: set[str] = set()
        self._told_s = 0.0
        self._pacer = Pacer()

    def begins(self) -> None:
        """A list: what was known before it and is not in it is gone without a word."""
        self._ours.clear()
        self._went.clear()
        self._kopfs_before |= self._kopfs
        self._kopfs = set()

    async def left_of_page(self, objects: Iterable[Json]) -> list[Json]:
        """What of a page of the list kopf carries already; the rest is passed on."""
        self._pacer.start()
        left = []
        for raw in objects:
            uid = raw["metadata"].get("uid", "")
            if uid in self._kopfs_before:
                self._kopfs.add(uid)
                left.append(raw)
            else:
                self._ours.add(uid)
                self._hand_on(raw)
            await self._pacer.breathe()
        return left

    def ends(self) -> None:
        """The list is complete."""
        self._kopfs_before = set()

    async def left_of(self, lines: Iterable[bytes]) -> AsyncIterator[bytes]:
        """Lines of the watch that are about others; the rest is passed on.

        kopf is told how far that came: from there it watches on where the connection is lost, and it would take a
        stream that brings it nothing for dead.
        """
        self._pacer.start()
        version = ""
        for line in lines:
            version = self._taken(line)
            if not version:
                yield line
            await self._pacer.breathe()
        now_s = time.monotonic()
        if version and now_s - self._told_s >= _TELL_EVERY_S:
            self._told_s = now_s
            self._went = {uid: went for uid, went in self._went.items() if not newer_or_same(version, went)}
            yield _BOOKMARK % version.encode()

    def _taken(self, line: bytes) -> str:
        """The version of what was passed on; "" for a line that is kopf's."""
        if not line:
            return ""
        event = orjson.loads(line)
        raw, gone = event["object"], event["type"] == "DELETED"
        metadata = raw.get("metadata") or {}
        uid, version = metadata.get("uid", ""), str(metadata.get("resourceVersion", ""))
        if (went := self._went.get(uid)) and newer_or_same(went, version):
            return version
        if uid in self._ours:
            if gone:
                self._ours.discard(uid)
                self._went[uid] = version
            self._hand_on(raw, gone=gone)
            return version
        if uid:
            (self._kopfs.discard if gone else self._kopfs.add)(uid)
        return ""

    def _hand_on(self, raw: Json, *, gone: bool = False) -> None:
        hand_on(raw, self._sink, gone=gone, resource=self._resource)


class _Sifted:
    """A watch's answer, as far as kopf reads one, without the lines that are passed on already."""

    def __init__(self, content: aiohttp.StreamReader, listed: _Listed) -> None:
        self._content = content
        self._listed = listed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._content, name)

    async def iter_chunked(self, size: int) -> AsyncIterator[bytes]:
        rest = b""
        async for data in self._content.iter_chunked(size):
            *lines, rest = (rest + data).split(b"\n")
            if kept := [line async for line in self._listed.left_of(lines)]:
                yield b"\n".join((*kept, b""))
        if rest:
            yield b"".join([line async for line in self._listed.left_of((rest,))])
