from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from plimsoll.errors import Unavailable
from plimsoll.runtime.leadership import Leadership
from tests.kube.tasks import ended

Until = Callable[..., Any]


class Lease:
    leading = False


class Cache:
    """A mirror and a sweep: lets itself be brought up to date when it is told to."""

    def __init__(self) -> None:
        self.asked = 0
        self.failures = 0
        self.open = asyncio.Event()

    async def catch_up(self, *, within_s: float) -> None:
        assert within_s == 1.0
        await self.sweep()

    async def sweep(self) -> None:
        self.asked += 1
        if self.failures:
            self.failures -= 1
            raise Unavailable("away", status=0)
        await self.open.wait()


@pytest.fixture
def elector() -> Lease:
    return Lease()


@pytest.fixture
def changes() -> list[bool]:
    """What ``may_decide`` was at each change."""
    return []


@pytest.fixture
def leadership(elector: Lease, changes: list[bool]) -> Leadership:
    made: Leadership

    def changed() -> None:
        changes.append(made.may_decide)

    made = Leadership(elector, changed=changed)
    return made


def _turn(elector: Lease, leadership: Leadership, *, leading: bool) -> None:
    elector.leading = leading
    leadership.turned()


async def test_without_election_it_decides_once_the_caches_are_there(changes: list[bool]) -> None:
    alone = Leadership(None, changed=lambda: changes.append(True))
    assert alone.leading
    assert not alone.may_decide
    alone.caches_are_current()
    assert alone.may_decide


async def test_caches_that_were_listed_under_the_lease_count(elector: Lease, leadership: Leadership) -> None:
    _turn(elector, leadership, leading=True)
    assert not leadership.may_decide
    leadership.caches_are_current()
    assert leadership.may_decide


async def test_caches_of_a_standby_count_for_nothing(elector: Lease, leadership: Leadership) -> None:
    leadership.caches_are_current()
    _turn(elector, leadership, leading=True)
    assert not leadership.may_decide


async def test_who_takes_over_decides_when_every_cache_is_up_to_date(
    elector: Lease, leadership: Leadership, until: Until
) -> None:
    mirror, sweep = Cache(), Cache()
    task = asyncio.create_task(leadership.run(mirrors=[mirror], sweeps=[sweep]))
    _turn(elector, leadership, leading=True)
    await until(lambda: mirror.asked)
    mirror.open.set()
    await until(lambda: sweep.asked)
    await asyncio.sleep(0.02)
    assert not leadership.may_decide
    sweep.open.set()
    await until(lambda: leadership.may_decide)
    await ended(task)


async def test_an_api_server_in_trouble_is_asked_again(elector: Lease, leadership: Leadership, until: Until) -> None:
    cache = Cache()
    cache.failures = 1
    cache.open.set()
    task = asyncio.create_task(leadership.run(mirrors=[cache], sweeps=[]))
    _turn(elector, leadership, leading=True)
    await until(lambda: leadership.may_decide)
    assert cache.asked == 2
    await ended(task)


async def test_losing_the_lease_ends_deciding_before_anything_else(
    elector: Lease, leadership: Leadership, changes: list[bool]
) -> None:
    _turn(elector, leadership, leading=True)
    leadership.caches_are_current()
    _turn(elector, leadership, leading=False)
    assert changes == [False, True, False]
    assert not leadership.may_decide


async def test_a_lease_lost_while_catching_up_is_not_believed(
    elector: Lease, leadership: Leadership, until: Until
) -> None:
    cache = Cache()
    task = asyncio.create_task(leadership.run(mirrors=[cache], sweeps=[]))
    _turn(elector, leadership, leading=True)
    await until(lambda: cache.asked == 1)
    _turn(elector, leadership, leading=False)
    _turn(elector, leadership, leading=True)
    cache.open.set()
    await until(lambda: leadership.may_decide)
    assert cache.asked == 2, "what was read before the second turn does not count"
    await ended(task)


async def test_the_clock_alone_ends_it(elector: Lease, leadership: Leadership) -> None:
    _turn(elector, leadership, leading=True)
    leadership.caches_are_current()
    elector.leading = False
    assert not leadership.may_decide


async def test_who_resigns_neither_decides_nor_writes(elector: Lease, leadership: Leadership) -> None:
    _turn(elector, leadership, leading=True)
    leadership.caches_are_current()
    leadership.resign()
    assert not leadership.may_decide
    assert not leadership.leading
