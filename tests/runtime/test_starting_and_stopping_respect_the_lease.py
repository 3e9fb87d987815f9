from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from plimsoll.cluster.reservation import Reservation
from plimsoll.kube.config import ClusterAccess
from plimsoll.kube.connection import Connection
from plimsoll.kube.resources import ACCESS_REVIEWS
from plimsoll.reporting.conditions import PodCondition
from plimsoll.reporting.events import failed_scheduling, scheduled
from plimsoll.runtime.app import Operator
from plimsoll.runtime.parts import Parts
from plimsoll.runtime.settings import Settings
from plimsoll.scheduling.decision import Bind
from plimsoll.scheduling.preparing import Preparation
from tests.builders import make_node, make_pod
from tests.kube.api_server import ApiServer

Until = Callable[..., Any]

SETTINGS = Settings(lease_duration_s=3.0, renew_deadline_s=2.0, retry_period_s=0.05)
NODES = "/api/v1/nodes"
STATUS = "/api/v1/namespaces/default/pods/web/status"
NO_CPU = PodCondition("False", "Unschedulable", "no cpu")
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/default/leases/plimsoll"


@pytest.fixture(autouse=True)
def _collector_as_before() -> Iterator[None]:
    """A start settles the memory of its process, which here is that of other tests as well."""
    thresholds = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*thresholds)


@pytest.fixture
async def server() -> AsyncIterator[ApiServer]:
    """Allows everything, and serves an empty cluster."""
    async with ApiServer.running() as running:
        running.respond("GET", "/apis/plimsoll.dev/v1alpha1", {"resources": [{"name": "schedulingpolicies"}]})
        running.respond("GET", "/api", {"versions": []})
        running.respond("GET", "/apis", {"groups": []})
        running.respond("POST", ACCESS_REVIEWS.path(), {"status": {"allowed": True}}, status=201)
        yield running


@pytest.fixture
async def parts(server: ApiServer, tmp_path: Path) -> AsyncIterator[Parts]:
    connection = Connection(ClusterAccess(str(server.kubeconfig(tmp_path))))
    made = Parts(SETTINGS, connection, kopf_started=lambda: None)
    yield made
    await made.client.close()


@pytest.fixture
async def operator(parts: Parts) -> AsyncIterator[Operator]:
    made = Operator(SETTINGS, parts)
    yield made
    await made.stop()


async def _held_by_another(server: ApiServer) -> None:
    spec = {"holderIdentity": "another", "leaseDurationSeconds": 60, "renewTime": "2024-01-01T00:00:00.000000Z"}
    await server.put(LEASE, {"metadata": {"name": "plimsoll", "namespace": "default"}, "spec": spec})


async def _let_go(server: ApiServer) -> None:
    lease = server.objects[LEASE]
    await server.put(LEASE, {**lease, "spec": {**lease["spec"], "holderIdentity": ""}})


async def test_first_lists_under_the_lease_are_new_enough_to_decide_on(operator: Operator, parts: Parts) -> None:
    await operator.start()
    assert parts.leadership.may_decide


async def test_lists_from_before_the_lease_are_not(
    server: ApiServer, operator: Operator, parts: Parts, until: Until
) -> None:
    """The predecessor may have bound pods after they were read."""
    await _held_by_another(server)

    async def late(_: web.Request) -> web.StreamResponse:
        listed = {"metadata": {"resourceVersion": str(server.version)}, "items": []}
        await _let_go(server)
        await until(lambda: parts.leadership.leading)
        return web.json_response(listed)

    server.answer("GET", NODES, late, times=1)
    await operator.start()
    assert parts.leadership.leading
    assert not parts.leadership.may_decide
    await until(lambda: parts.leadership.may_decide)


async def test_conditions_are_not_written_once_the_lease_is_let_go(
    server: ApiServer, operator: Operator, parts: Parts
) -> None:
    await operator.start()
    for i in range(600):
        parts.conditions.unscheduled(make_pod(f"p{i}").info(), NO_CPU)
    await asyncio.sleep(0.1)
    await operator.stop()
    released = next(i for i, (_, path, body) in reversed(list(enumerate(server.bodies))) if path == LEASE)
    assert server.bodies[released][2]["spec"]["holderIdentity"] == ""
    assert [path for method, path, _ in server.bodies[released:] if method == "PATCH"] == []
    assert 0 < server.count("PATCH") < 600


async def test_conditions_that_wait_are_dropped_when_another_takes_the_lease(
    server: ApiServer, operator: Operator, parts: Parts, until: Until
) -> None:
    await operator.start()
    pods = [make_pod(f"p{i}").info() for i in range(600)]
    for pod in pods:
        parts.conditions.unscheduled(pod, NO_CPU)
    await _held_by_another(server)
    await until(lambda: not parts.leadership.leading)
    assert not any(parts.conditions.under_way(pod.uid) for pod in pods[-100:])


async def test_a_condition_that_failed_is_not_tried_again_by_who_has_resigned(
    server: ApiServer, operator: Operator, parts: Parts, until: Until
) -> None:
    await operator.start()
    pod = make_pod("web").info()
    server.fail("PATCH", STATUS, status=503)
    parts.conditions.unscheduled(pod, NO_CPU)
    await until(lambda: server.count("PATCH", STATUS))
    parts.leadership.resign()
    await until(lambda: not parts.conditions.under_way(pod.uid))
    assert server.count("PATCH", STATUS) == 1


async def test_no_condition_is_on_its_way_when_the_lease_is_let_go(
    server: ApiServer, operator: Operator, parts: Parts, until: Until
) -> None:
    await operator.start()
    pod, on_its_way = make_pod("web").info(), list[bool]()
    server.hang("PATCH", STATUS)
    parts.conditions.unscheduled(pod, NO_CPU)
    await until(lambda: server.count("PATCH", STATUS))

    async def put(_: web.Request) -> web.StreamResponse:
        on_its_way.append(parts.conditions.under_way(pod.uid))
        return web.json_response(server.objects[LEASE])

    server.answer("PUT", LEASE, put)
    await operator.stop()
    assert server.sent("PUT", LEASE)[-1]["spec"]["holderIdentity"] == ""
    assert on_its_way[-1] is False


async def test_a_stop_is_through_in_time_though_the_lease_cannot_be_released(
    server: ApiServer, operator: Operator
) -> None:
    await operator.start()
    server.hang("PUT", LEASE, times=100)
    began_s = time.monotonic()
    await operator.stop()
    assert time.monotonic() - began_s < 4.5


def _places(parts: Parts, count: int) -> None:
    for i in range(count):
        parts.events.record(scheduled(make_pod(f"p{i}").info(), node="n1", controller="plimsoll"))


def _dropped(parts: Parts) -> float:
    (metric,) = (m for m in parts.telemetry.registry.collect() if m.name == "plimsoll_events_dropped")
    return sum(sample.value for sample in metric.samples if sample.labels.get("cause") == "stopped")


async def test_a_stop_takes_its_time_for_events_that_wait(server: ApiServer, operator: Operator, parts: Parts) -> None:
    """A backlog by an API server that takes 64 in a quarter of a second; Bindings have no precedence any more."""

    async def slowly(_: web.Request) -> web.StreamResponse:
        await asyncio.sleep(0.25)
        return web.json_response({}, status=201)

    await operator.start()
    server.answer("POST", EVENTS, slowly)
    for i in range(600):
        parts.conditions.unscheduled(make_pod(f"p{i}").info(), NO_CPU)
    _places(parts, 256)
    began_s = time.monotonic()
    await operator.stop()
    assert time.monotonic() - began_s < 5.0
    assert (server.count("POST", EVENTS), _dropped(parts)) == (256, 0)


async def test_events_that_a_stop_has_no_time_for_are_counted(
    server: ApiServer, operator: Operator, parts: Parts, caplog: pytest.LogCaptureFixture
) -> None:
    await operator.start()
    for _ in range(200):
        server.hang("POST", EVENTS)
    _places(parts, 100)
    began_s = time.monotonic()
    await operator.stop()
    assert time.monotonic() - began_s < 5.0
    assert server.objects[LEASE]["spec"]["holderIdentity"] == ""
    assert _dropped(parts) == 100
    assert [record.__dict__["events"] for record in caplog.records if "before the stop" in record.message] == [100]


async def test_the_lease_does_not_wait_for_events(server: ApiServer, operator: Operator, parts: Parts) -> None:
    await operator.start()
    server.hang("POST", EVENTS, times=1000)
    _places(parts, 100)
    began_s = time.monotonic()
    stopping = asyncio.create_task(operator.stop())
    while server.objects[LEASE]["spec"]["holderIdentity"]:  # noqa: ASYNC110 - the server tells nobody
        await asyncio.sleep(0.01)
    released_s = time.monotonic() - began_s
    await stopping
    assert released_s < (time.monotonic() - began_s) / 2


def _prepares(parts: Parts) -> None:
    """A pod that needs a resource claim, submitted."""
    parts.scheduler.node_seen(make_node("n1").info(), now_s=time.time())
    parts.scheduler.pod_pending(make_pod("web").info(), now_s=time.time())
    command = parts.scheduler.next_command(now_s=time.time())
    assert isinstance(command, Bind)
    command = replace(command, prepare=Preparation(reservations=(Reservation("default", "gpu", "uid-gpu"),)))
    parts.preparations.submit(command, took_s=0.0)


async def test_no_pod_is_in_preparation_when_the_lease_is_let_go(
    server: ApiServer, operator: Operator, parts: Parts, until: Until
) -> None:
    """What is written for a pod that the next holder decides on as well would come after its own."""
    await operator.start()
    server.hang("PATCH", STATUS)
    _prepares(parts)
    await until(lambda: server.count("PATCH", STATUS))
    in_preparation = list[int]()

    async def put(_: web.Request) -> web.StreamResponse:
        in_preparation.append(parts.preparations.under_way)
        return web.json_response(server.objects[LEASE])

    server.answer("PUT", LEASE, put)
    await operator.stop()
    assert server.sent("PUT", LEASE)[-1]["spec"]["holderIdentity"] == ""
    assert in_preparation[-1] == 0


async def test_the_lease_is_kept_where_what_was_sent_for_a_pod_may_still_arrive(
    server: ApiServer, operator: Operator, parts: Parts, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    await operator.start()
    monkeypatch.setattr("plimsoll.runtime.app._DRAIN_S", 0.05)
    server.hang("PATCH", STATUS)
    _prepares(parts)
    await until(lambda: server.count("PATCH", STATUS))
    await operator.stop()
    assert server.objects[LEASE]["spec"]["holderIdentity"] != ""


async def test_events_about_pods_that_wait_are_not_written_once_another_leads(
    server: ApiServer, operator: Operator, parts: Parts, until: Until
) -> None:
    await operator.start()
    await _held_by_another(server)
    await until(lambda: not parts.leadership.leading)
    parts.events.record(failed_scheduling(make_pod("web").info(), message="no cpu", controller="plimsoll"))
    await parts.events.flush()
    assert server.count("POST", EVENTS) == 0


async def test_a_pods_waiting_condition_does_not_take_its_nomination_away(
    server: ApiServer, operator: Operator, parts: Parts, until: Until
) -> None:
    """A condition that arrives late says that the pod is expected nowhere."""
    arrived = list[str]()

    async def patch(request: web.Request) -> web.StreamResponse:
        status = (await request.json())["status"]
        if "conditions" in status:
            await asyncio.sleep(0.1)
        arrived.append("condition" if "conditions" in status else str(status["nominatedNodeName"]))
        return web.json_response({})

    await operator.start()
    server.answer("PATCH", STATUS, patch)
    parts.conditions.unscheduled(make_pod("web").info(), NO_CPU)
    await until(lambda: server.count("PATCH", STATUS))
    _prepares(parts)
    await until(lambda: len(arrived) >= 2)
    assert arrived[:2] == ["condition", "n1"]
