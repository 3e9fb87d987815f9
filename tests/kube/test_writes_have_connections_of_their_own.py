from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from aiohttp import web

from plimsoll.errors import Conflict, Unavailable
from plimsoll.kube.client import ApiClient
from plimsoll.kube.config import ClusterAccess
from plimsoll.kube.connection import Connection
from plimsoll.kube.lane import Credentials, Lane
from tests.kube.api_server import ApiServer

_OK = b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}"
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
PODS = "/api/v1/namespaces/ns/pods"


@contextlib.asynccontextmanager
async def _serving(serve: Serve) -> AsyncIterator[Lane]:
    """A lane to a server that does as it is told with each connection."""

    under_way: set[asyncio.Task[None] | None] = set()

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        under_way.add(asyncio.current_task())
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            await serve(reader, writer)
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()

    server = await asyncio.start_server(one, "127.0.0.1", 0)
    lane = Lane(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/prefix", tls=None)
    try:
        yield lane
    finally:
        lane.close()
        server.close()
        await asyncio.gather(*(task for task in under_way if task))


async def _request(reader: asyncio.StreamReader) -> bytes:
    return await reader.readuntil(b"\r\n\r\n{}")


async def _send(
    lane: Lane, path: str = PODS, *, timeout_s: float = 5.0, authorization: str = "Bearer t", generation: int = 0
) -> int:
    credentials = Credentials(authorization, generation)
    reply = await lane.send(
        "POST", path, b"{}", content_type="application/json", credentials=credentials, timeout_s=timeout_s
    )
    return reply.status


async def test_a_request_says_what_the_api_server_wants_to_know() -> None:
    heard: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await _request(reader))
        writer.write(_OK)

    async with _serving(serve) as lane:
        assert await _send(lane) == 201
    line, *headers = heard[0].decode().split("\r\n")
    assert line == f"POST /prefix{PODS} HTTP/1.1"
    assert {"Authorization: Bearer t", "Content-Type: application/json", "Content-Length: 2"} <= set(headers)


async def test_requests_one_after_the_other_share_a_connection() -> None:
    connections: list[None] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(None)
        while True:
            await _request(reader)
            writer.write(_OK)

    async with _serving(serve) as lane:
        for _ in range(5):
            await _send(lane)
        assert len(connections) == 1
        await asyncio.gather(*(_send(lane) for _ in range(3)))
        assert len(connections) == 3


async def test_a_connection_that_the_server_closed_is_not_used_again() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _request(reader)
        writer.write(_OK)

    async with _serving(serve) as lane:
        for _ in range(3):
            assert await _send(lane) == 201
            await asyncio.sleep(0.02)


async def test_a_connection_that_is_closed_without_an_answer_is_an_error() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _request(reader)

    async with _serving(serve) as lane:
        with pytest.raises(OSError, match="closed"):
            await _send(lane)


async def test_an_answer_in_pieces_is_waited_for() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _request(reader)
        for piece in (_OK[:10], _OK[10:30], _OK[30:]):
            writer.write(piece)
            await asyncio.sleep(0.01)

    async with _serving(serve) as lane:
        assert await _send(lane) == 201


async def test_a_late_answer_is_not_taken_for_that_of_the_next_request() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if b"/slow" in await _request(reader):
            await asyncio.sleep(0.1)
            writer.write(b"HTTP/1.1 500 Late\r\nContent-Length: 0\r\n\r\n")
        else:
            writer.write(_OK)

    async with _serving(serve) as lane:
        with pytest.raises(TimeoutError):
            await _send(lane, "/slow", timeout_s=0.05)
        assert await _send(lane) == 201
        await asyncio.sleep(0.1)
        assert await _send(lane) == 201


async def test_the_connection_of_a_request_that_was_cancelled_is_closed() -> None:
    came, closed = asyncio.Event(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _request(reader)
        came.set()
        with contextlib.suppress(ConnectionError):
            await reader.read()
        closed.set()

    async with _serving(serve) as lane:
        request = asyncio.ensure_future(_send(lane))
        await asyncio.wait_for(came.wait(), 5.0)
        request.cancel()
        await asyncio.wait([request])
        await asyncio.wait_for(closed.wait(), 5.0)


async def test_what_comes_unasked_ends_the_connection() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _request(reader)
        writer.write(_OK + b"HTTP/1.1 200 Surplus\r\nContent-Length: 0\r\n\r\n")
        await reader.read()

    async with _serving(serve) as lane:
        assert [await _send(lane) for _ in range(2)] == [201, 201]


@pytest.mark.parametrize("path", ["/pods/a b", "/pods/a\r\nX: y", "pods", "/pods/ä"])
async def test_a_path_that_would_be_another_request_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="no path"):
        await _send(Lane("http://127.0.0.1:1", tls=None), path)


@pytest.mark.parametrize("token", ["Bearer a\r\nX: y", "Bearer a\ny", "Bearer \0"])
async def test_a_token_that_would_be_another_header_is_refused(token: str) -> None:
    with pytest.raises(ValueError, match="line break"):
        await _send(Lane("http://127.0.0.1:1", tls=None), authorization=token)


async def test_one_time_limit_is_lost_where_all_connections_have_died_in_silence() -> None:
    silent, connections = [False], list[None]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = len(connections)
        connections.append(None)
        while True:
            await _request(reader)
            if silent[0] and number < 5:
                await reader.read()
                return
            writer.write(_OK)

    async with _serving(serve) as lane:
        await asyncio.gather(*(_send(lane) for _ in range(5)))
        silent[0] = True
        with pytest.raises(TimeoutError):
            await _send(lane, timeout_s=0.1)
        assert [await _send(lane, timeout_s=0.5) for _ in range(5)] == [201] * 5


async def test_a_connection_of_earlier_credentials_is_not_used_again() -> None:
    """It has shown the certificate from before, whether it was idle or busy when that was rotated."""
    by, both, go_on, connections = list[int](), asyncio.Event(), asyncio.Event(), itertools.count()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = next(connections)
        while True:
            slow = b"/slow" in await _request(reader)
            by.append(number)
            if slow:
                both.set()
                await go_on.wait()
            writer.write(_OK)

    async with _serving(serve) as lane:
        busy = asyncio.ensure_future(_send(lane, "/slow"))
        await both.wait()
        await _send(lane)
        await _send(lane, generation=1)
        go_on.set()
        await busy
        await asyncio.gather(*(_send(lane, generation=1) for _ in range(3)))
    assert len(set(by[:2])) == 2
    assert not set(by[:2]) & set(by[2:])


async def test_all_that_was_refused_with_an_old_certificate_is_sent_again(server: ApiServer, tmp_path: Path) -> None:
    """The header is the same as before: a certificate that was rotated does not show in it."""
    now_s, expired = [100.0], asyncio.Event()
    connection = Connection(ClusterAccess(str(server.kubeconfig(tmp_path))), clock=lambda: now_s[0])
    refused = list[None]()

    async def answer(request: web.Request) -> web.StreamResponse:
        if len(refused) < 48:
            refused.append(None)
            if len(refused) == 48:
                expired.set()
            await expired.wait()
            return web.json_response({}, status=401)
        return web.json_response({}, status=201)

    async with ApiClient(connection) as client:
        now_s[0] += 100.0
        server.answer("POST", PODS, answer)
        await asyncio.gather(*(client.tell(PODS, {"metadata": {"name": f"p{i}"}}) for i in range(48)))
    assert server.count("POST", PODS) == 96


async def test_writes_answer_with_what_the_server_says(server: ApiServer, client: ApiClient) -> None:
    body = {"metadata": {"name": "web"}}
    assert (await client.post(PODS, body))["metadata"]["name"] == "web"
    await client.patch(f"{PODS}/web", {"metadata": {"labels": {"a": "ä"}}})
    assert server.objects[f"{PODS}/web"]["metadata"]["labels"] == {"a": "ä"}
    with pytest.raises(Conflict, match="already exists"):
        await client.tell(PODS, body)
    await client.delete(f"{PODS}/web", {})
    assert server.objects == {}


async def test_a_long_answer_comes_in_chunks(server: ApiServer, client: ApiClient) -> None:
    async def chunked(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(status=201)
        response.enable_chunked_encoding()
        await response.prepare(request)
        await response.write(b'{"data": "')
        await response.write(b"x" * 200_000)
        await response.write(b'"}')
        return response

    server.answer("POST", PODS, chunked)
    assert len((await client.post(PODS, {}))["data"]) == 200_000


async def test_an_answer_that_is_no_json_is_unavailable(server: ApiServer, client: ApiClient) -> None:
    async def words(_: web.Request) -> web.StreamResponse:
        return web.Response(status=201, text="words")

    server.answer("POST", PODS, words)
    with pytest.raises(Unavailable, match="not JSON"):
        await client.post(PODS, {})


async def test_a_token_that_is_refused_is_read_anew(server: ApiServer, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("old")
    times = iter(range(0, 100_000, 10))
    access = ClusterAccess(str(server.kubeconfig(tmp_path, user={"tokenFile": str(token)})))
    async with ApiClient(Connection(access, clock=lambda: float(next(times)))) as client:
        token.write_text("new")
        server.fail("POST", PODS, status=401, where=lambda r: r.headers["Authorization"] == "Bearer old")
        await client.tell(PODS, {"metadata": {"name": "web"}})
    assert [headers["Authorization"] for headers in server.headers] == ["Bearer old", "Bearer new"]


async def test_behind_a_proxy_writes_go_through_it(
    server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, server.url = server.url, "http://api.example.com"
    config = server.kubeconfig(tmp_path)
    text = config.read_text().replace('"server": "http', f'"proxy-url": "{real}", "server": "http')
    config.write_text(text)
    connection = Connection(ClusterAccess(str(config)))
    assert connection.lane() is None
    async with ApiClient(connection) as client:
        await client.tell(PODS, {"metadata": {"name": "web"}})
    assert [request.split()[0] for request in server.requests] == ["POST"]
