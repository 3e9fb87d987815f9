"""What the API server takes is measured with the connections that Plimsoll itself has."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest

from benchmarks.throughput.bare import Bind, bind_all
from plimsoll import __version__
from plimsoll.kube.lane import Lane

_BINDS = [Bind("ns", f"p{i}", f"uid-{i}", f"node-{i % 3}") for i in range(40)]


@dataclass
class _Server:
    """Answers every request with one status, after a moment."""

    status: int = 201
    heads: list[str] = field(default_factory=list)
    at_work: int = 0
    most: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                await reader.readexactly(int(head.rpartition("Content-Length: ")[2]))
                self.heads.append(head)
                self.at_work += 1
                self.most = max(self.most, self.at_work)
                await asyncio.sleep(0.005)
                self.at_work -= 1
                writer.write(f"HTTP/1.1 {self.status} Whatever\r\nContent-Length: 2\r\n\r\n{{}}".encode())
        except asyncio.IncompleteReadError:
            writer.close()


def _played(server: _Server, *, events: bool, connections: int = 8) -> None:
    async def play() -> None:
        listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
        lane = Lane(f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}", tls=None)
        try:
            await bind_all(lane, iter(_BINDS), events=events, connections=connections)
        finally:
            lane.close()
            await asyncio.sleep(0.01)
            listening.close()
            await listening.wait_closed()

    asyncio.run(play())


@pytest.mark.parametrize(("events", "requests"), [(False, 40), (True, 80)], ids=["Bindings", "with Events"])
def test_every_pod_is_bound_over_plimsolls_own_connections(events, requests):
    server = _Server()
    _played(server, events=events)
    assert len(server.heads) == requests
    assert all(f"User-Agent: plimsoll/{__version__}\r\n" in head for head in server.heads)
    lines = {head.split(" HTTP", 1)[0] for head in server.heads}
    assert {f"POST /api/v1/namespaces/ns/pods/{bind.name}/binding" for bind in _BINDS} <= lines
    assert ("POST /apis/events.k8s.io/v1/namespaces/ns/events" in lines) is events


def test_no_more_are_under_way_than_it_was_told():
    server = _Server()
    _played(server, events=True, connections=4)
    assert server.most == 4


def test_a_refusal_is_no_bind():
    with pytest.raises(ExceptionGroup, match="unhandled") as told:
        _played(_Server(status=409), events=False)
    assert "409" in str(told.value.exceptions[0])
