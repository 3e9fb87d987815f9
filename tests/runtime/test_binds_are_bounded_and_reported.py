from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.kube.binding import BindOutcome, BindResult
from plimsoll.reporting.annotation import parse
from plimsoll.runtime.binds import BindPipeline
from plimsoll.scheduling.decision import Bind
from plimsoll.scheduling.scheduler import Scheduler
from tests.builders import PodBuilder, make_pod
from tests.kube.tasks import ended

Until = Callable[..., Any]
Pods = Callable[[int], list[PodBuilder]]


class ApiServer:
    """Takes Bindings; answers when it is let, with what it is told to."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str, str]] = []
        self.answers: dict[str, BindOutcome] = {}
        self.open = asyncio.Event()
        self.open.set()
        self.at_a_time = self.most_at_a_time = 0
        self.undone: list[str] = []
        self.undoing = asyncio.Event()
        self.undoing.set()

    async def bind(self, pod: PodInfo, *, node: str, annotation: str) -> BindResult:
        self.sent.append((pod.name, node, annotation))
        self.at_a_time += 1
        self.most_at_a_time = max(self.most_at_a_time, self.at_a_time)
        await asyncio.sleep(0.001)
        await self.open.wait()
        self.at_a_time -= 1
        return BindResult(self.answers.get(pod.name, BindOutcome.BOUND))

    async def undo(self, command: Bind) -> None:
        self.undone.append(command.pod.name)
        await self.undoing.wait()


class Conditions:
    """A condition that is being written for one pod, until it is let go."""

    def __init__(self) -> None:
        self.busy: set[Uid] = set()
        self.done = asyncio.Event()

    def under_way(self, uid: Uid) -> bool:
        return uid in self.busy

    async def withdraw(self, uid: Uid) -> None:
        await self.done.wait()
        self.busy.discard(uid)


@pytest.fixture
def api_server() -> ApiServer:
    return ApiServer()


@pytest.fixture
def conditions() -> Conditions:
    return Conditions()


@pytest.fixture
def settled() -> list[tuple[str, BindOutcome]]:
    return []


@pytest.fixture
def taken_back() -> list[str]:
    return []


@pytest.fixture
def allowed() -> list[bool]:
    """Whether binding is allowed: the last says."""
    return [True]


@pytest.fixture
def wakes() -> list[str]:
    return []


@pytest.fixture
async def pipeline(
    *,
    scheduler: Scheduler,
    api_server: ApiServer,
    conditions: Conditions,
    settled: list[tuple[str, BindOutcome]],
    taken_back: list[str],
    allowed: list[bool],
    wakes: list[str],
) -> AsyncIterator[BindPipeline]:
    made = BindPipeline(
        scheduler=scheduler,
        binder=api_server,
        conditions=conditions,
        may_bind=lambda: allowed[-1],
        settled=lambda command, result, took_s: settled.append((command.pod.name, result.outcome)),
        undo=api_server.undo,
        taken_back=lambda command: taken_back.append(command.pod.name),
        wake=lambda: wakes.append("wake"),
        concurrency=4,
    )
    task = asyncio.create_task(made.run())
    yield made
    assert not task.done(), task
    await ended(task)


def _decide(scheduler: Scheduler, pipeline: BindPipeline) -> int:
    count = 0
    while command := scheduler.next_command(now_s=time.time()):
        assert isinstance(command, Bind)
        pipeline.submit(command, took_s=0.0)
        count += 1
    return count


async def test_each_decision_is_sent_with_its_node_and_annotation(
    scheduler: Scheduler, pipeline: BindPipeline, api_server: ApiServer, enqueue: Callable[..., None]
) -> None:
    enqueue(make_pod("web"))
    _decide(scheduler, pipeline)
    await pipeline.drain()
    ((name, node, annotation),) = api_server.sent
    assert name == "web"
    assert parse(annotation).node == node


async def test_only_so_many_are_under_way_at_a_time(
    scheduler: Scheduler, pipeline: BindPipeline, api_server: ApiServer, enqueue: Callable[..., None], pods: Pods
) -> None:
    enqueue(*pods(30))
    assert _decide(scheduler, pipeline) == 30
    await pipeline.drain()
    assert len(api_server.sent) == 30
    assert api_server.most_at_a_time == 4


async def test_the_pipeline_is_full_before_it_runs_far_ahead_and_wakes_when_it_is_not(
    *,
    scheduler: Scheduler,
    pipeline: BindPipeline,
    api_server: ApiServer,
    enqueue: Callable[..., None],
    pods: Pods,
    wakes: list[str],
    until: Until,
) -> None:
    api_server.open.clear()
    enqueue(*pods(20))
    _decide(scheduler, pipeline)
    assert pipeline.full
    await until(lambda: pipeline.sent == 4)
    assert pipeline.full
    wakes.clear()
    api_server.open.set()
    await pipeline.drain()
    assert not pipeline.full
    assert wakes


@pytest.mark.parametrize(
    ("outcome", "comes_back"),
    [
        pytest.param(BindOutcome.BOUND, False, id="bound"),
        pytest.param(BindOutcome.ASSIGNED, False, id="another was first"),
        pytest.param(BindOutcome.REPLACED, False, id="recreated"),
        pytest.param(BindOutcome.GONE, False, id="deleted"),
        pytest.param(BindOutcome.FAILED, True, id="failed"),
    ],
)
async def test_a_pod_comes_back_only_where_another_try_can_help(
    *,
    scheduler: Scheduler,
    pipeline: BindPipeline,
    api_server: ApiServer,
    settled: list[tuple[str, BindOutcome]],
    enqueue: Callable[..., None],
    outcome: BindOutcome,
    comes_back: bool,
) -> None:
    api_server.answers["web"] = outcome
    enqueue(make_pod("web"))
    _decide(scheduler, pipeline)
    await pipeline.drain()
    assert settled == [("web", outcome)]
    assert scheduler.pending_counts()["backoff"] == comes_back


async def test_a_failed_binding_gives_the_room_back(
    scheduler: Scheduler, pipeline: BindPipeline, api_server: ApiServer, enqueue: Callable[..., None]
) -> None:
    api_server.answers["first"] = BindOutcome.FAILED
    enqueue(make_pod("first").cpu("16"), make_pod("second").cpu("16"))
    _decide(scheduler, pipeline)
    await pipeline.drain()
    enqueue(make_pod("third").cpu("16"))
    assert _decide(scheduler, pipeline) == 1


async def test_nothing_is_sent_any_more_once_binding_is_not_allowed(
    *,
    scheduler: Scheduler,
    pipeline: BindPipeline,
    api_server: ApiServer,
    taken_back: list[str],
    allowed: list[bool],
    enqueue: Callable[..., None],
    pods: Pods,
    until: Until,
) -> None:
    api_server.open.clear()
    enqueue(*pods(10))
    _decide(scheduler, pipeline)
    await until(lambda: pipeline.sent == 4)
    allowed.append(False)
    api_server.open.set()
    await pipeline.drain()
    assert len(api_server.sent) == 4
    assert len(taken_back) == 6
    assert scheduler.pending_counts()["backoff"] == 6


async def test_a_condition_that_is_being_written_is_waited_for(
    scheduler: Scheduler,
    pipeline: BindPipeline,
    api_server: ApiServer,
    conditions: Conditions,
    enqueue: Callable[..., None],
) -> None:
    conditions.busy.add(make_pod("web").info().uid)
    enqueue(make_pod("web"))
    _decide(scheduler, pipeline)
    await asyncio.sleep(0.05)
    assert api_server.sent == []
    conditions.done.set()
    await pipeline.drain()
    assert len(api_server.sent) == 1


async def test_a_binding_that_was_not_sent_yet_can_be_taken_back(
    *,
    scheduler: Scheduler,
    pipeline: BindPipeline,
    api_server: ApiServer,
    enqueue: Callable[..., None],
    pods: Pods,
    taken_back: list[str],
    until: Until,
) -> None:
    api_server.open.clear()
    enqueue(*pods(6))
    _decide(scheduler, pipeline)
    await until(lambda: pipeline.sent == 4)
    sent = {name for name, _, _ in api_server.sent}
    waiting = next(pod for pod in pods(6) if pod.info().name not in sent).info()
    assert pipeline.take_back(waiting.uid)
    assert not any(pipeline.take_back(pod.info().uid) for pod in pods(6) if pod.info().name in sent)
    api_server.open.set()
    await pipeline.drain()
    assert waiting.name not in {name for name, _, _ in api_server.sent}
    assert taken_back == [waiting.name]
    assert scheduler.pending_counts()["backoff"] == 1
    assert not pipeline.take_back(waiting.uid)


async def test_what_was_prepared_for_a_binding_that_is_taken_back_is_undone_before_the_pod_is_tried_again(
    *,
    scheduler: Scheduler,
    pipeline: BindPipeline,
    api_server: ApiServer,
    enqueue: Callable[..., None],
    pods: Pods,
    taken_back: list[str],
    until: Until,
) -> None:
    """While that is being undone it is still nobody's to delete."""
    api_server.open.clear()
    api_server.undoing.clear()
    enqueue(*pods(5))
    _decide(scheduler, pipeline)
    await until(lambda: pipeline.sent == 4)
    sent = {name for name, _, _ in api_server.sent}
    waiting = next(pod for pod in pods(5) if pod.info().name not in sent).info()
    assert pipeline.take_back(waiting.uid)
    api_server.open.set()
    await until(lambda: api_server.undone)
    assert (taken_back, scheduler.pending_counts()["backoff"]) == ([], 0)
    assert pipeline.take_back(waiting.uid)
    api_server.undoing.set()
    await pipeline.drain()
    assert (api_server.undone, taken_back) == ([waiting.name], [waiting.name])
    assert scheduler.pending_counts()["backoff"] == 1
