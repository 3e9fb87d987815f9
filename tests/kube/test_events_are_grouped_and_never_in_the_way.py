from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import web

from plimsoll.kube.client import ApiClient
from plimsoll.kube.events import EventRecorder
from plimsoll.kube.share import LaggingShare
from plimsoll.kube.writers import Writers
from plimsoll.reporting.events import Event, failed_scheduling, scheduled
from tests.builders import make_pod
from tests.kube.api_server import ApiServer
from tests.kube.tasks import ended

EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
Until = Callable[..., Any]


class Times:
    def __init__(self) -> None:
        self.now_s = 1_000_000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def times() -> Times:
    return Times()


@pytest.fixture
def lost() -> list[str]:
    return []


@pytest.fixture
async def recorder(client: ApiClient, times: Times, lost: list[str]) -> AsyncIterator[EventRecorder]:
    made = EventRecorder(
        client, instance="here", per_s=1000, burst=1000, now_s=times, clock_s=times, dropped=lost.append
    )
    task = asyncio.create_task(made.run())
    yield made
    assert not task.done(), task
    await ended(task)


def _event(name: str = "web", note: str = "0/1 nodes are available.") -> Event:
    return failed_scheduling(make_pod(name).info(), message=note, controller="plimsoll")


async def test_the_first_time_is_an_object(server: ApiServer, recorder: EventRecorder) -> None:
    recorder.record(scheduled(make_pod("web").info(), node="node-1", controller="plimsoll"))
    await recorder.flush()
    (body,) = server.sent("POST", EVENTS)
    assert body["note"] == "Successfully assigned default/web to node-1"
    assert (body["reportingController"], body["reportingInstance"]) == ("plimsoll", "here")
    assert "series" not in body


async def test_later_times_are_its_series(server: ApiServer, recorder: EventRecorder, times: Times) -> None:
    for _ in range(3):
        recorder.record(_event())
        await recorder.flush()
        times.now_s += 60
    assert len(server.sent("POST", EVENTS)) == 1
    assert [patch["series"]["count"] for patch in server.sent("PATCH", EVENTS)] == [2, 3]
    assert server.sent("PATCH", EVENTS)[-1]["series"]["lastObservedTime"] == "1970-01-12T13:48:40.000000Z"


async def test_other_words_are_another_event(server: ApiServer, recorder: EventRecorder) -> None:
    recorder.record(_event(note="1 Insufficient cpu."))
    recorder.record(_event(note="1 Insufficient memory."))
    await recorder.flush()
    assert {body["note"] for body in server.objects.values()} == {"1 Insufficient cpu.", "1 Insufficient memory."}


async def test_after_six_quiet_minutes_a_new_event_begins(
    server: ApiServer, recorder: EventRecorder, times: Times
) -> None:
    recorder.record(_event())
    await recorder.flush()
    times.now_s += 361
    recorder.record(_event())
    await recorder.flush()
    assert len(server.sent("POST", EVENTS)) == 2
    assert server.sent("PATCH", EVENTS) == []


async def test_a_series_whose_object_has_expired_begins_anew(server: ApiServer, recorder: EventRecorder) -> None:
    recorder.record(_event())
    await recorder.flush()
    (name,) = server.objects
    await server.delete(name)
    recorder.record(_event())
    await recorder.flush()
    assert len(server.sent("POST", EVENTS)) == 2
    assert server.sent("POST", EVENTS)[-1]["series"]["count"] == 2


async def test_what_happens_often_before_it_is_written_is_written_once(
    server: ApiServer, recorder: EventRecorder
) -> None:
    for _ in range(50):
        recorder.record(_event())
    await recorder.flush()
    assert len(server.sent("POST", EVENTS)) == 1
    assert server.sent("POST", EVENTS)[0]["series"]["count"] == 50


async def test_recording_never_waits_and_what_is_too_much_is_counted(client: ApiClient, lost: list[str]) -> None:
    recorder = EventRecorder(client, instance="here", waiting=10, dropped=lost.append)
    for i in range(25):
        recorder.record(_event(f"pod-{i}"))
    assert lost == ["backlog"] * 15


async def test_the_budget_holds(server: ApiServer, client: ApiClient) -> None:
    recorder = EventRecorder(client, instance="here", per_s=20, burst=5)
    task = asyncio.create_task(recorder.run())
    began_s = time.monotonic()
    for i in range(15):
        recorder.record(_event(f"pod-{i}"))
    await recorder.flush()
    await ended(task)
    assert 0.4 <= time.monotonic() - began_s < 2
    assert len(server.sent("POST", EVENTS)) == 15


async def test_what_has_precedence_leaves_room_for_few_at_a_time(
    server: ApiServer, client: ApiClient, times: Times, until: Until
) -> None:
    busy, answering = [True], asyncio.Event()
    under_way = [0, 0]

    async def slowly(request: web.Request) -> web.StreamResponse:
        under_way[0] += 1
        under_way[1] = max(under_way)
        await answering.wait()
        under_way[0] -= 1
        return web.json_response({}, status=201)

    server.answer("POST", EVENTS, slowly)
    share = LaggingShare(few=2, most=8, early_s=2.0, late_s=8.0)
    recorder = EventRecorder(client, instance="here", busy=lambda: busy[0], share=share, now_s=times, clock_s=times)
    task = asyncio.create_task(recorder.run())
    for i in range(20):
        recorder.record(_event(f"pod-{i}"))
    await until(lambda: under_way[0] == 2)
    assert (recorder.waiting, recorder.lag_s) == (18, 0.0)
    times.now_s += 5.0
    await until(lambda: under_way[0] == 5)
    assert recorder.lag_s == 5.0
    busy[0] = False
    await until(lambda: under_way[0] == 8)
    answering.set()
    await recorder.flush()
    await ended(task)
    assert (len(server.sent("POST", EVENTS)), under_way[1], recorder.lag_s) == (20, 8, 0.0)


async def test_pods_that_are_placed_push_no_repetition_out(server: ApiServer, recorder: EventRecorder) -> None:
    recorder.record(_event())
    for i in range(4200):
        recorder.record(scheduled(make_pod(f"pod-{i}").info(), node="node-1", controller="plimsoll"))
    await recorder.flush()
    recorder.record(_event())
    await recorder.flush()
    assert [patch["series"]["count"] for patch in server.sent("PATCH", EVENTS)] == [2]


@pytest.mark.parametrize(
    ("oldest_s", "others_busy", "want"),
    [
        pytest.param(0.0, False, 64, id="nobody else"),
        pytest.param(0.0, True, 4, id="fresh"),
        pytest.param(2.0, True, 4, id="still early"),
        pytest.param(5.0, True, 34, id="half way"),
        pytest.param(8.0, True, 64, id="late"),
        pytest.param(60.0, True, 64, id="later still"),
    ],
)
def test_the_share_grows_with_the_age_of_the_oldest(oldest_s: float, *, others_busy: bool, want: int) -> None:
    share = LaggingShare(few=4, most=64, early_s=2.0, late_s=8.0)
    assert share.under_way(oldest_s=oldest_s, others_busy=others_busy) == want


@pytest.mark.parametrize("status", [429, 500])
async def test_an_api_server_in_trouble_is_tried_again(
    server: ApiServer, recorder: EventRecorder, lost: list[str], status: int
) -> None:
    server.fail("POST", EVENTS, status=status, times=2)
    recorder.record(_event())
    await recorder.flush()
    assert len(server.objects) == 1
    assert lost == []


async def test_an_event_that_is_refused_is_given_up(
    server: ApiServer, recorder: EventRecorder, lost: list[str]
) -> None:
    server.fail("POST", EVENTS, status=422, times=1)
    recorder.record(_event())
    await recorder.flush()
    assert lost == ["refused"]
    recorder.record(_event("another"))
    await recorder.flush()
    assert len(server.objects) == 1


async def test_an_event_that_was_written_without_an_answer_is_not_written_twice(
    server: ApiServer, recorder: EventRecorder, lost: list[str]
) -> None:
    server.fail("POST", EVENTS, status=500, carried_out=True)
    recorder.record(_event())
    await recorder.flush()
    assert len(server.objects) == 1
    assert lost == []


async def test_who_leads_no_longer_tells_what_was_done_and_not_who_waits(
    server: ApiServer, client: ApiClient, lost: list[str]
) -> None:
    """The budget would hold the others up for minutes."""
    recorder = EventRecorder(client, instance="here", leading=lambda: False, per_s=10, burst=1, dropped=lost.append)
    for i in range(3000):
        recorder.record(_event(f"pod-{i}"))
    recorder.record(scheduled(make_pod("web").info(), node="node-1", controller="plimsoll"))
    task = asyncio.create_task(recorder.run())
    await asyncio.wait_for(recorder.flush(), 5.0)
    await ended(task)
    assert [body["reason"] for body in server.sent("POST", EVENTS)] == ["Scheduled"]
    assert lost == ["not leading"] * 3000


async def test_an_event_is_not_tried_again_by_who_has_lost_the_lease(
    server: ApiServer, client: ApiClient, lost: list[str]
) -> None:
    leading = [True]

    async def refused(_: web.Request) -> web.StreamResponse:
        leading.append(False)
        return web.json_response({}, status=503)

    server.answer("POST", EVENTS, refused)
    recorder = EventRecorder(client, instance="here", leading=lambda: leading[-1], dropped=lost.append)
    recorder.record(_event())
    task = asyncio.create_task(recorder.run())
    await recorder.flush()
    await ended(task)
    assert (server.count("POST", EVENTS), lost) == (1, ["not leading"])


async def test_who_leads_again_tells_it_anew(server: ApiServer, client: ApiClient) -> None:
    leading = [False]
    recorder = EventRecorder(client, instance="here", leading=lambda: leading[-1])
    task = asyncio.create_task(recorder.run())
    recorder.record(_event())
    await recorder.flush()
    leading.append(True)
    recorder.record(_event())
    await recorder.flush()
    await ended(task)
    assert [body["series"]["count"] for body in server.sent("POST", EVENTS)] == [2]


async def _answered_late(server: ApiServer, method: str, path: str, late: asyncio.Event) -> None:
    """The next such request is carried out at once, and answered when ``late`` is set."""

    async def answer(request: web.Request) -> web.StreamResponse:
        body = await request.json()
        key = f"{EVENTS}/{body['metadata']['name']}" if method == "POST" else path
        await server.put(key, {**server.objects.get(key, {}), **body})
        await late.wait()
        return web.json_response(body)

    server.answer(method, path, answer, times=1)


async def test_what_happens_again_while_it_is_first_written_is_added_afterwards(
    server: ApiServer, recorder: EventRecorder, until: Until
) -> None:
    answered = asyncio.Event()
    await _answered_late(server, "POST", EVENTS, answered)
    recorder.record(_event())
    await until(lambda: server.count("POST", EVENTS))
    recorder.record(_event())
    recorder.record(_event())
    await asyncio.sleep(0.1)
    assert (server.count("POST", EVENTS), server.count("PATCH")) == (1, 0), "one request per series at a time"
    answered.set()
    await recorder.flush()
    (stored,) = server.objects.values()
    assert stored["series"]["count"] == 3
    assert (server.count("POST", EVENTS), server.count("PATCH")) == (1, 1)


async def test_counts_never_go_backwards(server: ApiServer, recorder: EventRecorder, until: Until) -> None:
    recorder.record(_event())
    await recorder.flush()
    (path,) = server.objects
    arrived, slow = list[int](), asyncio.Event()

    async def patch(request: web.Request) -> web.StreamResponse:
        count = (await request.json())["series"]["count"]
        if count == 2:
            await slow.wait()
        arrived.append(count)
        return web.json_response({})

    server.answer("PATCH", path, patch)
    recorder.record(_event())
    await until(lambda: server.count("PATCH"))
    recorder.record(_event())
    await asyncio.sleep(0.1)
    slow.set()
    await recorder.flush()
    assert arrived == [2, 3]


async def test_times_that_an_unanswered_first_try_did_not_tell_of_are_added(
    server: ApiServer, recorder: EventRecorder, until: Until
) -> None:
    server.fail("POST", EVENTS, status=503, carried_out=True)
    recorder.record(_event())
    await until(lambda: server.count("POST", EVENTS))
    recorder.record(_event())
    await recorder.flush()
    (stored,) = server.objects.values()
    assert stored["series"]["count"] == 2


async def test_what_cannot_be_told_is_not_tried_for_ever(client: ApiClient, server: ApiServer, lost: list[str]) -> None:
    recorder = EventRecorder(client, instance="here", leading=lambda: False, dropped=lost.append)
    task = asyncio.create_task(recorder.run())
    for _ in range(2):
        recorder.record(_event())
        await asyncio.wait_for(recorder.flush(), 5.0)
    await ended(task)
    assert (lost, server.count("POST", EVENTS)) == (["not leading"] * 2, 0)


async def test_what_is_not_written_at_the_end_is_counted_and_told(
    server: ApiServer, client: ApiClient, lost: list[str], until: Until, caplog: pytest.LogCaptureFixture
) -> None:
    share = LaggingShare(few=2, most=4, early_s=60.0, late_s=70.0)
    recorder = EventRecorder(client, instance="here", busy=lambda: True, share=share, dropped=lost.append)
    server.hang("POST", EVENTS, times=100)
    task = asyncio.create_task(recorder.run())
    for i in range(20):
        recorder.record(_event(f"pod-{i}"))
    await until(lambda: server.count("POST", EVENTS) == 2)
    await ended(task)
    assert lost == ["stopped"] * 20
    assert [record.__dict__["events"] for record in caplog.records if "before the stop" in record.message] == [20]


class _Writing:
    """Things that are begun and never through."""

    def __init__(self, share: LaggingShare) -> None:
        self.begun = 0
        self.writers = Writers(
            share=share, waiting=lambda: 20 - self.begun, lag_s=lambda: 60.0, busy=lambda: True, write_next=self._next
        )

    async def _next(self) -> None:
        self.begun += 1
        await asyncio.Event().wait()


@pytest.fixture
def clock_s(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The writers' own; of the list the last."""
    now_s = [1000.0]
    monkeypatch.setattr("plimsoll.kube.writers.time", SimpleNamespace(monotonic=lambda: now_s[-1]))
    return now_s


async def test_an_api_server_that_takes_nothing_gets_nothing_and_then_few_however_late_they_are(
    until: Until, clock_s: list[float]
) -> None:
    writing = _Writing(LaggingShare(few=2, most=8, early_s=0.0, late_s=1.0))
    writing.writers.pause(3600.0)
    writing.writers.pause(1.0)
    task = asyncio.create_task(writing.writers.run())
    for later_s, begun in ((29.0, 0), (1.5, 2), (0.1, 2), (1.0, 8)):
        clock_s.append(clock_s[-1] + later_s)
        await asyncio.sleep(0.1)
        await until(lambda begun=begun: writing.begun == begun)
    await ended(task)


async def test_pauses_that_follow_each_other_are_longer(clock_s: list[float]) -> None:
    writing = _Writing(LaggingShare(few=2, most=8))
    waited_s = list[float]()
    for goes_well_s in (0.0, 0.5, 0.5, 2.0):
        began_s = clock_s[-1] + goes_well_s
        clock_s.append(began_s)
        writing.writers.pause(0.0)
        while writing.writers.paused:
            clock_s.append(clock_s[-1] + 0.01)
        waited_s.append(clock_s[-1] - began_s)
    assert 0.19 < waited_s[0] < waited_s[1] < waited_s[2]
    assert waited_s[3] < waited_s[1], "it went well for a while"


async def test_a_pause_is_over_when_the_process_ends(until: Until) -> None:
    writing = _Writing(LaggingShare(few=2, most=8))
    task = asyncio.create_task(writing.writers.run())
    writing.writers.pause(3600.0)
    writing.writers.hurry()
    await until(lambda: writing.begun == 8)
    await ended(task)


@pytest.mark.parametrize("status", [429, 503])
async def test_while_an_api_server_takes_nothing_no_event_is_lost_nor_asked_for_all_at_once(
    server: ApiServer, recorder: EventRecorder, lost: list[str], until: Until, status: int
) -> None:
    """Many are under way as it begins: each is refused once, and then a few try."""
    refusing, asked = [True], list[float]()

    async def answer(request: web.Request) -> web.StreamResponse:
        asked.append(time.monotonic())
        if refusing[0]:
            return web.json_response({}, status=status, headers={"Retry-After": "1"})
        return web.json_response(await request.json(), status=201)

    server.answer("POST", EVENTS, answer)
    for i in range(300):
        recorder.record(_event(f"pod-{i}"))
    await until(lambda: asked and recorder.waiting == 300, within_s=10)
    first = len(asked)
    await until(lambda: asked[-1] - asked[first - 1] > 2.5, within_s=20)
    few = LaggingShare().few
    assert first <= LaggingShare().most
    assert len(asked) - first <= few * (1 + asked[-1] - asked[first - 1]), "a few each second, as long as it asked for"
    refusing[0] = False
    await asyncio.wait_for(recorder.flush(), 20.0)
    assert len({body["regarding"]["name"] for body in server.sent("POST", EVENTS)}) == 300
    assert lost == []


async def test_an_event_that_alone_is_not_wanted_so_often_does_not_keep_others(
    server: ApiServer, recorder: EventRecorder, times: Times, lost: list[str], until: Until
) -> None:
    """As the admission plugin EventRateLimit answers; in the end it is given up."""

    async def answer(request: web.Request) -> web.StreamResponse:
        body = await request.json()
        unwanted = body["regarding"]["name"] == "unwanted"
        return web.json_response(body, status=429 if unwanted else 201)

    server.answer("POST", EVENTS, answer)
    recorder.record(_event("unwanted"))
    for i in range(50):
        recorder.record(_event(f"pod-{i}"))
    await until(lambda: recorder.waiting == 1 and server.count("POST", EVENTS) >= 52, within_s=10)
    assert lost == []
    times.now_s += 601
    await asyncio.wait_for(recorder.flush(), 20.0)
    assert lost == ["unanswered"]


def test_events_are_never_as_late_as_they_may_be() -> None:
    share = LaggingShare()
    assert share.under_way(oldest_s=8.0, others_busy=True) == share.most
    assert 48 < share.most < 150, "more than Bindings, and with them less than an API server takes at once"


async def test_nothing_has_precedence_once_the_process_ends(server: ApiServer, client: ApiClient, until: Until) -> None:
    share = LaggingShare(few=2, most=8, early_s=60.0, late_s=70.0)
    recorder = EventRecorder(client, instance="here", busy=lambda: True, share=share)
    server.hang("POST", EVENTS, times=100)
    task = asyncio.create_task(recorder.run())
    for i in range(20):
        recorder.record(_event(f"pod-{i}"))
    await until(lambda: server.count("POST", EVENTS) == 2)
    recorder.hurry()
    await until(lambda: server.count("POST", EVENTS) == 8)
    await ended(task)
