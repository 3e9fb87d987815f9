from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web

from plimsoll.cluster.pod import Uid
from plimsoll.kube.client import ApiClient
from plimsoll.kube.pod_status import PodStatusWriter
from plimsoll.kube.share import LaggingShare
from plimsoll.reporting.conditions import PodCondition
from tests.builders import make_pod
from tests.kube.api_server import ApiServer
from tests.kube.tasks import ended

POD = "/api/v1/namespaces/default/pods/web"
STATUS = f"{POD}/status"
Until = Callable[..., Any]


@pytest.fixture
def known() -> dict[Uid, PodCondition]:
    return {}


@pytest.fixture
def leading() -> list[bool]:
    """Whether the process leads: the last says."""
    return [True]


@pytest.fixture
async def writer(
    server: ApiServer, client: ApiClient, known: dict[Uid, PodCondition], leading: list[bool]
) -> AsyncIterator[PodStatusWriter]:
    await server.put(POD, make_pod("web").obj())
    made = PodStatusWriter(
        client,
        condition_of=known.get,
        written=known.__setitem__,
        may_write=lambda: leading[-1],
        timeout_s=5.0,
        burst=20,
        now_s=lambda: 0.0,
    )
    task = asyncio.create_task(made.run())
    yield made
    assert not task.done(), task
    await ended(task)


def _condition(message: str) -> PodCondition:
    return PodCondition("False", "Unschedulable", message)


def _messages(server: ApiServer) -> list[str]:
    return [body["status"]["conditions"][0]["message"] for body in server.sent("PATCH", STATUS)]


async def test_a_condition_is_written_once_per_change(server: ApiServer, writer: PodStatusWriter, until: Until) -> None:
    pod = make_pod("web").info()
    for message in ("no cpu", "no cpu", "no memory", "no memory"):
        writer.unscheduled(pod, _condition(message))
        await until(lambda: not writer.under_way(pod.uid))
        await asyncio.sleep(0.02)
    assert _messages(server) == ["no cpu", "no memory"]


async def test_the_newest_of_those_that_wait_is_written(
    server: ApiServer, writer: PodStatusWriter, until: Until
) -> None:
    pod = make_pod("web").info()
    writer.unscheduled(pod, _condition("first"))
    writer.unscheduled(pod, _condition("second"))
    await until(lambda: _messages(server))
    assert _messages(server) == ["second"]


async def test_what_is_withdrawn_is_not_written(server: ApiServer, writer: PodStatusWriter) -> None:
    pod = make_pod("web").info()
    writer.unscheduled(pod, _condition("no cpu"))
    await writer.withdraw(pod.uid)
    await asyncio.sleep(0.05)
    assert _messages(server) == []
    assert not writer.under_way(pod.uid)


async def test_withdrawing_waits_for_what_is_being_written(
    server: ApiServer, writer: PodStatusWriter, known: dict[Uid, PodCondition], until: Until
) -> None:
    pod = make_pod("web").info()
    server.fail("PATCH", STATUS, status=503)
    writer.unscheduled(pod, _condition("no cpu"))
    await until(lambda: server.count("PATCH", STATUS))
    assert known == {}
    await writer.withdraw(pod.uid)
    assert known == {pod.uid: _condition("no cpu")}


async def test_another_pod_of_the_name_is_left_alone(server: ApiServer, writer: PodStatusWriter, until: Until) -> None:
    await server.put(POD, make_pod("web").metadata(uid="another").obj())
    writer.unscheduled(make_pod("web").info(), _condition("no cpu"))
    await until(lambda: server.count("PATCH", STATUS))
    await asyncio.sleep(0.02)
    assert "conditions" not in server.objects[POD]["status"]
    assert server.count("PATCH", STATUS) == 1


async def test_a_pod_that_is_gone_or_refused_does_not_hold_up_others(
    server: ApiServer, writer: PodStatusWriter, until: Until
) -> None:
    server.fail("PATCH", STATUS, status=422)
    writer.unscheduled(make_pod("gone").info(), _condition("no cpu"))
    writer.unscheduled(make_pod("web").info(), _condition("no cpu"))
    await until(lambda: server.count("PATCH") == 2)
    writer.unscheduled(make_pod("web").info(), _condition("no memory"))
    await until(lambda: "conditions" in server.objects[POD]["status"])


async def test_who_leads_no_longer_writes_nothing_and_keeps_nothing(
    server: ApiServer, writer: PodStatusWriter, leading: list[bool], until: Until
) -> None:
    pods = [make_pod(f"p{i}").info() for i in range(60)]
    for pod in pods:
        writer.unscheduled(pod, _condition("no cpu"))
    await until(lambda: server.count("PATCH") >= 20)
    leading.append(False)
    written = server.count("PATCH")
    await until(lambda: not any(writer.under_way(pod.uid) for pod in pods))
    leading.append(True)
    await asyncio.sleep(0.1)
    assert server.count("PATCH") <= written + 4, "what was on its way arrives, nothing else"


async def test_who_leads_no_longer_does_not_try_again(
    server: ApiServer, writer: PodStatusWriter, leading: list[bool], until: Until
) -> None:
    pod = make_pod("web").info()
    server.fail("PATCH", STATUS, status=503)
    writer.unscheduled(pod, _condition("no cpu"))
    await until(lambda: server.count("PATCH", STATUS))
    leading.append(False)
    await until(lambda: not writer.under_way(pod.uid))
    assert server.count("PATCH", STATUS) == 1


async def test_what_is_dropped_is_not_written_by_whoever_leads_again(
    server: ApiServer, writer: PodStatusWriter
) -> None:
    writer.unscheduled(make_pod("web").info(), _condition("no cpu"))
    writer.drop()
    await asyncio.sleep(0.05)
    assert server.count("PATCH") == 0


async def test_a_nomination_that_ended_is_taken_away_without_new_words(
    *, server: ApiServer, writer: PodStatusWriter, known: dict[Uid, PodCondition], until: Until
) -> None:
    pod = make_pod("web").info()
    writer.unscheduled(pod, replace(_condition("no cpu"), nominated_node="n1"))
    await until(lambda: known)
    writer.clear_nomination(pod)
    await until(lambda: len(_messages(server)) == 2)
    assert [body["status"]["nominatedNodeName"] for body in server.sent("PATCH", STATUS)] == ["n1", None]
    assert _messages(server) == ["no cpu", "no cpu"]
    assert "nominatedNodeName" not in server.objects[POD]["status"]


async def test_a_nomination_that_ends_before_it_was_written_never_is(
    server: ApiServer, writer: PodStatusWriter, until: Until
) -> None:
    pod = make_pod("web").info()
    writer.unscheduled(pod, replace(_condition("no cpu"), nominated_node="n1"))
    writer.clear_nomination(pod)
    await until(lambda: _messages(server))
    assert [body["status"]["nominatedNodeName"] for body in server.sent("PATCH", STATUS)] == [None]


async def test_a_pod_without_a_condition_has_no_nomination_of_ours(server: ApiServer, writer: PodStatusWriter) -> None:
    writer.clear_nomination(make_pod("web").info())
    await asyncio.sleep(0.05)
    assert server.count("PATCH") == 0


async def test_bindings_leave_room_for_few_conditions_until_these_are_late(
    server: ApiServer, client: ApiClient, until: Until
) -> None:
    busy, now_s, answering = [True], [1000.0], asyncio.Event()

    async def slowly(_: web.Request) -> web.StreamResponse:
        await answering.wait()
        return web.json_response({})

    for i in range(20):
        server.answer("PATCH", f"/api/v1/namespaces/default/pods/p{i}/status", slowly)
    writer = PodStatusWriter(
        client,
        condition_of=lambda _: None,
        written=lambda *_: None,
        may_write=lambda: True,
        busy=lambda: busy[0],
        share=LaggingShare(few=2, most=8, early_s=1.0, late_s=4.0),
        timeout_s=5.0,
        now_s=lambda: now_s[0],
    )
    task = asyncio.create_task(writer.run())
    for i in range(20):
        writer.unscheduled(make_pod(f"p{i}").info(), _condition("no cpu"))
    await until(lambda: server.count("PATCH") == 2)
    await asyncio.sleep(0.1)
    assert server.count("PATCH") == 2
    now_s[0] += 2.5
    await until(lambda: server.count("PATCH") == 5)
    busy[0] = False
    await until(lambda: server.count("PATCH") == 8)
    answering.set()
    await until(lambda: not writer.busy)
    await ended(task)
    assert server.count("PATCH") == 20
