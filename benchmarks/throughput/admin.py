"""The load generator's administrator: many connections, one event loop."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import orjson

from benchmarks.throughput.workload import Json, Thing

CONNECTIONS = 48
_TRIES = 5
_PAUSE_S = 0.2
_OK, _GONE, _CONFLICT, _TOO_MANY, _BROKEN = 200, 404, 409, 429, 500
_MERGE = {"Content-Type": "application/merge-patch+json"}
_JSON = {"Content-Type": "application/json"}


class Refused(Exception):
    """The API server said no."""


class Admin:
    """What a workload may ask, and what a run needs besides."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def create(self, thing: Thing) -> None:
        await self.post(thing.path, orjson.dumps(thing.body))

    async def post(self, path: str, body: bytes) -> None:
        """An object that is encoded already; one that is there is no error, since an answer may have been lost."""
        await self._send("POST", path, body, headers=_JSON, fine=_CONFLICT)

    async def patch(self, path: str, body: Json) -> None:
        await self._send("PATCH", path, orjson.dumps(body), headers=_MERGE)

    async def delete(self, path: str) -> None:
        await self._send("DELETE", path, orjson.dumps({"gracePeriodSeconds": 0}), headers=_JSON, fine=_GONE)

    async def get(self, path: str) -> Any:
        return orjson.loads(await self._send("GET", path))

    async def text(self, path: str) -> str:
        return (await self._send("GET", path)).decode()

    async def _send(
        self, method: str, path: str, body: bytes | None = None, *, headers: dict[str, str] | None = None, fine: int = 0
    ) -> bytes:
        for left in reversed(range(_TRIES)):
            try:
                async with self._session.request(method, path, data=body, headers=headers) as answer:
                    content = await answer.read()
            except (aiohttp.ClientError, TimeoutError):
                if not left:
                    raise
            else:
                if answer.status < _OK + 100 or answer.status == fine:
                    return content
                if not left or (answer.status != _TOO_MANY and answer.status < _BROKEN):
                    raise Refused(f"{method} {path}: {answer.status} {content.decode(errors='replace')[:500]}")
            await asyncio.sleep(_PAUSE_S)
        raise AssertionError("the last try raises")


@contextlib.asynccontextmanager
async def connected(server: str, tls: ssl.SSLContext) -> AsyncIterator[Admin]:
    connector = aiohttp.TCPConnector(limit=CONNECTIONS, ssl=tls, keepalive_timeout=60)
    async with aiohttp.ClientSession(server, connector=connector, timeout=aiohttp.ClientTimeout(total=60)) as session:
        yield Admin(session)
