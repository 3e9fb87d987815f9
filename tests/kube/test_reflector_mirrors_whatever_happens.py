from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from aiohttp import web

from plimsoll.errors import ObjectError
from plimsoll.kube.backoff import Backoff
from plimsoll.kube.client import ApiClient
from plimsoll.kube.reflector import Identity, Reflector
from tests.kube.api_server import ApiServer
from tests.kube.tasks import ended

Json = dict[str, Any]
Until = Callable[..., Any]
NODES = "/api/v1/nodes"


class Listener:
    """Writes down what it is told; takes offence at objects with ``bad``."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.present: dict[str, Json] = {}
        self.lists = 0

    def on_added(self, raw: Json) -> None:
        self._take("added", raw)

    def on_updated(self, raw: Json) -> None:
        self._take("updated", raw)

    def on_deleted(self, identity: Identity) -> None:
        self.told.append(f"deleted {identity.name}")
        self.present.pop(identity.uid, None)

    def on_listed(self, *, asked_at_s: float) -> None:
        assert asked_at_s <= time.monotonic()
        self.lists += 1

    def _take(self, what: str, raw: Json) -> None:
        name = raw["metadata"]["name"]
        if raw.get("bad"):
            raise ObjectError(f"node {name} cannot be read")
        self.told.append(f"{what} {name}")
        self.present[raw["metadata"]["uid"]] = raw


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.fixture
async def reflector(client: ApiClient, listener: Listener) -> AsyncIterator[Reflector]:
    made = Reflector(
        client, NODES, listener=listener, name="nodes", backoff=Backoff(initial_s=0.01, cap_s=0.02), silence_s=0.5
    )
    task = asyncio.create_task(made.run())
    yield made
    assert not task.done(), task
    await ended(task)


async def _put(server: ApiServer, *names: str, **body: Any) -> None:
    for name in names:
        await server.put(f"{NODES}/{name}", {"metadata": {"name": name, "uid": f"uid-{name}"}, **body})


def _names(listener: Listener) -> set[str]:
    return {raw["metadata"]["name"] for raw in listener.present.values()}


async def test_it_lists_and_then_watches(
    server: ApiServer, client: ApiClient, listener: Listener, until: Until
) -> None:
    await _put(server, "a", "b")
    reflector = Reflector(client, NODES, listener=listener, name="nodes")
    assert not reflector.has_synced
    task = asyncio.create_task(reflector.run())
    await reflector.wait_synced()
    assert listener.told == ["added a", "added b"]
    await _put(server, "c")
    await _put(server, "a", changed=True)
    await server.delete(f"{NODES}/b")
    await until(lambda: len(listener.told) == 5)
    assert listener.told[2:] == ["added c", "updated a", "deleted b"]
    await ended(task)


async def test_what_was_deleted_while_the_watch_had_expired_is_told(
    server: ApiServer, reflector: Reflector, listener: Listener, until: Until
) -> None:
    await _put(server, "kept", "deleted", "changed")
    await until(lambda: len(listener.present) == 3)
    await server.forget_history()
    await server.delete(f"{NODES}/deleted")
    await _put(server, "changed", now=True)
    await server.forget_history()
    await until(lambda: listener.lists >= 2 and _names(listener) == {"kept", "changed"})
    assert listener.told[3:] == ["updated changed", "deleted deleted"]


async def test_an_object_that_was_recreated_unseen_is_deleted_and_added(
    server: ApiServer, reflector: Reflector, listener: Listener, until: Until
) -> None:
    await _put(server, "a")
    await until(lambda: listener.told == ["added a"])
    server.fail("GET", NODES, status=503, times=3)
    await server.cut_watches()
    await server.delete(f"{NODES}/a")
    await server.put(f"{NODES}/a", {"metadata": {"name": "a", "uid": "another"}})
    await server.forget_history()
    await until(lambda: listener.told == ["added a", "deleted a", "added a"])
    assert set(listener.present) == {"another"}


async def test_a_list_that_expires_between_pages_is_begun_anew_in_one_piece(
    server: ApiServer, client: ApiClient, listener: Listener, until: Until
) -> None:
    await _put(server, *(f"n{i:04}" for i in range(1200)))
    server.fail("GET", NODES, status=410, where=lambda r: "continue" in r.query)
    task = asyncio.create_task(Reflector(client, NODES, listener=listener, name="nodes").run())
    await until(lambda: listener.lists == 1)
    await ended(task)
    assert len(listener.present) == 1200
    assert len(listener.told) == 1200, "nothing is told twice"
    lists = [r for r in server.requests if "watch" not in r]
    assert "limit" not in lists[-1]


async def test_deletions_are_not_believed_of_a_list_that_broke_off(
    server: ApiServer, reflector: Reflector, listener: Listener, until: Until
) -> None:
    await _put(server, *(f"n{i:04}" for i in range(700)))
    await until(lambda: len(listener.present) == 700)
    server.fail("GET", NODES, status=500, times=4, where=lambda r: "continue" in r.query)
    await server.forget_history()
    await until(lambda: server.count("GET", NODES, watch=False) >= 9)
    assert not [t for t in listener.told if t.startswith("deleted")]


@pytest.mark.parametrize("status", [403, 404, 429, 500, 503])
async def test_no_answer_of_the_api_server_ends_it(
    server: ApiServer, reflector: Reflector, listener: Listener, until: Until, status: int
) -> None:
    await reflector.wait_synced()
    server.fail("GET", NODES, status=status, times=8)
    await server.cut_watches()
    await until(lambda: reflector.broken_for_s() > 0)
    await _put(server, "afterwards")
    await until(lambda: _names(listener) == {"afterwards"})
    assert reflector.broken_for_s() == 0


async def test_a_watch_that_hangs_is_taken_up_again_where_it_was(
    server: ApiServer, reflector: Reflector, listener: Listener, until: Until
) -> None:
    await _put(server, "a")
    await until(lambda: listener.told == ["added a"])
    server.hang("GET", NODES, times=1)
    await server.cut_watches()
    await _put(server, "b")
    await until(lambda: listener.told == ["added a", "added b"], within_s=5)
    assert listener.lists == 1


async def test_a_version_that_the_server_never_reaches_ends_in_a_list(
    server: ApiServer, reflector: Reflector, listener: Listener, until: Until
) -> None:
    await reflector.wait_synced()
    server.fail("GET", NODES, status=504, times=1000, message="Too large resource version",
                where=lambda r: "watch" in r.query)  # fmt: skip
    await server.cut_watches()
    await until(lambda: listener.lists >= 2)


async def test_an_object_that_cannot_be_read_is_named_and_the_rest_goes_on(
    server: ApiServer,
    reflector: Reflector,
    listener: Listener,
    until: Until,
    caplog: pytest.LogCaptureFixture,
) -> None:
    await reflector.wait_synced()
    await _put(server, "odd", bad=True)
    await _put(server, "even")
    await until(lambda: _names(listener) == {"even"})
    assert "node odd cannot be read" in caplog.text


async def test_the_waiting_time_that_the_server_asks_for_is_kept(
    server: ApiServer, reflector: Reflector, listener: Listener, until: Until
) -> None:
    await reflector.wait_synced()
    server.fail("GET", NODES, status=429, headers={"Retry-After": "1"})
    began_s = time.monotonic()
    await server.cut_watches()
    await _put(server, "a")
    await until(lambda: listener.present)
    assert time.monotonic() - began_s >= 1


async def test_catching_up_is_immediate_where_the_watch_has_told_everything(
    server: ApiServer, reflector: Reflector, listener: Listener
) -> None:
    await reflector.wait_synced()
    await _put(server, "a")
    await reflector.catch_up(within_s=1.0)
    assert _names(listener) == {"a"}
    assert listener.lists == 1


async def test_catching_up_lists_anew_where_the_watch_lags(
    server: ApiServer, reflector: Reflector, listener: Listener, until: Until
) -> None:
    await _put(server, "gone", "kept")
    await until(lambda: len(listener.present) == 2)
    server.hang("GET", NODES, times=1)
    await server.cut_watches()
    await until(lambda: server.count("GET", NODES, watch=True) >= 2)
    await server.delete(f"{NODES}/gone")
    await reflector.catch_up(within_s=0.1)
    assert _names(listener) == {"kept"}


async def test_a_list_that_was_sent_before_does_not_count_as_caught_up(
    server: ApiServer, client: ApiClient, listener: Listener, until: Until
) -> None:
    """It was read before the predecessor's last Binding, however late it arrives."""
    arrives, before = asyncio.Event(), {"metadata": {"resourceVersion": str(server.version)}, "items": []}

    async def late(_: web.Request) -> web.StreamResponse:
        await arrives.wait()
        return web.json_response(before)

    server.answer("GET", NODES, late, times=1)
    reflector = Reflector(client, NODES, listener=listener, name="nodes")
    task = asyncio.create_task(reflector.run())
    await until(lambda: server.count("GET", NODES) == 1)
    await _put(server, "a")
    catching_up = asyncio.create_task(reflector.catch_up(within_s=0.05))
    await asyncio.sleep(0.15)
    arrives.set()
    await catching_up
    assert _names(listener) == {"a"}
    await ended(task)


async def test_a_quiet_watch_catches_up_although_other_objects_have_moved_the_version(
    server: ApiServer, reflector: Reflector, listener: Listener
) -> None:
    await reflector.wait_synced()
    await server.put("/api/v1/namespaces/other", {})
    await reflector.catch_up(within_s=0.1)
    assert listener.lists == 2


async def test_a_long_list_does_not_hold_up_the_loop(
    server: ApiServer, client: ApiClient, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = [0]

    def slow(raw: Json) -> None:
        added[0] += 1
        time.sleep(0.001)

    monkeypatch.setattr(listener, "on_added", slow)
    await _put(server, *(f"n{i}" for i in range(300)))
    reflector = Reflector(client, NODES, listener=listener, name="nodes")
    task = asyncio.create_task(reflector.run())
    at_once = 0
    while not reflector.has_synced:
        before = added[0]
        await asyncio.sleep(0)
        at_once = max(at_once, added[0] - before)
    await ended(task)
    assert added[0] == 300
    assert at_once < 50, "others have their turn in between"


async def test_a_resource_that_the_api_server_lacks_counts_as_empty_where_it_may_be_lacking(
    server: ApiServer, client: ApiClient, listener: Listener
) -> None:
    server.fail("GET", NODES, status=404)
    reflector = Reflector(client, NODES, listener=listener, name="claims", may_lack=True)
    task = asyncio.create_task(reflector.run())
    await asyncio.wait_for(reflector.wait_synced(), 5)
    assert reflector.broken_for_s() == 0
    server.fail("GET", NODES, status=404)
    await asyncio.wait_for(reflector.catch_up(within_s=0.1), 5)
    await ended(task)


async def test_a_resource_that_must_be_there_is_asked_for_until_it_is(
    server: ApiServer, reflector: Reflector, client: ApiClient, listener: Listener, until: Until
) -> None:
    server.fail("GET", NODES, status=404, times=2)
    await _put(server, "a")
    asked = asyncio.create_task(Reflector(client, NODES, listener=listener, name="nodes").run())
    await until(lambda: listener.lists >= 1 and listener.present)
    await ended(asked)
