from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from plimsoll.kube.client import ApiClient
from plimsoll.kube.config import ClusterAccess
from plimsoll.kube.connection import Connection
from tests.kube.api_server import ApiServer


@pytest.fixture
async def server() -> AsyncIterator[ApiServer]:
    async with ApiServer.running() as running:
        yield running


@pytest.fixture
async def client(server: ApiServer, tmp_path: Path) -> AsyncIterator[ApiClient]:
    connection = Connection(ClusterAccess(str(server.kubeconfig(tmp_path))))
    async with ApiClient(connection) as opened:
        yield opened


async def until(check: Callable[[], object], *, within_s: float = 5.0) -> None:
    async with asyncio.timeout(within_s):
        while not check():  # noqa: ASYNC110 - what is waited for knows of no event
            await asyncio.sleep(0.005)


@pytest.fixture(name="until")
def until_fixture() -> Callable[..., object]:
    return until
