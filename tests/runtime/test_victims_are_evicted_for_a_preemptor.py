from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.kube.eviction import Eviction
from plimsoll.reporting.events import Event, to_json
from plimsoll.runtime.evictions import Evictions
from plimsoll.scheduling.decision import Bind, Preempt
from plimsoll.scheduling.scheduler import Scheduler
from tests.builders import PodBuilder, make_pod
from tests.kube.tasks import ended

Until = Callable[..., Any]


class Shell:
    """Takes evictions; answers when it is let, with what it is told to."""

    def __init__(self) -> None:
        self.evicting: list[str] = []
        self.answers: dict[str, Eviction] = {}
        self.hanging: set[str] = set()
        self.given_up: list[str] = []
        self.unsent: set[Uid] = set()
        self.cleared: list[str] = []
        self.events: list[Event] = []
        self.woken = 0
        self.open = asyncio.Event()
        self.open.set()

    async def evict(self, victim: PodInfo) -> Eviction:
        self.evicting.append(victim.name)
        if victim.name in self.hanging:
            await self._hang(victim)
        await self.open.wait()
        return self.answers.get(victim.name, Eviction.EVICTED)

    async def _hang(self, victim: PodInfo) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            self.given_up.append(victim.name)

    def take_back(self, uid: Uid) -> bool:
        return uid in self.unsent

    def clear(self, pod: PodInfo) -> None:
        self.cleared.append(pod.name)

    def wake(self) -> None:
        self.woken += 1


@pytest.fixture
def shell() -> Shell:
    return Shell()


@pytest.fixture
async def evictions(scheduler: Scheduler, shell: Shell) -> AsyncIterator[Evictions]:
    made = Evictions(
        scheduler=scheduler,
        evictor=shell,
        take_back=shell.take_back,
        clear_nomination=shell.clear,
        record=shell.events.append,
        wake=shell.wake,
        controller="plimsoll",
    )
    task = asyncio.create_task(made.run())
    yield made
    assert not task.done(), task
    await ended(task)


def _high(name: str = "high", priority: int = 10) -> PodBuilder:
    return make_pod(name).cpu("16").priority(priority)


@pytest.fixture
def preempt(scheduler: Scheduler) -> Callable[..., Preempt]:
    """The command that makes room on node-1, whose pods are less important than those of node-2."""

    def make(pod: PodBuilder | None = None, **low: str) -> Preempt:
        scheduler.pod_assigned(make_pod("guard").cpu("16").priority(99).on("node-2").info(), now_s=time.time())
        for name, cpu in (low or {"low": "16"}).items():
            scheduler.pod_assigned(make_pod(name).cpu(cpu).on("node-1").started().info(), now_s=time.time())
        scheduler.pod_pending((pod or _high()).info(), now_s=time.time())
        command = scheduler.next_command(now_s=time.time())
        assert isinstance(command, Preempt)
        return command

    return make


async def test_all_victims_but_the_last_are_evicted_at_the_same_time(
    evictions: Evictions, shell: Shell, preempt: Callable[..., Preempt], until: Until
) -> None:
    shell.open.clear()
    command = preempt(a="6", b="5", c="5")
    *first, last = (victim.name for victim in command.decision.victims)
    evictions.preempt(command)
    await until(lambda: len(shell.evicting) == 2)
    await asyncio.sleep(0.01)
    assert sorted(shell.evicting) == sorted(first)
    assert shell.woken == 0
    shell.open.set()
    await until(lambda: shell.woken)
    assert shell.evicting[2:] == [last]


async def test_the_last_victim_is_spared_where_another_could_not_be_evicted(
    evictions: Evictions, shell: Shell, preempt: Callable[..., Preempt], until: Until
) -> None:
    command = preempt(a="8", b="8")
    first, last = (victim.name for victim in command.decision.victims)
    shell.answers[first] = Eviction.FAILED
    evictions.preempt(command)
    await until(lambda: shell.woken)
    assert shell.evicting == [first]
    assert shell.events == []
    assert last not in shell.evicting


async def test_evictions_under_way_are_given_up_once_one_has_failed(
    evictions: Evictions, shell: Shell, preempt: Callable[..., Preempt], until: Until
) -> None:
    """Those that hang in between are not waited for, nor are their victims told that they were preempted."""
    command = preempt(a="6", b="5", c="5")
    failing, hanging, last = (victim.name for victim in command.decision.victims)
    shell.answers[failing] = Eviction.FAILED
    shell.hanging.add(hanging)
    evictions.preempt(command)
    await until(lambda: shell.woken)
    assert sorted(shell.evicting) == sorted([failing, hanging])
    assert shell.given_up == [hanging]
    assert (shell.events, last in shell.evicting) == ([], False)


async def test_each_eviction_is_told_on_the_victim(
    evictions: Evictions, shell: Shell, preempt: Callable[..., Preempt], until: Until
) -> None:
    evictions.preempt(preempt())
    await until(lambda: shell.events)
    body = to_json(shell.events[0], now_s=0.0, instance="plimsoll-host")
    told = {key: body[key] for key in ("type", "reason", "action", "note", "regarding", "related")}
    assert told == {
        "type": "Normal",
        "reason": "Preempted",
        "action": "Preempting",
        "note": "Preempted by pod uid-default-high on node node-1",
        "regarding": {
            "apiVersion": "v1", "kind": "Pod", "namespace": "default", "name": "low", "uid": "uid-default-low",
        },
        "related": {
            "apiVersion": "v1", "kind": "Pod", "namespace": "default", "name": "high", "uid": "uid-default-high",
        },
    }  # fmt: skip


async def test_a_victim_that_went_by_itself_was_preempted_by_nobody(
    evictions: Evictions, shell: Shell, preempt: Callable[..., Preempt], until: Until
) -> None:
    shell.answers["low"] = Eviction.GONE
    evictions.preempt(preempt())
    await until(lambda: shell.woken)
    assert shell.events == []


async def test_the_preemptor_waits_until_the_evictions_are_through(
    *, scheduler: Scheduler, evictions: Evictions, shell: Shell, preempt: Callable[..., Preempt], until: Until
) -> None:
    shell.open.clear()
    evictions.preempt(preempt())
    await until(lambda: shell.evicting)
    scheduler.assigned_pod_gone(make_pod("low").info().uid, now_s=time.time())
    assert scheduler.next_command(now_s=time.time() + 60) is None
    shell.open.set()
    await until(lambda: shell.woken)
    command = scheduler.next_command(now_s=time.time() + 60)
    assert isinstance(command, Bind)
    assert command.decision.node == "node-1"


async def test_a_preemptor_whose_evictions_failed_is_tried_again(
    *, scheduler: Scheduler, evictions: Evictions, shell: Shell, preempt: Callable[..., Preempt], until: Until
) -> None:
    shell.answers["low"] = Eviction.FAILED
    evictions.preempt(preempt())
    await until(lambda: shell.woken)
    command = scheduler.next_command(now_s=time.time() + 60)
    assert isinstance(command, Preempt)
    assert [victim.name for victim in command.decision.victims] == ["low"]


async def test_a_victim_that_was_evicted_is_terminating_before_the_watch_says_so(
    *, scheduler: Scheduler, evictions: Evictions, shell: Shell, preempt: Callable[..., Preempt], until: Until
) -> None:
    evictions.preempt(preempt())
    await until(lambda: shell.woken)
    (victim,) = (pod for pod in scheduler.pods() if pod.name == "low")
    assert (victim.deleting, victim.giving_way) == (True, True)


async def test_victims_that_terminate_already_are_left_alone(
    *, scheduler: Scheduler, evictions: Evictions, shell: Shell, preempt: Callable[..., Preempt], until: Until
) -> None:
    going = make_pod("going").cpu("8").on("node-1").started().deleting().info()
    scheduler.pod_assigned(going, now_s=time.time())
    evictions.preempt(preempt(low="8"))
    await until(lambda: shell.woken)
    assert shell.evicting == ["low"]


async def test_a_victim_whose_binding_was_not_sent_yet_is_not_deleted(
    *, evictions: Evictions, shell: Shell, preempt: Callable[..., Preempt], until: Until
) -> None:
    shell.unsent.add(make_pod("low").info().uid)
    evictions.preempt(preempt())
    await until(lambda: shell.woken)
    assert shell.evicting == []
    assert [event.note for event in shell.events] == [
        "Preempted by pod uid-default-high on node node-1 (in kube-scheduler memory)."
    ]


async def test_pods_that_lost_their_nomination_are_told(
    *, evictions: Evictions, shell: Shell, preempt: Callable[..., Preempt], scheduler: Scheduler, until: Until
) -> None:
    evictions.preempt(preempt())
    await until(lambda: shell.woken)
    scheduler.assigned_pod_gone(make_pod("low").info().uid, now_s=time.time())
    evictions.preempt(preempt(_high("higher", 11), next="16"))
    await until(lambda: shell.cleared)
    assert shell.cleared == ["high"]
