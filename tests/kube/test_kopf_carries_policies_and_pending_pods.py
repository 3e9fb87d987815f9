from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from plimsoll.kube import handlers
from plimsoll.kube.backoff import Backoff
from plimsoll.kube.config import ClusterAccess
from plimsoll.kube.connection import Connection
from plimsoll.kube.embedding import EmbeddedKopf
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
def kopf(
    discoverable: ApiServer,
    tmp_path: Path,
    pods: Sink,
    policies: Sink,
    observed: list[tuple[str, str, int, float | None]],
) -> EmbeddedKopf:
    connection = Connection(ClusterAccess(str(discoverable.kubeconfig(tmp_path))))
    registry = handlers.make_registry(
        connection=connection,
        policies=policies,
        pods=pods,
        observe=lambda *request: observed.append(request),
    )
    settings = handlers.make_settings(scheduler_name="plimsoll")

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
    discoverable: ApiServer, carried: list[str], running: asyncio.Task[None], pods: Sink, until: Until
) -> None:
    await until(lambda: discoverable.count("GET", PODS, watch=True))
    await discoverable.forget_history()
    for name in ("a", "b"):
        await _pod(discoverable, name)
    await discoverable.cut_watches()  # too old by now: a list
    await until(lambda: {"seen a", "seen b"} <= set(pods.told), within_s=10)
    await until(lambda: discoverable.count("GET", PODS, watch=True) > 1)
    await _pod(discoverable, "a", changed=True)
    await discoverable.delete(f"{PODS}/a")
    await _pod(discoverable, "c")
    await discoverable.delete(f"{PODS}/c")
    await until(lambda: "gone c" in pods.told)
    await discoverable.delete(f"{PODS}/b")
    await until(lambda: "gone b" in pods.told)
    assert [told for told in pods.told if told[-1] in "ab"] == ["seen a", "seen b", "seen a", "gone a", "gone b"]
    assert carried == ["c", "c"]


async def test_a_pod_that_went_and_came_again_is_kopfs(
    discoverable: ApiServer, carried: list[str], kopf: EmbeddedKopf, pods: Sink, until: Until
) -> None:
    await _pod(discoverable, "a")
    task = asyncio.create_task(kopf.run())
    await until(lambda: discoverable.count("GET", PODS, watch=True))
    await discoverable.delete(f"{PODS}/a")
    await _pod(discoverable, "a")
    await until(lambda: carried)
    assert pods.told == ["seen a", "gone a", "seen a"]
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
