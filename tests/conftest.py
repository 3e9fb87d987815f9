"""Fixtures that start the local control plane, once per session and only for tests that ask for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from devcluster import DevCluster


# How long an example takes says something about the machine, and nothing about the code.
settings.register_profile("plimsoll", deadline=None)
settings.load_profile("plimsoll")


@pytest.fixture(scope="session")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevCluster]:
    """etcd and kube-apiserver alone: for schemas, charts and whatever needs no controllers."""
    from devcluster import ClusterSpec, DevCluster

    spec = ClusterSpec(nodes=[], controllers=False)
    with DevCluster.start(spec, directory=tmp_path_factory.mktemp("api")) as cluster:
        yield cluster
