from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING

import pytest

from plimsoll.sources.observing import unobserved
from plimsoll.sources.prometheus import Prometheus
from tests.sources.played import Played

if TYPE_CHECKING:
    from devcluster import DevCluster


@pytest.fixture
def server() -> Iterator[Played]:
    """Answers every query with an empty vector, unless told otherwise."""
    with Played().running() as played:
        yield played


@pytest.fixture
async def prometheus() -> AsyncIterator[Prometheus]:
    asker = Prometheus(on_query=unobserved)
    yield asker
    await asker.close()


@pytest.fixture
def asking_threads(server: Played) -> object:
    """How many threads ask this server at the moment; those of an earlier test may still be ending."""
    return lambda: sum(thread.name.startswith(f"Prometheus at {server.url}") for thread in threading.enumerate())


@pytest.fixture(scope="session")
def measured_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevCluster]:
    """Three nodes under real Prometheus and metrics-server.

    Prometheus knows them by addresses that only ``node_uname_info`` leads to nodes.
    """
    from devcluster import ClusterSpec, DevCluster, NodeSpec

    busy = {
        "receive_bytes_per_s": {"eth0": 100e6},
        "cpu_utilisation": 0.5,
        "memory_total_bytes": 64.0 * 2**30,
        "memory_used_bytes": 48.0 * 2**30,
    }
    light = {
        "receive_bytes_per_s": {"eth0": 10e6},
        "transmit_bytes_per_s": {"eth0": 20e6},
        "speed_bytes": {"eth0": -125000.0},
        "cpu_utilisation": 0.1,
        "memory_total_bytes": 64.0 * 2**30,
        "memory_used_bytes": 16.0 * 2**30,
    }
    idle = {"memory_total_bytes": 64.0 * 2**30, "memory_used_bytes": 0.0}
    loads = {"node-1": busy, "node-2": light, "node-3": idle}
    spec = ClusterSpec(
        nodes=[NodeSpec(name=name, load=load) for name, load in loads.items()],
        prometheus=True,
        metrics_server=True,
        scrape_interval_s=1.0,
        instance_label="address",
    )
    with DevCluster.start(spec, directory=tmp_path_factory.mktemp("measured")) as cluster:
        yield cluster
