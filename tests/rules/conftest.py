"""Each module here holds one of the numbered rules of docs/constraints.md, through what anybody can see."""

from __future__ import annotations

import pytest

from tests.kube.conftest import client, server
from tests.scheduling.conftest import World

__all__ = ["client", "server", "world"]


@pytest.fixture
def world() -> World:
    return World()
