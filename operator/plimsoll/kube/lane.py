"""Connections for writes: small requests by the thousand, at a third to a quarter of what a general client takes.

HTTP/1.1, one request at a time per connection, straight to the API server; where a proxy stands in between, the
general client is used. What is sent at a time is bounded by those who send, each for itself.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Callable
from typing import NamedTuple, cast
from urllib.parse import urlsplit

from plimsoll import __version__
from plimsoll.kube.answer import Answer

# As client-go's; a dead node of the control plane is noticed in seconds rather than by TCP.
_CONNECT_S = 5.0
# Before the server's own limit: a request on a connection that it is just closing would have no certain outcome.
_KEEPALIVE_S = 60.0
# A few content types by one token; what an earlier token signed is dropped sooner or later.
_HEADS = 8
# What no header may hold: it would become another header, or another request.
_BREAK = re.compile(r"[\r\n\0]")
# What a request line may hold: a name with a blank or a line break in it would become another request.
_TARGET = re.compile(r"/[!-~]*", re.ASCII)


class Reply(NamedTuple):
    """Attributes:
    retry_after: that header, "" where there is none.
    """

    status: int
    body: bytes
    retry_after: str


class Credentials(NamedTuple):
    """Attributes:
    authorization: the header of that name, "" where the client's certificate is all.
    generation: how often header or certificate were read anew and may be others.
    """

    authorization: str
    generation: int

    def followed_by(self, authorization: str) -> Credentials:
        return Credentials(authorization, self.generation + 1)


class Lane:
    """A pool of connections to one server.

    Args:
        server: its URL; a path in it goes before those of the requests.
        tls: None for plain HTTP.
        server_hostname: the name in the server's certificate; "" is that of the URL.
    """

    def __init__(self, server: str, *, tls: ssl.SSLContext | None, server_hostname: str = "") -> None:
        url = urlsplit(server)
        self._host = url.hostname or ""
        self._port = url.port or (443 if tls else 80)
        self._prefix = url.path
        self._tls = tls
        self._server_hostname = server_hostname or self._host
        self._common = (
            f" HTTP/1.1\r\nHost: {url.netloc.rpartition('@')[2]}\r\nUser-Agent: plimsoll/{__version__}\r\n"
            "Accept: application/json\r\nAccept-Encoding: identity\r\n"
        )
        self._heads: dict[tuple[str, str], str] = {}
        self._idle: list[_Wire] = []
        self._wires: set[_Wire] = set()
        self._generation = 0

    async def send(
        self, method: str, path: str, body: bytes, *, content_type: str, credentials: Credentials, timeout_s: float
    ) -> Reply:
        """Raises:
        OSError, TimeoutError, ValueError: no answer, none in time, or none that can be read.
        """
        if not _TARGET.fullmatch(path):
            raise ValueError(f"{path!r} is no path")
        self._show(credentials.generation)
        common = self._head(content_type, credentials.authorization)
        head = f"{method} {self._prefix}{path}{common}{len(body)}\r\n\r\n"
        loop = asyncio.get_running_loop()
        due_s = loop.time() + timeout_s
        wire = self._free(loop.time()) or await self._connect(min(timeout_s, _CONNECT_S))
        try:
            answer = await wire.exchange(head.encode("latin-1") + body, due_s=due_s)
        except BaseException as error:
            # Whatever comes now is nobody's answer.
            wire.abort()
            if isinstance(error, TimeoutError):
                # Where the way was lost without a word, the others wait in vain as well, one time limit each.
                self._forget_idle()
            raise
        self._keep(wire, loop.time())
        retry_after = answer.header(b"retry-after") if answer.status >= 300 else ""
        return Reply(answer.status, answer.body, retry_after)

    def close(self) -> None:
        for wire in list(self._wires):
            wire.abort()

    def _show(self, generation: int) -> None:
        """New connections show the client certificate of the moment."""
        if generation != self._generation:
            self._generation = generation
            self._forget_idle()

    def _keep(self, wire: _Wire, now_s: float) -> None:
        if not wire.usable:
            return
        if wire.generation != self._generation:
            wire.abort()
            return
        wire.idle_since_s = now_s
        self._idle.append(wire)

    def _forget_idle(self) -> None:
        while self._idle:
            self._idle.pop().abort()

    def _free(self, now_s: float) -> _Wire | None:
        if self._idle and now_s - self._idle[-1].idle_since_s < _KEEPALIVE_S:
            return self._idle.pop()
        # The one that was used last is too old, so all are.
        self._forget_idle()
        return None

    def _head(self, content_type: str, authorization: str) -> str:
        found = self._heads.get((content_type, authorization))
        if found is None:
            if _BREAK.search(authorization) or _BREAK.search(content_type):
                raise ValueError("a header would hold a line break")
            if len(self._heads) >= _HEADS:
                self._heads.clear()
            signed = f"Authorization: {authorization}\r\n" if authorization else ""
            found = f"{self._common}{signed}Content-Type: {content_type}\r\nContent-Length: "
            self._heads[content_type, authorization] = found
        return found

    async def _connect(self, within_s: float) -> _Wire:
        loop, generation = asyncio.get_running_loop(), self._generation
        named = self._server_hostname if self._tls else None
        async with asyncio.timeout(within_s):
            _, wire = await loop.create_connection(
                lambda: _Wire(self._lost, generation), self._host, self._port, ssl=self._tls, server_hostname=named
            )
        self._wires.add(wire)
        return wire

    def _lost(self, wire: _Wire) -> None:
        self._wires.discard(wire)
        if wire in self._idle:
            self._idle.remove(wire)


class _Wire(asyncio.Protocol):
    """One connection.

    Attributes:
        generation: of the credentials that it was opened with.
    """

    def __init__(self, lost: Callable[[_Wire], None], generation: int) -> None:
        self._told_lost = lost
        self.generation = generation
        self._transport: asyncio.Transport | None = None
        self._answer = Answer()
        self._waiter: asyncio.Future[None] | None = None
        self.usable = False
        self.idle_since_s = 0.0

    async def exchange(self, request: bytes, *, due_s: float) -> Answer:
        loop = asyncio.get_running_loop()
        if self._transport is None:
            raise ConnectionResetError("the connection was closed")
        self._answer, waiter = Answer(), loop.create_future()
        self._waiter, self.usable = waiter, False
        timer = loop.call_at(due_s, _give_up, waiter)
        try:
            self._transport.write(request)
            await waiter
        finally:
            timer.cancel()
            self._waiter = None
        return self._answer

    def abort(self) -> None:
        self.usable = False
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # What it is depends on the loop; uvloop's is of no class of asyncio's.
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if self._waiter is None or self._waiter.done():
            # Nobody asked: a server that is about to close says so now and then.
            self.abort()
            return
        try:
            self._answer.feed(data)
        except ValueError as error:
            self._waiter.set_exception(error)
            return
        if self._answer.done:
            self.usable = self._answer.keeps_open and not self._answer.rest
            if not self.usable and self._transport is not None:
                self._transport.close()
            self._waiter.set_result(None)

    def connection_lost(self, error: Exception | None) -> None:
        self._transport, self.usable = None, False
        self._told_lost(self)
        if self._waiter is not None and not self._waiter.done():
            self._end(self._waiter, error)

    def _end(self, waiter: asyncio.Future[None], error: Exception | None) -> None:
        if error is not None or not self._answer.status:
            waiter.set_exception(error or ConnectionResetError("the server closed the connection"))
            return
        try:
            self._answer.ends()
        except ValueError as problem:
            waiter.set_exception(problem)
        else:
            waiter.set_result(None)


def _give_up(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_exception(TimeoutError("no answer in time"))
