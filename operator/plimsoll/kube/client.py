"""Requests to the API server: raw JSON over one aiohttp session, answers mapped to the errors of Plimsoll."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Mapping
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.parse import urlencode

import aiohttp
import orjson
from yarl import URL

from plimsoll.errors import Unavailable
from plimsoll.kube.connection import Connection
from plimsoll.kube.lane import Reply
from plimsoll.kube.refusals import error_from, error_of
from plimsoll.kube.resources import resource_of

Json = dict[str, Any]

MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"

_TIMEOUT_S = 30.0
# A page of nodes (10 KB each) stays at 5 MB, which parse in 20 ms.
_PAGE = 500
# Bookmarks come each minute: a stream that is silent for longer is dead, whatever TCP believes.
# A bookmark comes about once a minute; one that is late is no reason to give a watch up.
_SILENCE_S = 100.0


class Page(NamedTuple):
    """A part of a list.

    Attributes:
        resource_version: of the list as a whole, the same on all its pages.
    """

    items: list[Json]
    resource_version: str


class WatchEvent(NamedTuple):
    """``type`` is ADDED, MODIFIED, DELETED or BOOKMARK."""

    type: str
    object: Json


# Called after each request with verb, resource (``pods/binding``), status code (0: no answer) and duration in
# seconds (None for watches, which last as long as they last).
RequestObserver = Callable[[str, str, int, float | None], None]


class ApiClient:
    """What all of Plimsoll's own requests go through.

    Every method raises an ApiError that fits the answer; no answer in time is Unavailable.
    """

    def __init__(self, connection: Connection, *, observe: RequestObserver = lambda *_: None) -> None:
        self.connection = connection
        self._server = connection.server
        self._session = connection.session()
        self._lane = connection.lane()
        self._observe = observe

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        if self._lane:
            self._lane.close()
        await self._session.close()

    async def get(self, path: str, *, params: Mapping[str, str] | None = None, timeout_s: float = _TIMEOUT_S) -> Json:
        query = f"?{urlencode(params)}" if params else ""
        return self._parsed("get", path, await self._call("get", path, query=query, timeout_s=timeout_s))

    async def post(self, path: str, body: Json, *, timeout_s: float = _TIMEOUT_S) -> Json:
        return self._parsed("post", path, await self._write("post", path, body, timeout_s=timeout_s))

    async def tell(self, path: str, body: Json, *, timeout_s: float = _TIMEOUT_S) -> None:
        """A POST whose answer says nothing but that it was carried out."""
        await self._write("post", path, body, timeout_s=timeout_s)

    async def put(self, path: str, body: Json, *, timeout_s: float = _TIMEOUT_S) -> Json:
        return self._parsed("put", path, await self._write("put", path, body, timeout_s=timeout_s))

    async def patch(
        self, path: str, body: Json, *, content_type: str = MERGE_PATCH, timeout_s: float = _TIMEOUT_S
    ) -> Json:
        raw = await self._write("patch", path, body, content_type=content_type, timeout_s=timeout_s)
        return self._parsed("patch", path, raw)

    async def delete(self, path: str, body: Json, *, timeout_s: float = _TIMEOUT_S) -> Json:
        """``body`` is a ``DeleteOptions``."""
        return self._parsed("delete", path, await self._write("delete", path, body, timeout_s=timeout_s))

    async def pages(
        self, path: str, *, params: Mapping[str, str] | None = None, limit: int = _PAGE
    ) -> AsyncGenerator[Page]:
        """A list, page by page; ``limit`` 0 asks for everything at once.

        Raises:
            Gone: the list expired between two pages; the pages so far do not count.
        """
        query = dict(params or {}) | ({"limit": str(limit)} if limit else {})
        while True:
            answer = await self.get(path, params=query)
            metadata = answer.get("metadata") or {}
            yield Page(answer.get("items") or [], metadata.get("resourceVersion", ""))
            if not (token := metadata.get("continue")):
                return
            query["continue"] = token

    async def version_of(self, path: str, *, params: Mapping[str, str] | None = None) -> str:
        """The collection's current version, read from a list of one."""
        answer = await self.get(path, params=dict(params or {}) | {"limit": "1"})
        return str((answer.get("metadata") or {}).get("resourceVersion", ""))

    async def watch(
        self,
        path: str,
        *,
        since: str,
        params: Mapping[str, str] | None = None,
        lasts_s: int,
        silence_s: float = _SILENCE_S,
        opened: Callable[[], None] = lambda: None,
    ) -> AsyncGenerator[WatchEvent]:
        """Events after the version ``since``, until the server ends the stream after ``lasts_s`` or earlier.

        ``opened`` is called once the server has accepted the watch; in a quiet cluster the first event is far off.

        Raises:
            Gone: the version has expired.
            Unavailable: no connection, the stream broke, or it was silent for ``silence_s``.
        """
        query = dict(params or {}) | {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": since,
            "timeoutSeconds": str(lasts_s),
        }
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=5.0, sock_read=silence_s)
        try:
            url = URL(f"{self._server}{path}?{urlencode(query)}", encoded=True)
            async with self._session.get(url, timeout=timeout, allow_redirects=False) as response:
                self._observe("watch", resource_of(path), response.status, None)
                if response.status >= 300:
                    retry_after = response.headers.get("Retry-After", "")
                    raise error_from(f"GET {path}", Reply(response.status, await response.read(), retry_after))
                opened()
                async for line in _lines(response.content):
                    yield _event(orjson.loads(line))
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            self._observe("watch", resource_of(path), 0, None)
            raise Unavailable(f"watch of {path} broke: {_why(error)}", status=0) from error

    async def _write(
        self, verb: str, path: str, body: Json, *, timeout_s: float, content_type: str = "application/json"
    ) -> bytes:
        return await self._call(verb, path, timeout_s=timeout_s, body=orjson.dumps(body), content_type=content_type)

    async def _call(
        self,
        verb: str,
        path: str,
        *,
        timeout_s: float,
        query: str = "",
        body: bytes | None = None,
        content_type: str = "",
    ) -> bytes:
        began_s, code = time.perf_counter(), 0
        try:
            if body is None or self._lane is None:
                reply = await self._ask(verb, path + query, body, content_type=content_type, timeout_s=timeout_s)
            else:
                reply = await self._send(verb, path, body, content_type=content_type, timeout_s=timeout_s)
            code = reply.status
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            raise Unavailable(f"{verb} {self._server}{path}: {_why(error)}", status=0) from error
        finally:
            self._observe(verb, resource_of(path), code, time.perf_counter() - began_s)
        if code >= 300:
            raise error_from(f"{verb.upper()} {path}", reply)
        return reply.body

    async def _ask(self, verb: str, path: str, body: bytes | None, *, content_type: str, timeout_s: float) -> Reply:
        """By the general client, which knows proxies, and reads long answers without copying them about."""
        async with self._session.request(
            verb.upper(),
            URL(self._server + path, encoded=True),
            data=body,
            headers={"Content-Type": content_type} if content_type else None,
            timeout=aiohttp.ClientTimeout(total=timeout_s, sock_connect=5.0),
            # A redirect would be followed with our credentials; the API server sends none.
            allow_redirects=False,
        ) as response:
            return Reply(response.status, await response.read(), response.headers.get("Retry-After", ""))

    async def _send(self, verb: str, path: str, body: bytes, *, content_type: str, timeout_s: float) -> Reply:
        assert self._lane is not None
        used = self.connection.credentials()
        method = verb.upper()
        reply = await self._lane.send(
            method, path, body, content_type=content_type, credentials=used, timeout_s=timeout_s
        )
        if reply.status != 401 or not await self.connection.refused(used):
            return reply
        fresh = self.connection.credentials()
        return await self._lane.send(
            method, path, body, content_type=content_type, credentials=fresh, timeout_s=timeout_s
        )

    def _parsed(self, verb: str, path: str, raw: bytes) -> Json:
        try:
            answer: Json = orjson.loads(raw)
        except ValueError as error:
            raise Unavailable(f"{verb} {self._server}{path}: the answer is not JSON", status=0) from error
        return answer


async def _lines(stream: aiohttp.StreamReader) -> AsyncGenerator[bytes]:
    """Lines of any length; aiohttp's own reader gives up at 128 KB, an object may have 1.5 MB."""
    parts: list[bytes] = []
    while data := await stream.readany():
        *whole, rest = data.split(b"\n")
        for line in whole:
            parts.append(line)
            yield b"".join(parts)
            parts.clear()
        if rest:
            parts.append(rest)


def _event(raw: Json) -> WatchEvent:
    kind, content = raw["type"], raw["object"]
    if kind == "ERROR":
        raise error_of(int(content.get("code") or 500), content, retry_after_s=0.0)
    return WatchEvent(kind, content)


def _why(error: BaseException) -> str:
    return str(error) or type(error).__name__
