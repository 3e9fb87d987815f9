from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from plimsoll.runtime.loop import DecisionLoop
from plimsoll.scheduling.decision import Bind, Decision, Preempt, Refuse, Skip
from plimsoll.scheduling.scheduler import Scheduler
from tests.builders import PodBuilder, make_pod
from tests.kube.tasks import ended

Until = Callable[..., Any]
Pods = Callable[[int], list[PodBuilder]]


class World:
    """What the loop hands its commands to."""

    def __init__(self) -> None:
        self.allowed = True
        self.full = False
        self.bound: list[str] = []
        self.decided_count = 0
        self.refusals: list[str] = []
        self.skips: list[str] = []
        self.preempting: list[str] = []

    def submit(self, command: Bind, *, took_s: float) -> None:
        assert took_s >= 0
        self.bound.append(command.pod.name)

    def decided(self, decision: Decision, *, took_s: float, cpu_s: float) -> None:
        assert took_s >= 0
        self.decided_count += 1

    def refused(self, command: Refuse | Preempt, *, took_s: float) -> None:
        self.refusals.append(command.pod.name)

    def skipped(self, command: Skip) -> None:
        self.skips.append(command.pod.name)

    def preempt(self, command: Preempt) -> None:
        self.preempting.append(command.pod.name)


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
async def loop(scheduler: Scheduler, world: World) -> AsyncIterator[DecisionLoop]:
    made = DecisionLoop(
        scheduler=scheduler, binds=world, evictions=world, reports=world, may_decide=lambda: world.allowed
    )
    task = asyncio.create_task(made.run())
    yield made
    assert not task.done(), task
    await ended(task)


async def test_a_pod_that_is_being_deleted_is_skipped_without_a_decision(
    loop: DecisionLoop, world: World, enqueue: Callable[..., None], until: Until
) -> None:
    enqueue(make_pod("leaving").deleting(), make_pod("fits"))
    loop.wake()
    await until(lambda: world.bound == ["fits"])
    assert (world.skips, world.decided_count) == (["leaving"], 1)


async def test_pods_that_fit_are_bound_and_the_others_refused(
    loop: DecisionLoop, world: World, enqueue: Callable[..., None], until: Until
) -> None:
    enqueue(make_pod("fits").cpu("1"), make_pod("huge").cpu("100"))
    loop.wake()
    await until(lambda: world.decided_count == 2)
    assert (world.bound, world.refusals) == (["fits"], ["huge"])


async def test_a_pod_for_which_others_give_way_is_refused_and_its_victims_are_evicted(
    *, scheduler: Scheduler, loop: DecisionLoop, world: World, enqueue: Callable[..., None], until: Until
) -> None:
    for node in ("node-1", "node-2"):
        scheduler.pod_assigned(make_pod(f"low-{node}").cpu("16").on(node).info(), now_s=time.time())
    enqueue(make_pod("high").cpu("1").priority(1))
    loop.wake()
    await until(lambda: world.preempting)
    assert (world.preempting, world.refusals) == (["high"], ["high"])


async def test_nothing_is_decided_before_it_may(
    loop: DecisionLoop, world: World, enqueue: Callable[..., None], until: Until
) -> None:
    world.allowed = False
    enqueue(make_pod("web"))
    loop.wake()
    await asyncio.sleep(0.05)
    assert world.decided_count == 0
    world.allowed = True
    loop.wake()
    await until(lambda: world.bound == ["web"])


async def test_it_waits_while_too_much_is_under_way(
    loop: DecisionLoop, world: World, enqueue: Callable[..., None], until: Until
) -> None:
    world.full = True
    enqueue(make_pod("web"))
    loop.wake()
    await asyncio.sleep(0.05)
    assert world.decided_count == 0
    world.full = False
    loop.wake()
    await until(lambda: world.bound == ["web"])


async def test_it_wakes_by_itself_when_a_backoff_is_over(
    scheduler: Scheduler, loop: DecisionLoop, world: World, enqueue: Callable[..., None], until: Until
) -> None:
    enqueue(make_pod("web"))
    loop.wake()
    await until(lambda: world.bound == ["web"])
    scheduler.bind_failed(make_pod("web").info().uid, retry=True, now_s=time.time())
    loop.wake()
    began_s = time.monotonic()
    await until(lambda: world.bound == ["web", "web"])
    assert 0.9 < time.monotonic() - began_s < 2


async def test_others_get_their_turn_in_a_burst(
    loop: DecisionLoop, world: World, enqueue: Callable[..., None], pods: Pods
) -> None:
    enqueue(*pods(300))
    world.allowed = True
    loop.wake()
    at_once = 0
    while world.decided_count < 300:
        before = world.decided_count
        await asyncio.sleep(0)
        at_once = max(at_once, world.decided_count - before)
    assert at_once < 200


async def test_it_shows_that_it_is_alive(loop: DecisionLoop, until: Until) -> None:
    before_s = loop.beat_s
    await asyncio.sleep(0.01)
    loop.wake()
    await until(lambda: loop.beat_s > before_s)
