"""Objects into the cluster, as fast as it takes them or at a rate."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from typing import NamedTuple, TypeVar

import orjson

from benchmarks.throughput.admin import CONNECTIONS, Admin
from benchmarks.throughput.workload import Thing

_T = TypeVar("_T")


class _Ready(NamedTuple):
    key: str
    path: str
    body: bytes


def key(thing: Thing) -> str:
    """``namespace/name`` of a namespaced object."""
    return f"{thing.path.split('/')[-2]}/{thing.body['metadata']['name']}"


async def create_all(admin: Admin, things: Iterable[Thing]) -> None:
    """All of a kind before the first of the next kind, which may need it."""
    for _, alike in itertools.groupby(things, lambda thing: thing.path.rpartition("/")[2]):
        await _share_out(alike, admin.create)


async def create_timed(admin: Admin, things: Iterable[Thing], *, sent_s: dict[str, float], rate: float = 0.0) -> None:
    """Args:
    sent_s: gets when each pod was sent, by ``time.monotonic``; what was sent is there even if not all are.
    rate: so many per second; 0: as fast as they are taken.
    """
    # Encoded before the first is sent: the two cores belong to those who are measured.
    ready = [_Ready(key(thing), thing.path, orjson.dumps(thing.body)) for thing in things]

    async def send(one: _Ready) -> None:
        sent_s[one.key] = time.monotonic()
        await admin.post(one.path, one.body)

    await (_at_rate(ready, send, rate) if rate else _share_out(iter(ready), send))


async def _share_out(ones: Iterator[_T], do: Callable[[_T], Awaitable[None]]) -> None:
    async def work() -> None:
        for one in ones:
            await do(one)

    async with asyncio.TaskGroup() as workers:
        for _ in range(CONNECTIONS):
            workers.create_task(work())


async def _at_rate(ones: list[_Ready], do: Callable[[_Ready], Coroutine[None, None, None]], rate: float) -> None:
    """An open loop: one that is late does not hold up the next."""
    began_s = time.monotonic()
    async with asyncio.TaskGroup() as sending:
        for i, one in enumerate(ones):
            await asyncio.sleep(max(began_s + i / rate - time.monotonic(), 0.0))
            sending.create_task(do(one))
