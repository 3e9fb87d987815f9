from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from kopf import OperatorSettings

from plimsoll.kube import handlers
from plimsoll.kube.backoff import Backoff
from plimsoll.kube.config import ClusterAccess
from plimsoll.kube.connection import Connection
from plimsoll.kube.embedding import EmbeddedKopf
from plimsoll.kube.listed import _Listed, _Sifted
from plimsoll.kube.resources import PODS as PODS_RESOURCE
from plimsoll.kube.sink import hand_on
from tests.builders import make_pod
from tests.kube.api_server import ApiServer
from tests.kube.tasks import ended

PODS = "/api/v1/pods"
POLICIES = "/apis/plimsoll.dev/v1alpha1/schedulingpolicies"
SELECTOR = "spec.nodeName=,spec.schedulerName=plimsoll,status.phase=Pending"
Json = dict[str, Any]
Until = Callable[..., Any]


class Sink:
    def __init__(self) -> None:
        self.told: list[str] = []

    def seen(self, raw: Json) -> None:
        if raw.get("bad"):
            raise RuntimeError("a mistake of ours")
        self.told.append(f"seen {raw['metadata']['name']}")

    def gone(self, raw: Json) -> None:
        self.told.append(f"gone {raw['metadata']['name']}")


def _resource(name: str, kind: str, *, namespaced: bool) -> Json:
    verbs = ["list", "watch", "patch"]
    return {"name": name, "singularName": kind.lower(), "kind": kind, "namespaced": namespaced, "verbs": verbs}


@pytest.fixture
async def discoverable(server: ApiServer) -> ApiServer:
    server.respond("GET", "/api", {"versions": ["v1"]})
    core = [_resource("pods", "Pod", namespaced=True), _resource("namespaces", "Namespace", namespaced=False)]
    server.respond("GET", "/api/v1", {"resources": core})
    version = {"groupVersion": "plimsoll.dev/v1alpha1", "version": "v1alpha1"}
    group = {"name": "plimsoll.dev", "versions": [version], "preferredVersion": version}
    server.respond("GET", "/apis", {"groups": [group]})
    policies = [_resource("schedulingpolicies", "SchedulingPolicy", namespaced=False)]
    server.respond("GET", "/apis/plimsoll.dev/v1alpha1", {"resources": policies})
    return server


@pytest.fixture
def pods() -> Sink:
    return Sink()


@pytest.fixture
def policies() -> Sink:
    return Sink()


@pytest.fixture
def observed() -> list[tuple[str, str, int, float | None]]:
    return []


@pytest.fixture
def settings() -> OperatorSettings:
    return handlers.make_settings(scheduler_name="plimsoll")


@pytest.fixture
def connection(discoverable: ApiServer, tmp_path: Path) -> Connection:
    return Connection(ClusterAccess(str(discoverable.kubeconfig(tmp_path))))


@pytest.fixture
def kopf(
    connection: Connection,
    settings: OperatorSettings,
    pods: Sink,
    policies: Sink,
    observed: list[tuple[str, str, int, float | None]],
) -> EmbeddedKopf:
    registry = handlers.make_registry(
        connection=connection,
        policies=policies,
        pods=pods,
        observe=lambda *request: observed.append(request),
    )

    async def ready() -> None: ...

    backoff = Backoff(initial_s=0.01, cap_s=0.05)
    return EmbeddedKopf(registry, settings, started=lambda: None, ready=ready, backoff=backoff)


@pytest.fixture
async def running(kopf: EmbeddedKopf) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(kopf.run())
    yield task
    await ended(task)


async def _pod(server: ApiServer, name: str, **body: Any) -> None:
    await server.put(f"{PODS}/{name}", {**make_pod(name).obj(), **body})


async def test_events_reach_their_sinks_and_nothing_is_ever_patched(
    discoverable: ApiServer, running: asyncio.Task[None], pods: Sink, policies: Sink, until: Until
) -> None:
    await _pod(discoverable, "listed")
    await discoverable.put(f"{POLICIES}/p", {"metadata": {"name": "p"}, "spec": {}})
    await until(lambda: "seen listed" in pods.told and "seen p" in policies.told)
    await _pod(discoverable, "added")
    await _pod(discoverable, "added", changed=True)
    await discoverable.delete(f"{PODS}/listed")
    await until(lambda: "gone listed" in pods.told)
    assert sorted(pods.told) == ["gone listed", "seen added", "seen added", "seen listed"]
    assert {r.split()[0] for r in discoverable.requests} == {"GET"}


@pytest.fixture
def carried(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of what came by kopf's own handlers."""
    names: list[str] = []

    def noted(raw: Json, *args: Any, **options: Any) -> None:
        names.append(raw["metadata"]["name"])
        hand_on(raw, *args, **options)

    monkeypatch.setattr(handlers, "hand_on", noted)
    return names


async def test_what_was_waiting_at_the_list_is_told_without_kopf_until_it_goes(
    discoverable: ApiServer, carried: list[str], kopf: EmbeddedKopf, pods: Sink, until: Until
) -> None:
    for name in ("a", "b"):
        await _pod(discoverable, name)
    async with _watches(kopf, discoverable, until):
        await _pod(discoverable, "a", changed=True)
        await discoverable.delete(f"{PODS}/a")
        await _pod(discoverable, "c")
        await discoverable.delete(f"{PODS}/c")
        await discoverable.delete(f"{PODS}/b")
        await until(lambda: {"gone b", "gone c"} <= set(pods.told))
    assert [told for told in pods.told if told[-1] in "ab"] == ["seen a", "seen b", "seen a", "gone a", "gone b"]
    assert carried == ["c", "c"]


async def test_a_pod_that_went_and_came_again_is_kopfs(
    discoverable: ApiServer, carried: list[str], kopf: EmbeddedKopf, pods: Sink, until: Until
) -> None:
    await _pod(discoverable, "a")
    async with _watches(kopf, discoverable, until):
        await discoverable.delete(f"{PODS}/a")
        await discoverable.put(f"{PODS}/a", make_pod("a").metadata(uid="another").obj())
        await until(lambda: carried)
    assert pods.told == ["seen a", "gone a", "seen a"]


async def test_a_watch_that_is_lost_goes_on_where_it_was_and_tells_nothing_twice(
    discoverable: ApiServer, carried: list[str], kopf: EmbeddedKopf, pods: Sink, until: Until
) -> None:
    for name in ("a", "b"):
        await _pod(discoverable, name)
    async with _watches(kopf, discoverable, until):
        await _pod(discoverable, "a", changed=True)
        came_to = discoverable.version
        await until(lambda: pods.told.count("seen a") == 2)
        for name in ("a", "b"):
            await _pod(discoverable, name, changed=True)
            await discoverable.delete(f"{PODS}/{name}")
        await until(lambda: {"gone a", "gone b"} <= set(pods.told))
        await discoverable.cut_watches()
        await until(lambda: discoverable.count("GET", PODS, watch=True) == 2)
        await _pod(discoverable, "c")
        await until(lambda: "seen c" in pods.told)
    assert [pods.told.count(f"gone {name}") for name in "ab"] == [1, 1]
    assert [[told for told in pods.told if told[-1] == name][-1] for name in "ab"] == ["gone a", "gone b"]
    assert carried == ["c"]
    again = [r for r in discoverable.requests if r.startswith(f"GET {PODS}?") and "watch=true" in r][1]
    assert int(parse_qs(urlsplit(again).query)["resourceVersion"][0]) >= came_to


async def test_who_told_of_a_pod_first_tells_of_its_end_past_a_second_list(
    discoverable: ApiServer, carried: list[str], kopf: EmbeddedKopf, pods: Sink, until: Until
) -> None:
    discoverable.expires_in_stream = True
    await _pod(discoverable, "listed")
    async with _watches(kopf, discoverable, until):
        await _pod(discoverable, "watched")
        await until(lambda: "seen watched" in pods.told)
        await discoverable.forget_history()
        await until(lambda: discoverable.count("GET", PODS, watch=False) == 2)
        await until(lambda: pods.told.count("seen watched") == 2)
        for name in ("watched", "listed"):
            await discoverable.delete(f"{PODS}/{name}")
        await until(lambda: {"gone watched", "gone listed"} <= set(pods.told))
        assert kopf.restarts == 0
    assert carried == ["watched"] * 3


async def test_every_page_of_a_list_is_passed_on(
    discoverable: ApiServer, carried: list[str], kopf: EmbeddedKopf, pods: Sink, until: Until
) -> None:
    names = [f"p{i}" for i in range(250)]
    for name in names:
        await _pod(discoverable, name)
    async with _watches(kopf, discoverable, until):
        await discoverable.delete(f"{PODS}/p0")
        await discoverable.delete(f"{PODS}/p249")
        await until(lambda: {"gone p0", "gone p249"} <= set(pods.told))
    assert {told for told in pods.told if told.startswith("seen")} == {f"seen {name}" for name in names}
    assert carried == []


async def test_a_stream_that_is_busy_with_listed_pods_is_not_dead(
    discoverable: ApiServer, settings: OperatorSettings, kopf: EmbeddedKopf, pods: Sink, until: Until
) -> None:
    settings.watching.inactivity_timeout = 2.5
    await _pod(discoverable, "a")
    async with _watches(kopf, discoverable, until):
        for i in range(40):
            await _pod(discoverable, "a", changed=i)
            await asyncio.sleep(0.1)
        await until(lambda: pods.told.count("seen a") == 41)
        assert discoverable.count("GET", PODS, watch=True) == 1


async def test_lines_that_come_in_pieces_are_kept_as_they_are() -> None:
    sink = Sink()
    listed = _Listed(PODS_RESOURCE, sink)
    await listed.left_of_page([make_pod("a").metadata(uid="ours").obj()])
    events = [
        {"type": kind, "object": make_pod(name).metadata(uid=uid, resourceVersion="7").annotate("n", "Größe\n").obj()}
        for kind, name, uid in (("ADDED", "b", "kopfs"), ("MODIFIED", "a", "ours"), ("DELETED", "b", "kopfs"))
    ]
    stream = b"".join(json.dumps(event, ensure_ascii=False).encode() + b"\n" for event in events)
    sifted = _Sifted(_InPieces(stream), listed)
    lines = [json.loads(line) for line in b"".join([data async for data in sifted.iter_chunked(1024)]).splitlines()]
    bookmarks = [line for line in lines if line["type"] == "BOOKMARK"]
    assert [line for line in lines if line["type"] != "BOOKMARK"] == [events[0], events[2]]
    assert [mark["object"]["metadata"]["resourceVersion"] for mark in bookmarks] == ["7"]
    assert sink.told == ["seen a", "seen a"]


def _line(kind: str, name: str, version: int) -> bytes:
    raw = make_pod(name).metadata(uid=f"uid-{name}", resourceVersion=str(version)).obj()
    return json.dumps({"type": kind, "object": raw}).encode()


async def _left(listed: _Listed, *lines: bytes) -> list[str]:
    """What kopf is told of one piece."""
    left = [json.loads(line) async for line in listed.left_of(lines)]
    return [f"{event['type']} {event['object']['metadata']['resourceVersion']}" for event in left]


async def test_what_went_is_not_told_again_however_a_lost_watch_is_played_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock_s = [1000.0]
    monkeypatch.setattr("plimsoll.kube.listed.time", SimpleNamespace(monotonic=lambda: clock_s[0]))
    sink = Sink()
    listed = _Listed(PODS_RESOURCE, sink)
    raws = [json.loads(_line("ADDED", name, 110))["object"] for name in ("stays", "goes")]
    assert await listed.left_of_page(raws) == []
    listed.ends()
    assert await _left(listed, _line("MODIFIED", "stays", 120)) == ["BOOKMARK 120"]
    went = (_line("MODIFIED", "stays", 130), _line("MODIFIED", "goes", 150), _line("DELETED", "goes", 160))
    assert await _left(listed, *went) == [], "kopf has heard only just"
    clock_s[0] += 2
    again = [await _left(listed, line) for line in went]
    assert again == [["BOOKMARK 130"], [], []]
    assert [told for told in sink.told if "goes" in told] == ["seen goes", "seen goes", "gone goes"]
    clock_s[0] += 2
    assert await _left(listed, _line("MODIFIED", "stays", 170)) == ["BOOKMARK 170"]
    assert await _left(listed, _line("ADDED", "goes", 180)) == ["ADDED 180"], "it came again, and is kopf's"


async def test_a_last_line_that_is_not_ended_is_looked_at_as_well() -> None:
    sink = Sink()
    listed = _Listed(PODS_RESOURCE, sink)
    await listed.left_of_page([json.loads(_line("ADDED", "a", 7))["object"]])
    sifted = _Sifted(_InPieces(_line("MODIFIED", "b", 8) + b"\n" + _line("MODIFIED", "a", 9)), listed)
    lines = b"".join([data async for data in sifted.iter_chunked(1024)]).splitlines()
    assert [json.loads(line)["object"]["metadata"]["resourceVersion"] for line in lines] == ["8", "9"]
    assert json.loads(lines[1])["type"] == "BOOKMARK"
    assert sink.told == ["seen a", "seen a"]


class _InPieces:
    def __init__(self, data: bytes) -> None:
        self._data = data

    async def iter_chunked(self, _: int) -> AsyncIterator[bytes]:
        for i in range(len(self._data)):
            yield self._data[i : i + 1]


@contextlib.asynccontextmanager
async def _watches(kopf: EmbeddedKopf, server: ApiServer, until: Until) -> AsyncIterator[None]:
    task = asyncio.create_task(kopf.run())
    try:
        await until(lambda: server.count("GET", PODS, watch=True))
        yield
    finally:
        await ended(task)


async def test_its_own_requests_are_observed(
    running: asyncio.Task[None], observed: list[tuple[str, str, int, float | None]], until: Until
) -> None:
    wanted = {("get", "pods", 200, None), ("watch", "pods", 200, None), ("watch", "schedulingpolicies", 200, None)}
    await until(lambda: wanted <= set(observed))


async def test_only_the_schedulers_pending_pods_are_asked_for(
    discoverable: ApiServer, running: asyncio.Task[None], until: Until
) -> None:
    await until(lambda: discoverable.count("GET", PODS, watch=True))
    queries = [parse_qs(urlsplit(r).query) for r in discoverable.requests if r.startswith(f"GET {PODS}?")]
    assert len(queries) == 2
    assert all(query["fieldSelector"] == [SELECTOR] for query in queries)


async def test_credentials_go_with_its_requests(
    discoverable: ApiServer, running: asyncio.Task[None], until: Until
) -> None:
    await until(lambda: discoverable.count("GET", PODS, watch=True))
    assert {h["Authorization"] for h in discoverable.headers} == {"Bearer secret"}


async def test_a_handler_that_fails_loses_that_event_alone(
    discoverable: ApiServer,
    running: asyncio.Task[None],
    pods: Sink,
    until: Until,
    caplog: pytest.LogCaptureFixture,
) -> None:
    await _pod(discoverable, "bad", bad=True)
    await _pod(discoverable, "good")
    await until(lambda: "seen good" in pods.told)
    await until(lambda: "a mistake of ours" in caplog.text)


async def test_a_page_that_expires_makes_kopf_give_up_and_it_is_started_again(
    discoverable: ApiServer, kopf: EmbeddedKopf, pods: Sink, until: Until
) -> None:
    for i in range(600):
        await _pod(discoverable, f"p{i}")
    discoverable.fail("GET", PODS, status=410, where=lambda r: "continue" in r.query)
    task = asyncio.create_task(kopf.run())
    await until(lambda: len(set(pods.told)) == 600, within_s=10)
    assert kopf.restarts == 1
    await ended(task)


async def test_an_outage_does_not_end_it(
    discoverable: ApiServer, kopf: EmbeddedKopf, running: asyncio.Task[None], pods: Sink, until: Until
) -> None:
    await until(lambda: discoverable.count("GET", PODS, watch=True))
    discoverable.fail("GET", PODS, status=503, times=3)
    await discoverable.cut_watches()
    await _pod(discoverable, "afterwards")
    await until(lambda: "seen afterwards" in pods.told, within_s=10)
    assert kopf.restarts == 0


async def test_it_stops_at_once_and_leaves_the_tasks_of_others_alone(
    discoverable: ApiServer, kopf: EmbeddedKopf, until: Until
) -> None:
    task = asyncio.create_task(kopf.run())
    await until(lambda: discoverable.count("GET", PODS, watch=True))
    ours = asyncio.create_task(asyncio.Event().wait())
    began_s = time.monotonic()
    await ended(task)
    assert time.monotonic() - began_s < 1.5
    assert not ours.done()
    await ended(ours)
