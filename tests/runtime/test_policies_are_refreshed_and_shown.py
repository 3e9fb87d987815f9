from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pytest

from plimsoll.cluster.node import NodeInfo
from plimsoll.errors import Conflict, Unavailable
from plimsoll.load.pod_use import PodPlace
from plimsoll.load.readings import MetricReadings, Readings, ReadingState
from plimsoll.policy.compiled import Policy
from plimsoll.runtime.policies import PolicyBook, PolicyEntry
from plimsoll.runtime.refresh import Refresher
from plimsoll.scheduling.overview import PolicyOverview
from plimsoll.scheduling.scheduler import Scheduler

Json = dict[str, Any]
Make = Callable[..., Json]
Until = Callable[..., Any]

METRICS_SERVER: Json = {"metricsServer": {}}


class Source:
    """Answers each node's cpu with the same utilisation; hangs while it is closed."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []
        self.previous: list[Readings | None] = []
        self.utilisation = 0.5
        self.failures: dict[str, str] = {}
        self.mistaken_about: set[str] = set()
        self.open = asyncio.Event()
        self.open.set()

    async def refresh(
        self,
        policy: Policy,
        *,
        nodes: Iterable[NodeInfo],
        pods: Mapping[str, str],
        places: Mapping[str, PodPlace],
        now_s: float,
        previous: Readings | None,
    ) -> Readings:
        self.asked.append((policy.name, policy.generation))
        self.previous.append(previous)
        await self.open.wait()
        if policy.name in self.mistaken_about:
            raise ZeroDivisionError("a mistake of ours")
        names = tuple(node.name for node in nodes)
        metrics = {} if self.failures else {m.name: self._metric(len(names), now_s) for m in policy.metrics}
        return Readings(id=len(self.asked), taken_at_s=now_s, nodes=names, metrics=metrics, failures=self.failures)

    def _metric(self, count: int, now_s: float) -> MetricReadings:
        return MetricReadings(
            utilisation=np.full(count, self.utilisation),
            value=np.full(count, 8.0),
            capacity=np.full(count, 16.0),
            sampled_at_s=np.full(count, now_s),
            window_s=30.0,
            state=np.full(count, ReadingState.OK, dtype=np.int8),
        )


class World:
    """What the refresher writes and tells."""

    def __init__(self) -> None:
        self.leading = True
        self.written: list[tuple[str, Json]] = []
        self.error: Exception | None = None
        self.wakes = 0
        self.counted: list[str] = []
        self.broken: list[str] = []
        self.events: list[str] = []
        self.failed: list[BaseException] = []

    async def write(self, entry: PolicyEntry, status: Json) -> None:
        if self.error:
            raise self.error
        self.written.append((entry.name, status))

    def wake(self) -> None:
        self.wakes += 1

    def refreshed(self, policy: Policy, overview: PolicyOverview) -> None:
        assert overview.policy is policy

    def status_write(self, result: str) -> None:
        self.counted.append(result)

    def refresh_failed(self, name: str) -> None:
        self.broken.append(name)

    def forgotten(self, name: str) -> None:
        self.counted.append(f"forgotten {name}")


@pytest.fixture
def source() -> Source:
    return Source()


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
async def refresher(scheduler: Scheduler, source: Source, world: World) -> AsyncIterator[Refresher]:
    made: Refresher

    def changed(name: str) -> None:
        made.changed(name)

    book = PolicyBook(scheduler, changed=changed)
    made = Refresher(
        scheduler=scheduler,
        policies=book,
        sources=source,
        node_of={},
        place_of={},
        write=world.write,
        record=lambda event: world.events.append(event.reason),
        controller="plimsoll",
        leading=lambda: world.leading,
        wake=world.wake,
        observer=world,
        sleep=lambda seconds: asyncio.sleep(seconds / 100),
    )
    made.start(failed=world.failed.append)
    yield made
    await made.stop()
    assert world.failed == []


@pytest.fixture
def book(refresher: Refresher) -> PolicyBook:
    return refresher.policies


def _load_score(scheduler: Scheduler) -> float | None:
    overview = scheduler.overview("p", now_s=time.time())
    assert overview
    return overview.nodes[0].score


async def test_a_policy_is_read_and_shown_at_once(
    scheduler: Scheduler, book: PolicyBook, world: World, policy_object: Make, until: Until
) -> None:
    book.seen(policy_object("p", metricsSource=METRICS_SERVER, weights={"cpu": 1}))
    await until(lambda: world.written)
    ((name, status),) = world.written
    assert name == "p"
    assert status["nodes"]["summary"] == "2/2"
    assert {row["score"] for row in status["scores"]} == {50}
    assert world.wakes >= 2


async def test_a_changed_weight_shows_at_once(
    *, scheduler: Scheduler, book: PolicyBook, source: Source, world: World, policy_object: Make, until: Until
) -> None:
    book.seen(policy_object("p", metricsSource=METRICS_SERVER, weights={"cpu": 1}))
    await until(lambda: world.written)
    changed = policy_object("p", generation=2, version=2, metricsSource=METRICS_SERVER, weights={"memory": 1})
    book.seen(changed)
    await until(lambda: len(world.written) == 2)
    assert source.asked == [("p", 1), ("p", 2)]
    status = world.written[-1][1]
    assert status["observedGeneration"] == 2
    assert set(status["scores"][0]["metrics"]) == {"memory"}


async def test_it_is_read_at_every_interval_and_written_when_something_changed(
    book: PolicyBook, source: Source, world: World, policy_object: Make, until: Until
) -> None:
    book.seen(policy_object("p", metricsSource=METRICS_SERVER, weights={"cpu": 1}, refreshInterval="5s"))
    await until(lambda: len(source.asked) >= 2)
    await until(lambda: "skipped" in world.counted)
    assert len(world.written) == 1
    source.utilisation = 0.9
    await until(lambda: len(world.written) == 2)
    assert source.previous[0] is None
    assert source.previous[1] is not None


async def test_a_standby_reads_and_writes_nothing(
    *, scheduler: Scheduler, book: PolicyBook, source: Source, world: World, policy_object: Make, until: Until
) -> None:
    world.leading = False
    book.seen(policy_object("p", metricsSource=METRICS_SERVER, weights={"cpu": 1}))
    await until(lambda: source.asked and _load_score(scheduler) == pytest.approx(50, abs=1))
    assert world.written == []


async def test_a_policy_that_is_gone_is_read_no_longer(
    book: PolicyBook, source: Source, world: World, policy_object: Make, until: Until
) -> None:
    book.seen(policy_object("p", metricsSource=METRICS_SERVER, weights={"cpu": 1}, refreshInterval="5s"))
    await until(lambda: world.written)
    book.gone(policy_object("p", version=2))
    await asyncio.sleep(0.2)
    assert len(source.asked) == 1
    assert "forgotten p" in world.counted


async def test_a_policy_that_goes_while_it_is_read_is_read_no_longer(
    book: PolicyBook, source: Source, world: World, policy_object: Make, until: Until
) -> None:
    source.open.clear()
    book.seen(policy_object("p", metricsSource=METRICS_SERVER, weights={"cpu": 1}, refreshInterval="5s"))
    await until(lambda: source.asked)
    book.gone(policy_object("p", version=2))
    source.open.set()
    await asyncio.sleep(0.2)
    assert len(source.asked) == 1
    assert world.broken == []


async def test_a_policy_without_metrics_is_shown_without_asking(
    book: PolicyBook, source: Source, world: World, policy_object: Make, until: Until
) -> None:
    auth = {"bearerToken": {"name": "s", "key": "k"}}
    prometheus = {"url": "http://prometheus:9090", "auth": auth}
    book.seen(policy_object("p", metricsSource={"prometheus": prometheus}, weights={"cpu": 1}))
    await until(lambda: world.written)
    assert source.asked == []
    ready = next(c for c in world.written[0][1]["conditions"] if c["type"] == "Ready")
    assert (ready["status"], ready["reason"]) == ("True", "NotYetEnforced")


async def test_a_policy_that_cannot_be_read_gets_a_condition(
    book: PolicyBook, source: Source, world: World, policy_object: Make, until: Until
) -> None:
    book.seen(policy_object("p", podSelector="everything"))
    await until(lambda: world.written)
    ready = next(c for c in world.written[0][1]["conditions"] if c["type"] == "Ready")
    assert (ready["status"], ready["reason"]) == ("False", "Invalid")
    assert "spec.podSelector" in ready["message"]
    assert source.asked == []


@pytest.mark.parametrize(
    ("error", "counted"),
    [
        pytest.param(Conflict("recreated", status=409), [], id="recreated"),
        pytest.param(Unavailable("away", status=0), ["failed"], id="API server away"),
    ],
)
async def test_a_status_that_cannot_be_written_is_written_later(
    *, book: PolicyBook, world: World, policy_object: Make, until: Until, error: Exception, counted: list[str]
) -> None:
    world.error = error
    book.seen(policy_object("p", metricsSource=METRICS_SERVER, weights={"cpu": 1}, refreshInterval="5s"))
    await asyncio.sleep(0.02)
    assert world.counted == counted
    world.error = None
    await until(lambda: world.written)


async def test_the_start_waits_for_first_answers_but_not_for_ever(
    refresher: Refresher, book: PolicyBook, source: Source, policy_object: Make
) -> None:
    source.open.clear()
    book.seen(policy_object("p", metricsSource=METRICS_SERVER, weights={"cpu": 1}))
    waiting = asyncio.create_task(refresher.wait_first_answers())
    await asyncio.sleep(0.05)
    assert not waiting.done()
    source.open.set()
    await asyncio.wait_for(waiting, 1)
    source.open.clear()
    book.seen(policy_object("hangs", version=5, metricsSource=METRICS_SERVER, weights={"cpu": 1}))
    await asyncio.wait_for(refresher.wait_first_answers(within_s=0.1), 1)


async def test_metrics_that_stop_counting_are_told_once_and_their_return_as_well(
    book: PolicyBook, source: Source, world: World, policy_object: Make, until: Until
) -> None:
    source.failures = {"": "metrics.k8s.io is not served."}
    book.seen(policy_object("p", metricsSource=METRICS_SERVER, weights={"cpu": 1}, refreshInterval="5s"))
    await until(lambda: len(source.asked) >= 3)
    assert world.events == ["MetricsSetAside"]
    source.failures = {}
    await until(lambda: world.events == ["MetricsSetAside", "MetricsInForce"])


async def test_a_mistake_in_one_refresh_is_told_and_neither_ends_it_nor_others(
    *,
    refresher: Refresher,
    book: PolicyBook,
    source: Source,
    world: World,
    policy_object: Make,
    until: Until,
    caplog: pytest.LogCaptureFixture,
) -> None:
    source.mistaken_about = {"p"}
    for name in ("p", "q"):
        book.seen(policy_object(name, metricsSource=METRICS_SERVER, weights={"cpu": 1}, refreshInterval="5s"))
    await asyncio.wait_for(refresher.wait_first_answers(), 1)
    await until(lambda: source.asked.count(("p", 1)) >= 3 and source.asked.count(("q", 1)) >= 3)
    assert set(world.broken) == {"p"}
    assert "ZeroDivisionError: a mistake of ours" in caplog.text
    shown = dict(world.written)
    assert "see the traceback in the log" in str(shown["p"]["conditions"])
    assert shown["q"]["nodes"]["summary"] == "2/2"
    source.mistaken_about = set()
    await until(lambda: dict(world.written)["p"]["nodes"]["summary"] == "2/2")


async def test_a_mistake_in_showing_a_policy_does_not_end_its_refreshes(
    book: PolicyBook, source: Source, world: World, policy_object: Make, until: Until
) -> None:
    world.error = ZeroDivisionError("a mistake of ours")
    book.seen(policy_object("p", metricsSource=METRICS_SERVER, weights={"cpu": 1}, refreshInterval="5s"))
    book.seen(policy_object("invalid", podSelector="everything"))
    await until(lambda: set(world.broken) == {"p", "invalid"} and len(source.asked) >= 3)
    world.error = None
    await until(lambda: {name for name, _ in world.written} == {"p", "invalid"})
