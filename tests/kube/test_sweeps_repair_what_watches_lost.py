from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from plimsoll.errors import Unavailable
from plimsoll.kube.client import ApiClient
from plimsoll.kube.sweep import Sweep
from tests.kube.api_server import ApiServer
from tests.kube.tasks import ended

PODS = "/api/v1/pods"
Json = dict[str, Any]
Until = Callable[..., Any]


class Swept:
    """The last complete list."""

    def __init__(self) -> None:
        self.complete: list[str] | None = None
        self._found: list[str] = []

    def sweep_begins(self) -> None:
        self._found = []

    def swept(self, raw: Json) -> None:
        self._found.append(raw["metadata"]["name"])

    def sweep_ends(self) -> None:
        self.complete = self._found


@pytest.fixture
def swept() -> Swept:
    return Swept()


def _sweep(client: ApiClient, swept: Swept, *, every_s: float = 60.0) -> Sweep:
    return Sweep(
        client, PODS, swept=swept, name="pods", every_s=lambda: every_s, params={"fieldSelector": "spec.nodeName="}
    )


async def test_a_sweep_is_one_list_with_the_selector(server: ApiServer, client: ApiClient, swept: Swept) -> None:
    await server.put(f"{PODS}/a", {})
    await _sweep(client, swept).sweep()
    assert swept.complete == ["a"]
    assert "fieldSelector=spec.nodeName" in server.requests[0]


async def test_a_list_that_broke_off_is_not_complete(server: ApiServer, client: ApiClient, swept: Swept) -> None:
    for i in range(700):
        await server.put(f"{PODS}/p{i:03}", {})
    server.fail("GET", PODS, status=500, where=lambda r: "continue" in r.query)
    with pytest.raises(Unavailable):
        await _sweep(client, swept).sweep()
    assert swept.complete is None


async def test_a_list_that_expired_is_begun_anew_in_one_piece(
    server: ApiServer, client: ApiClient, swept: Swept
) -> None:
    for i in range(700):
        await server.put(f"{PODS}/p{i:03}", {})
    server.fail("GET", PODS, status=410, where=lambda r: "continue" in r.query)
    await _sweep(client, swept).sweep()
    assert swept.complete
    assert len(swept.complete) == 700


async def test_the_first_one_is_tried_until_it_is_done(server: ApiServer, client: ApiClient, swept: Swept) -> None:
    server.fail("GET", PODS, status=503, times=2)
    await _sweep(client, swept).sweep_until_done()
    assert swept.complete == []


async def test_a_sweep_that_has_become_urgent_does_not_wait_for_its_old_time(
    client: ApiClient, swept: Swept, until: Until
) -> None:
    every_s = [60.0]
    sweep = Sweep(client, PODS, swept=swept, name="pods", every_s=lambda: every_s[-1])
    task = asyncio.create_task(sweep.run())
    await asyncio.sleep(0.05)
    assert swept.complete is None
    every_s.append(0.01)
    await until(lambda: swept.complete is not None, within_s=3)
    await ended(task)


async def test_later_ones_go_on_after_a_failure(
    server: ApiServer, client: ApiClient, swept: Swept, until: Until
) -> None:
    server.fail("GET", PODS, status=500, times=2)
    task = asyncio.create_task(_sweep(client, swept, every_s=0.01).run())
    await until(lambda: swept.complete is not None)
    await ended(task)
    assert len(server.requests) >= 3
