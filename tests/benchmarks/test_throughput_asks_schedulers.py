"""What a scheduler says of itself is asked for until it answers: the first answer of one just started may be no."""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from benchmarks.throughput.launching import Launch
from benchmarks.throughput.scheduler import Scheduler

_SAYS = "scheduler_pending_pods 0\n"


class _Asked:
    """Refuses as often as told, and then answers."""

    def __init__(self) -> None:
        self.refusals, self.times = 0, 0

    async def answer(self, _: web.Request) -> web.Response:
        self.times += 1
        return web.Response(status=403) if self.times <= self.refusals else web.Response(text=_SAYS)


@pytest.fixture
def asked() -> _Asked:
    return _Asked()


@pytest.fixture
async def url(asked: _Asked) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_get("/metrics", asked.answer)
    async with TestServer(app) as server:
        yield str(server.make_url("/metrics"))


def _scheduler(url: str, *, code: int | None = None) -> Scheduler:
    child: Any = SimpleNamespace(returncode=code)
    place: Any = SimpleNamespace(tls=lambda: True)
    return Scheduler(child, Launch(("kube-scheduler",), ready=url, metrics=url), place, 0.0)


async def test_one_that_refuses_at_first_is_asked_again(asked: _Asked, url: str):
    asked.refusals = 2
    assert await _scheduler(url).metrics() == _SAYS
    assert asked.times == 3


async def test_one_that_goes_on_refusing_is_told(asked: _Asked, url: str, capsys: pytest.CaptureFixture[str]):
    asked.refusals = 1000
    assert await _scheduler(url).metrics(within_s=0.4) == ""
    assert capsys.readouterr().err == f"warning: {url} did not answer within 0.4 s: 403 Forbidden\n"


async def test_one_that_has_ended_is_not_asked(asked: _Asked, url: str):
    assert await _scheduler(url, code=1).metrics() == ""
    assert not asked.times


async def test_it_is_ready_when_it_says_so(asked: _Asked, url: str):
    asked.refusals = 1
    await _scheduler(url).ready()
    assert asked.times == 2
