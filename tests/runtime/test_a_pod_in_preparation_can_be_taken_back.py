"""A pod that is preempted before it was bound is not deleted: it goes back to the queue (kube-scheduler's CancelPod)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import pytest

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.reservation import Reservation
from plimsoll.cluster.storage.claim import PersistentVolumeClaim
from plimsoll.cluster.volume_matching import StaticBinding
from plimsoll.runtime.prepare import Preparations
from plimsoll.scheduling.decision import Bind
from plimsoll.scheduling.preparing import Preparation
from plimsoll.scheduling.scheduler import Scheduler
from tests.builders import make_pod
from tests.kube.tasks import ended

Until = Callable[..., Any]


class Shell:
    """Reserves claims once it is let."""

    full = False

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.undoing = asyncio.Event()
        self.undoing.set()
        self.problem = ""
        self.reserving: list[str] = []
        self.released: list[str] = []
        self.bound: list[str] = []
        self.failures: list[str] = []

    async def reserve(self, claim: Reservation, pod: PodInfo) -> str:
        self.reserving.append(pod.name)
        await self.open.wait()
        return self.problem

    async def release(self, claim: Reservation, pod: PodInfo) -> None:
        self.released.append(pod.name)
        await self.undoing.wait()

    async def bind(self, binding: StaticBinding) -> str:
        raise AssertionError(binding)

    async def select_node(self, claim: PersistentVolumeClaim, node: str) -> str:
        raise AssertionError(claim, node)

    async def nominate(self, pod: PodInfo, node: str) -> None:
        """Nobody looks."""

    def submit(self, command: Bind, *, took_s: float) -> None:
        self.bound.append(command.pod.name)

    def failed(self, command: Bind, problem: str, took_s: float) -> None:
        self.failures.append(problem)


@pytest.fixture
def shell() -> Shell:
    return Shell()


@pytest.fixture
async def preparations(scheduler: Scheduler, shell: Shell) -> AsyncIterator[Preparations]:
    made = Preparations(
        scheduler=scheduler,
        binds=shell,
        volumes=shell,
        reservations=shell,
        nominate=shell.nominate,
        may_bind=lambda: True,
        failed=shell.failed,
        taken_back=lambda _: None,
        wake=lambda: None,
        timeout_s=60.0,
    )
    task = asyncio.create_task(made.run())
    yield made
    assert not task.done(), task
    await ended(task)


async def test_a_pod_in_preparation_can_be_taken_back(
    scheduler: Scheduler, preparations: Preparations, shell: Shell, until: Until
) -> None:
    pod = make_pod("web")
    scheduler.pod_pending(pod.info(), now_s=time.time())
    command = scheduler.next_command(now_s=time.time())
    assert isinstance(command, Bind)
    reserved = Preparation(reservations=(Reservation("default", "gpu", "uid-gpu"),))
    preparations.submit(replace(command, prepare=reserved), took_s=0.0)
    await until(lambda: shell.reserving)
    assert preparations.take_back(pod.info().uid)
    shell.open.set()
    await until(lambda: shell.failures)
    assert (shell.failures, shell.released, shell.bound) == (["preempted by DefaultPreemption"], ["web"], [])
    assert scheduler.pending_counts()["backoff"] == 1
    assert not preparations.take_back(pod.info().uid)


async def test_a_pod_whose_preparation_is_being_undone_can_be_taken_back(
    scheduler: Scheduler, preparations: Preparations, shell: Shell, until: Until
) -> None:
    """It will not be bound, so nobody has to delete it."""
    pod = make_pod("web")
    scheduler.pod_pending(pod.info(), now_s=time.time())
    command = scheduler.next_command(now_s=time.time())
    assert isinstance(command, Bind)
    shell.problem = "claim got deallocated elsewhere"
    shell.open.set()
    shell.undoing.clear()
    reserved = Preparation(reservations=(Reservation("default", "gpu", "uid-gpu"),))
    preparations.submit(replace(command, prepare=reserved), took_s=0.0)
    await until(lambda: shell.released)
    assert preparations.take_back(pod.info().uid)
    shell.undoing.set()
    await until(lambda: shell.failures)
    assert shell.bound == []
    assert not preparations.take_back(pod.info().uid)


async def test_a_pod_that_needs_no_preparation_is_not_here(
    scheduler: Scheduler, preparations: Preparations, shell: Shell
) -> None:
    scheduler.pod_pending(make_pod("web").info(), now_s=time.time())
    command = scheduler.next_command(now_s=time.time())
    assert isinstance(command, Bind)
    preparations.submit(command, took_s=0.0)
    assert shell.bound == ["web"]
    assert not preparations.take_back(command.pod.uid)
