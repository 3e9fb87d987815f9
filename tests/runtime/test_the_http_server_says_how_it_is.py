from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from plimsoll.errors import SettingsError
from plimsoll.runtime.server import Views, serving
from plimsoll.runtime.settings import Address

ANY_PORT = Address("127.0.0.1", 0)


class State:
    def __init__(self) -> None:
        self.ailing: list[str] = []
        self.unready: list[str] = []

    def views(self) -> Views:
        return Views(
            ailing=lambda: self.ailing,
            unready=lambda: self.unready,
            decisions=lambda pod: {"pod": pod, "decisions": []},
            metrics=lambda: b"plimsoll_leader 1.0\n",
        )


@pytest.fixture
def state() -> State:
    return State()


@pytest.fixture
async def get(state: State) -> AsyncIterator[Any]:
    async with serving(ANY_PORT, state.views()) as address, aiohttp.ClientSession(f"http://{address}") as session:

        async def ask(path: str) -> tuple[int, str]:
            async with session.get(path) as response:
                return response.status, await response.text()

        yield ask


@pytest.mark.parametrize("path", ["/livez", "/healthz", "/readyz"])
async def test_all_is_well(get: Any, path: str) -> None:
    assert await get(path) == (200, "ok\n")


async def test_what_is_not_there_yet_is_named(get: Any, state: State) -> None:
    state.unready = ["start: nodes have not been listed"]
    assert await get("/readyz") == (503, "start: nodes have not been listed\n")
    assert await get("/livez") == (200, "ok\n")


async def test_what_hangs_is_named(get: Any, state: State) -> None:
    state.ailing = ["decisions: the loop has been silent for 61 s"]
    assert await get("/livez") == (503, "decisions: the loop has been silent for 61 s\n")


async def test_metrics_are_in_the_text_format(get: Any) -> None:
    assert await get("/metrics") == (200, "plimsoll_leader 1.0\n")


async def test_decisions_about_a_pod(get: Any) -> None:
    assert await get("/debug/decisions?pod=default/web-1") == (200, '{"pod": "default/web-1", "decisions": []}')


@pytest.mark.parametrize(
    "query", ["", "?pod=", "?pod=web", "?pod=a/b/c", "?pod=<b>/x", "?pod=default/Web", "?pod=a/%0a"]
)
async def test_what_is_no_pod_is_refused(get: Any, query: str) -> None:
    status, text = await get(f"/debug/decisions{query}")
    assert status == 400
    assert "<namespace>/<name>" in text
    assert "<b>" not in text


async def test_nothing_can_be_changed(state: State) -> None:
    async with (
        serving(ANY_PORT, state.views()) as address,
        aiohttp.ClientSession() as session,
        session.post(f"http://{address}/livez") as response,
    ):
        assert response.status == 405


async def test_a_port_that_is_taken_is_told(state: State) -> None:
    async with serving(ANY_PORT, state.views()) as address:
        with pytest.raises(SettingsError, match=rf"cannot listen on {address}: .*--metrics-address"):
            async with serving(address, state.views()):
                raise AssertionError("two on one port")
