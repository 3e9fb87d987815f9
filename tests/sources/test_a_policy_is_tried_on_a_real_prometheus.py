"""Everything that preflight finds, found on the real program: scraped too rarely, by odd names, of odd nodes."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from kubernetes.client import ApiClient
from kubernetes.config import new_client_from_config

from devcluster import ClusterSpec, DevCluster, NodeSpec
from devcluster.exporter.load import Load
from plimsoll.cluster.node import NodeInfo
from plimsoll.load.preflight import FindingKind, Preflight
from plimsoll.policy.compiled import CPU, MEMORY, NETWORK_RECEIVE, NETWORK_TRANSMIT, Metric, Policy, PrometheusSource
from plimsoll.sources import Sources

pytestmark = pytest.mark.cluster

SCRAPED_EVERY_S = 10.0
GI = 2.0**30
BUSY: Load = {
    "receive_bytes_per_s": {"eth0": 100e6},
    "transmit_bytes_per_s": {"eth0": 0.0},
    "speed_bytes": {"eth0": -125000.0},
    "cpu_utilisation": 0.5,
    "memory_total_bytes": 64 * GI,
    "memory_used_bytes": 16 * GI,
}
NODES: dict[str, Load] = {
    "node-1": BUSY,
    "node-2": {**BUSY, "memory_used_bytes": -16 * GI},
    "node-3": {**BUSY, "device_names": {"eth0": "wlan3"}},
    "node-4": {**BUSY, "dark": True},
}
PERCENT = '100 * (1 - avg by (instance) (rate(node_cpu_seconds_total{mode="idle"}[$timeRange])))'


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevCluster]:
    spec = ClusterSpec(
        nodes=[NodeSpec(name=name, load=load) for name, load in NODES.items()],
        prometheus=True,
        scrape_interval_s=SCRAPED_EVERY_S,
    )
    with DevCluster.start(spec, directory=tmp_path_factory.mktemp("tried")) as started:
        yield started


@pytest.fixture
async def sources(cluster: DevCluster) -> AsyncIterator[Sources]:
    api: ApiClient = new_client_from_config(str(cluster.kubeconfig))
    facade = Sources(api)
    yield facade
    await facade.close()


def policy_of(cluster: DevCluster, *metrics: str | Metric, **fields: Any) -> Policy:
    assert cluster.prometheus_url is not None
    weighed = tuple(Metric(metric, 1) if isinstance(metric, str) else metric for metric in metrics)
    usual = {"source": PrometheusSource(url=cluster.prometheus_url), "time_range_s": 60.0, "refresh_interval_s": 1.0}
    return Policy(name="p", metrics=weighed, **{**usual, **fields})


def nodes_of(cluster: DevCluster) -> list[NodeInfo]:
    """Made so long ago that readings are due."""
    listed = json.loads(cluster.kubectl("get", "nodes", "-o", "json"))["items"]
    return [replace(NodeInfo.parse(node), created_s=0.0) for node in listed]


async def tried(
    sources: Sources,
    policy: Policy,
    nodes: Sequence[NodeInfo],
    done: Callable[[Preflight], bool] = lambda tried: bool(tried.tried),
    *,
    within_s: float = 100.0,
) -> Preflight:
    """The first try that is ``done``; until then Prometheus has too few samples."""
    deadline_s = time.monotonic() + within_s
    while True:
        readings = await sources.refresh(policy, nodes=nodes, pods={}, now_s=time.time())
        if readings.preflight is not None and done(readings.preflight):
            return readings.preflight
        assert time.monotonic() < deadline_s, readings
        await asyncio.sleep(0.5)


def text(preflight: Preflight, kind: FindingKind, metric: str = "") -> str:
    (found,) = (f.text for f in preflight.findings if (f.kind, f.metric) == (kind, metric))
    return found


async def test_a_policy_that_fits_is_found_good(cluster: DevCluster, sources: Sources) -> None:
    mine = [node for node in nodes_of(cluster) if node.name in {"node-1", "node-3"}]
    found = await tried(sources, policy_of(cluster, CPU, MEMORY), mine, lambda t: not t.findings)
    assert found.findings == ()
    assert [(t.metric, t.series, t.nodes, t.of_nodes, t.unmapped) for t in found.tried] == [
        (CPU, 3, 2, 2, 1),
        (MEMORY, 3, 2, 2, 1),
    ]
    assert found.tried[1].example == "node-1 at about 25 %"
    assert found.tried[1].unmapped_example.startswith("memory{instance=")


async def test_nodes_devices_and_values_that_are_odd_are_found(cluster: DevCluster, sources: Sources) -> None:
    policy = policy_of(
        cluster,
        NETWORK_RECEIVE,
        NETWORK_TRANSMIT,
        MEMORY,
        device_name="eth0",
        network_capacity_bytes_s=2_500_000,
    )
    found = await tried(sources, policy, nodes_of(cluster), lambda t: (NETWORK_RECEIVE, "node-1") in t.beyond)
    assert "spec.deviceName eth0 is on 2 of 4 nodes, not on e.g. node-3" in text(
        found, FindingKind.DEVICE_NOT_ON_ALL_NODES, NETWORK_RECEIVE
    )
    assert text(found, FindingKind.NODES_WITHOUT_SERIES, NETWORK_RECEIVE).startswith(
        "1 of 4 nodes have no series, e.g. node-4: is node-exporter running there"
    )
    assert "node-1 is at about 4000 % of 2500000 bytes/s: is spec.networkCapacity" in text(
        found, FindingKind.IMPOSSIBLE_VALUES, NETWORK_RECEIVE
    )
    assert "does device eth0 carry the traffic?" in text(found, FindingKind.ALL_ZERO, NETWORK_TRANSMIT)
    assert "of memory: more is available than there is), e.g. memory{" in text(found, FindingKind.IMPOSSIBLE_VALUES)


async def test_what_is_found_stays_the_same_from_refresh_to_refresh(cluster: DevCluster, sources: Sources) -> None:
    """But for measured values, across more than one scrape."""
    metrics = (NETWORK_RECEIVE, NETWORK_TRANSMIT, CPU, MEMORY, Metric("cpu-percent", 1, query=PERCENT, max=1.0))
    policy = policy_of(cluster, *metrics, device_name="eth0", time_range_s=30.0)
    await tried(sources, policy, nodes_of(cluster), lambda t: len(t.tried) == len(metrics))
    told = set()
    for _ in range(8):
        found = await tried(sources, policy, nodes_of(cluster))
        told.add(re.sub(r"about [-0-9.e]+", "about", repr((found.findings, found.tried))))
        await asyncio.sleep(2)
    assert len(told) == 1


async def test_the_link_speed_that_nobody_knows_is_found(cluster: DevCluster, sources: Sources) -> None:
    found = await tried(sources, policy_of(cluster, NETWORK_RECEIVE), nodes_of(cluster))
    assert "device eth0: link speed -125000 bytes/s, so 125M is assumed" in text(found, FindingKind.CAPACITY_ASSUMED)


async def test_a_device_that_no_node_has_is_told_with_those_that_there_are(
    cluster: DevCluster, sources: Sources
) -> None:
    policy = policy_of(cluster, NETWORK_RECEIVE, CPU, device_name="eth7")
    found = await tried(sources, policy, nodes_of(cluster))
    assert text(found, FindingKind.QUERY_FAILED, NETWORK_RECEIVE).endswith(
        "for device eth7: set spec.deviceName to a device that there is: eth0, wlan3."
    )


async def test_series_that_name_no_node_are_told_with_an_example(cluster: DevCluster, sources: Sources) -> None:
    strangers = [replace(node, name=f"other-{node.name}", addresses=(), labels={}) for node in nodes_of(cluster)]
    policy = policy_of(cluster, MEMORY)
    mixed = [*strangers, *(node for node in nodes_of(cluster) if node.name == "node-1")]
    found = await tried(sources, policy, mixed)
    assert text(found, FindingKind.NODES_WITHOUT_SERIES, MEMORY).startswith(
        "4 of 5 nodes have no series, e.g. other-node-1, while 2 series name no node, e.g. memory{"
    )
    none = await tried(sources, policy, strangers, lambda t: bool(t.findings))
    assert "name no node of this cluster" in text(none, FindingKind.QUERY_FAILED, MEMORY)


async def test_what_prometheus_refuses_is_quoted_with_the_field(cluster: DevCluster, sources: Sources) -> None:
    metrics = (NETWORK_RECEIVE, Metric("disk-busy", 1, query="max by (instance) (rate(node_disk"), MEMORY)
    found = await tried(sources, policy_of(cluster, *metrics, device_name="eth["), nodes_of(cluster))
    of_network = text(found, FindingKind.QUERY_FAILED, NETWORK_RECEIVE)
    of_disk = text(found, FindingKind.QUERY_FAILED, "disk-busy")
    assert "missing closing ]" in of_network
    assert of_network.endswith("Is spec.deviceName eth[ the regular expression that was meant?")
    assert "parse error: unclosed left parenthesis" in of_disk
    assert of_disk.endswith("Mend spec.metrics[disk-busy].query.")


async def test_a_scale_that_no_value_lies_on_is_found(cluster: DevCluster, sources: Sources) -> None:
    percent = Metric("cpu-percent", 1, query=PERCENT, min=0.0, max=1.0)

    def settled(preflight: Preflight) -> bool:
        return bool(preflight.tried) and "at about 50" in preflight.tried[0].example

    found = await tried(sources, policy_of(cluster, percent), nodes_of(cluster), settled)
    assert 'but max is 1: write max: "100" for spec.metrics[cpu-percent]' in text(
        found, FindingKind.OUTSIDE_SCALE, "cpu-percent"
    )


async def test_scrapes_that_are_too_rare_are_measured(cluster: DevCluster, sources: Sources) -> None:
    policy = policy_of(cluster, CPU, time_range_s=30.0)
    rare = FindingKind.TOO_FEW_SAMPLES
    found = await tried(sources, policy, nodes_of(cluster), lambda t: rare in {finding.kind for finding in t.findings})
    assert text(found, FindingKind.TOO_FEW_SAMPLES) == (
        "node-exporter is scraped every 10s, so that spec.timeRange 30s holds 3 samples: set spec.timeRange to 40s or"
        " more, or scrape every 7s or more often."
    )
