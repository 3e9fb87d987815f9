"""Requests to the API server: raw JSON over one aiohttp session, answers mapped to the errors of Plimsoll."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.parse import urlencode

import aiohttp
from yarl import URL

from plimsoll.errors import ApiError, Conflict, Forbidden, Gone, NotFound, Unavailable
from plimsoll.kube.connection import Connection
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
        self._observe = observe

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._session.close()

    async def get(self, path: str, *, params: Mapping[str, str] | None = None, timeout_s: float = _TIMEOUT_S) -> Json:
        return await self._call("get", path, params=params, timeout_s=timeout_s)

    async def post(self, path: str, body: Json, *, timeout_s: float = _TIMEOUT_S) -> Json:
        return await self._call("post", path, body=body, timeout_s=timeout_s)

    async def put(self, path: str, body: Json, *, timeout_s: float = _TIMEOUT_S) -> Json:
        return await self._call("put", path, body=body, timeout_s=timeout_s)

    async def patch(
        self, path: str, body: Json, *, content_type: str = MERGE_PATCH, timeout_s: float = _TIMEOUT_S
    ) -> Json:
        return await self._call("patch", path, body=body, content_type=content_type, timeout_s=timeout_s)

    async def delete(self, path: str, body: Json, *, timeout_s: float = _TIMEOUT_S) -> Json:
        """``body`` is a ``DeleteOptions``."""
        return await self._call("delete", path, body=body, timeout_s=timeout_s)

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
            async with self._session.get(self._url(path, query), timeout=timeout, allow_redirects=False) as response:
                self._observe("watch", resource_of(path), response.status, None)
                if response.status >= 300:
                    raise _error(response, await response.read())
                opened()
                async for line in _lines(response.content):
                    yield _event(json.loads(line))
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            self._observe("watch", resource_of(path), 0, None)
            raise Unavailable(f"watch of {path} broke: {_why(error)}", status=0) from error

    async def _call(
        self,
        verb: str,
        path: str,
        *,
        timeout_s: float,
        params: Mapping[str, str] | None = None,
        body: Json | None = None,
        content_type: str = "application/json",
    ) -> Json:
        began_s, code = time.perf_counter(), 0
        try:
            async with self._session.request(
                verb.upper(),
                self._url(path, params),
                data=None if body is None else json.dumps(body, separators=(",", ":")).encode(),
                headers=None if body is None else {"Content-Type": content_type},
                timeout=aiohttp.ClientTimeout(total=timeout_s, sock_connect=5.0),
                # A redirect would be followed with our credentials; the API server sends none.
                allow_redirects=False,
            ) as response:
                raw = await response.read()
                code = response.status
                if response.status >= 300:
                    raise _error(response, raw)
                answer: Json = json.loads(raw)
                return answer
        except (aiohttp.ClientError, TimeoutError) as error:
            raise Unavailable(f"{verb} {self._server}{path}: {_why(error)}", status=0) from error
        except ValueError as error:
            raise Unavailable(f"{verb} {self._server}{path}: the answer is not JSON", status=0) from error
        finally:
            self._observe(verb, resource_of(path), code, time.perf_counter() - began_s)

    def _url(self, path: str, params: Mapping[str, str] | None) -> URL:
        query = f"?{urlencode(params)}" if params else ""
        return URL(f"{self._server}{path}{query}", encoded=True)


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
        raise _error_of(int(content.get("code") or 500), content, retry_after_s=0.0)
    return WatchEvent(kind, content)


def _error(response: aiohttp.ClientResponse, raw: bytes) -> ApiError:
    try:
        status = json.loads(raw)
    except ValueError:
        status = {}
    if not isinstance(status, dict) or status.get("kind") != "Status":
        said = f"{response.status} {response.reason}"
        status = {"message": f"{response.method} {response.url.path} was answered {said}"}
    return _error_of(response.status, status, retry_after_s=_seconds(response.headers.get("Retry-After", "")))


def _error_of(code: int, status: Json, *, retry_after_s: float) -> ApiError:
    kinds: dict[int, type[ApiError]] = {
        401: Forbidden,
        403: Forbidden,
        404: NotFound,
        409: Conflict,
        410: Gone,
    }
    kind = kinds.get(code, Unavailable if code == 429 or code >= 500 else ApiError)
    return kind(
        str(status.get("message") or code),
        status=code,
        reason=str(status.get("reason") or ""),
        retry_after_s=retry_after_s,
    )


def _seconds(header: str) -> float:
    """Retry-After in seconds; the API server never sends the date form."""
    try:
        return max(float(header), 0.0)
    except ValueError:
        return 0.0


def _why(error: BaseException) -> str:
    return str(error) or type(error).__name__
