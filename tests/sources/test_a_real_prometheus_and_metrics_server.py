"""Against the real programs; see conftest for the cluster and what its nodes carry."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import pytest
from kubernetes.client import ApiClient
from kubernetes.config import new_client_from_config

from devcluster import DevCluster, ExporterClient, NodeSpec
from devcluster.exporter.load import Load
from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.workload import WorkloadKey
from plimsoll.load.pod_use import PodPlace
from plimsoll.load.queries import queries
from plimsoll.load.readings import Readings, ReadingState
from plimsoll.policy.compiled import (
    CPU,
    MEMORY,
    NETWORK_RECEIVE,
    NETWORK_TRANSMIT,
    Metric,
    MetricsServerSource,
    Policy,
    PrometheusSource,
)
from plimsoll.sources import Sources
from plimsoll.sources.prometheus_client import PrometheusClient

pytestmark = pytest.mark.cluster

OK, MISSING = ReadingState.OK, ReadingState.MISSING
NODES = ("node-1", "node-2", "node-3")
METRICS = (NETWORK_RECEIVE, NETWORK_TRANSMIT, CPU, MEMORY)
WEIRD = "".join(map(chr, range(1, 160))) + '\\"{}\u2028\u202e\ufeff\U0001f6a2'


def policy_of(cluster: DevCluster, *metrics: str, **fields: Any) -> Policy:
    assert cluster.prometheus_url is not None
    source = PrometheusSource(url=cluster.prometheus_url)
    usual = {"source": source, "time_range_s": 30.0}
    return Policy(name="p", metrics=tuple(Metric(metric, 1) for metric in metrics), **{**usual, **fields})


def nodes_of(cluster: DevCluster) -> list[NodeInfo]:
    listed = json.loads(cluster.kubectl("get", "nodes", "-o", "json"))["items"]
    return [NodeInfo.parse(node) for node in listed]


def exporter_of(cluster: DevCluster) -> ExporterClient:
    assert cluster.exporter is not None
    return cluster.exporter


@pytest.fixture
async def sources(measured_cluster: DevCluster) -> AsyncIterator[Sources]:
    api: ApiClient = new_client_from_config(str(measured_cluster.kubeconfig))
    facade = Sources(api)
    yield facade
    await facade.close()


def approx(*of_nodes: float) -> Any:
    return {node: pytest.approx(value, rel=0.05, abs=0.02) for node, value in zip(NODES, of_nodes, strict=True)}


async def eventually(
    sources: Sources,
    cluster: DevCluster,
    policy: Policy,
    done: Callable[[Readings], bool],
    *,
    within_s: float = 100.0,
) -> Readings:
    nodes, deadline_s = nodes_of(cluster), time.monotonic() + within_s
    while True:
        now_s = time.time()
        readings = await sources.refresh(replace(policy, refresh_interval_s=1.0), nodes=nodes, pods={}, now_s=now_s)
        if done(readings):
            return readings
        assert time.monotonic() < deadline_s, readings
        await asyncio.sleep(0.5)


def by_node(readings: Readings, metric: str, column: str = "value") -> dict[str, float]:
    """Of the nodes that were there from the beginning."""
    values = getattr(readings.metrics[metric], column).tolist()
    return {node: value for node, value in zip(readings.nodes, values, strict=True) if node in NODES}


def all_ok(readings: Readings) -> bool:
    states = [by_node(readings, metric, "state") for metric in readings.metrics]
    return not readings.failures and all(state == OK for of_node in states for state in of_node.values())


async def test_a_window_that_is_hardly_filled_tells_the_true_rate(
    measured_cluster: DevCluster, sources: Sources
) -> None:
    """A new node, seen through windows of half an hour and more: raw rates are a few percent of the truth."""
    load: Load = {"receive_bytes_per_s": {"eth0": 100e6}, "cpu_utilisation": 0.3}
    measured_cluster.add_nodes([NodeSpec(name="young", load=load)])
    policy = policy_of(measured_cluster, NETWORK_RECEIVE, CPU, time_range_s=1800.0)

    def seen(readings: Readings) -> bool:
        judged = readings.metrics.get(NETWORK_RECEIVE)
        return judged is not None and judged.state[readings.nodes.index("young")] == OK

    readings = await eventually(sources, measured_cluster, policy, seen)
    row = readings.nodes.index("young")
    assert readings.metrics[NETWORK_RECEIVE].value[row] == pytest.approx(100e6, rel=0.05)
    assert readings.metrics[CPU].utilisation[row] == pytest.approx(0.3, abs=0.03)
    assert readings.oddities.counts["Partial"] >= 1
    receive = next(q.text for q in queries(policy) if q.id == "receive.short")
    assert isinstance(policy.source, PrometheusSource)
    client = PrometheusClient(policy.source)
    assert max(sample.value for sample in client.query(receive, at_s=readings.taken_at_s)) < 20e6
    client.cut_off()


async def test_true_loads_appear_by_node(measured_cluster: DevCluster, sources: Sources) -> None:
    policy = policy_of(measured_cluster, *METRICS)

    def settled(readings: Readings) -> bool:
        return all_ok(readings) and by_node(readings, NETWORK_RECEIVE)["node-1"] > 99e6

    readings = await eventually(sources, measured_cluster, policy, settled)
    assert by_node(readings, NETWORK_RECEIVE) == approx(100e6, 10e6, 0.0)
    assert by_node(readings, NETWORK_TRANSMIT) == approx(0.0, 20e6, 0.0)
    assert by_node(readings, NETWORK_RECEIVE, "capacity") == approx(1.25e9, 125e6, 1.25e9)
    assert by_node(readings, CPU, "utilisation") == approx(0.5, 0.1, 0.0)
    assert by_node(readings, MEMORY) == approx(48.0 * 2**30, 16.0 * 2**30, 0.0)
    assert by_node(readings, MEMORY, "utilisation") == approx(0.75, 0.25, 0.0)
    assert all(readings.taken_at_s - s < 5 for s in by_node(readings, CPU, "sampled_at_s").values())
    assert readings.oddities.examples["Capacity"].startswith("node node-2, device eth0: link speed -125000")


async def test_a_dead_exporters_last_rate_keeps_its_time(measured_cluster: DevCluster, sources: Sources) -> None:
    policy = policy_of(measured_cluster, NETWORK_RECEIVE, CPU)
    await eventually(sources, measured_cluster, policy, all_ok)
    died_s = time.time()
    exporter_of(measured_cluster).set("node-2", dark=True)
    try:
        await asyncio.sleep(12)
        readings = await eventually(sources, measured_cluster, policy, all_ok)
        for metric in readings.metrics:
            sampled_at_s = by_node(readings, metric, "sampled_at_s")
            # Of a dead exporter it is known to the step of the subquery, five seconds.
            assert died_s - 7 <= sampled_at_s.pop("node-2") <= died_s + 1
            assert all(seconds > died_s + 5 for seconds in sampled_at_s.values())
        assert by_node(readings, NETWORK_RECEIVE) == approx(100e6, 10e6, 0.0)
        ten_minutes_on = await sources.refresh(
            policy, nodes=nodes_of(measured_cluster), pods={}, now_s=time.time() + 660
        )
        assert set(ten_minutes_on.failures) == {NETWORK_RECEIVE, CPU}
        assert ten_minutes_on.metrics == {}
    finally:
        exporter_of(measured_cluster).set("node-2", dark=False)


async def test_numbers_that_are_none_are_missing_on_that_node_alone(
    measured_cluster: DevCluster, sources: Sources
) -> None:
    policy = policy_of(measured_cluster, *METRICS)
    await eventually(sources, measured_cluster, policy, all_ok)
    exporter_of(measured_cluster).set("node-3", not_a_number=True)
    try:

        def spoilt(readings: Readings) -> bool:
            return all(by_node(readings, metric, "state")["node-3"] == MISSING for metric in METRICS)

        readings = await eventually(sources, measured_cluster, policy, spoilt)
        assert readings.failures == {}
        assert readings.oddities.counts["NotFinite"] >= len(METRICS)
        for metric in METRICS:
            assert by_node(readings, metric, "state") == {"node-1": OK, "node-2": OK, "node-3": MISSING}
    finally:
        exporter_of(measured_cluster).set("node-3", not_a_number=False)


@pytest.mark.parametrize(
    "device",
    [
        pytest.param('eth0"} or vector(1) #', id="a quote and a query"),
        pytest.param("eth9\n", id="a newline"),
        pytest.param(r"eth0\"} or vector(1) #", id="a backslash before the quote"),
    ],
)
async def test_a_device_name_stays_a_device_name(measured_cluster: DevCluster, sources: Sources, device: str) -> None:
    policy = policy_of(measured_cluster, NETWORK_RECEIVE, CPU, device_name=device)
    readings = await eventually(sources, measured_cluster, policy, lambda r: CPU in r.metrics)
    assert (
        "Prometheus has no series of node_network_receive_bytes_total for device eth"
        in readings.failures[NETWORK_RECEIVE]
    )
    assert list(readings.metrics) == [CPU]


async def test_an_expression_with_a_backslash_is_one(measured_cluster: DevCluster, sources: Sources) -> None:
    policy = policy_of(measured_cluster, NETWORK_RECEIVE, device_name=r"eth\d")
    readings = await eventually(sources, measured_cluster, policy, lambda r: NETWORK_RECEIVE in r.metrics)
    assert by_node(readings, NETWORK_RECEIVE)["node-1"] > 0


async def test_an_expression_that_is_none_is_refused_and_the_rest_counts(
    measured_cluster: DevCluster, sources: Sources
) -> None:
    policy = policy_of(measured_cluster, NETWORK_RECEIVE, CPU, device_name="eth[")
    readings = await eventually(sources, measured_cluster, policy, lambda r: CPU in r.metrics)
    assert "refuses the query" in readings.failures[NETWORK_RECEIVE]
    assert "missing closing ]" in readings.failures[NETWORK_RECEIVE]


def test_any_text_is_read_as_a_string(measured_cluster: DevCluster) -> None:
    from plimsoll.load.promql import string

    assert measured_cluster.prometheus_url is not None
    client = PrometheusClient(PrometheusSource(url=measured_cluster.prometheus_url))
    query = f'label_replace(vector(1), "text", {string(WEIRD.replace("$", ""))}, "", "")'
    (sample,) = client.query(query, at_s=time.time())
    assert sample.labels == {"text": WEIRD.replace("$", "")}
    client.cut_off()


async def test_a_node_label_that_is_no_word_is_read(measured_cluster: DevCluster, sources: Sources) -> None:
    policy = policy_of(measured_cluster, CPU)
    assert isinstance(policy.source, PrometheusSource)
    policy = replace(policy, source=replace(policy.source, node_label="k8s.node"))
    readings = await eventually(sources, measured_cluster, policy, lambda r: CPU in r.metrics)
    assert readings.failures == {}


async def test_metrics_server_tells_cpu_and_memory(measured_cluster: DevCluster, sources: Sources) -> None:
    policy = policy_of(measured_cluster, CPU, MEMORY, source=MetricsServerSource())

    def settled(readings: Readings) -> bool:
        return CPU in readings.metrics and all_ok(readings)

    readings = await eventually(sources, measured_cluster, policy, settled)
    assert by_node(readings, CPU, "utilisation") == approx(0.5, 0.1, 0.0)
    assert by_node(readings, MEMORY, "utilisation") == approx(0.75, 0.25, 0.0)
    assert readings.metrics[CPU].window_s > 0
    assert all(readings.taken_at_s - s < 60 for s in by_node(readings, CPU, "sampled_at_s").values())


async def test_metrics_server_is_asked_about_pods_as_well(measured_cluster: DevCluster) -> None:
    """Fake nodes measure no containers, so that its list is empty: it is one all the same."""
    counted: list[tuple[str, str]] = []
    api: ApiClient = new_client_from_config(str(measured_cluster.kubeconfig))
    sources = Sources(api, on_look=lambda *what: counted.append(what))
    policy = policy_of(measured_cluster, CPU, MEMORY, source=MetricsServerSource())
    places = {"default/web-1": PodPlace(WorkloadKey("default/Deployment/web"), 0.0)}
    deadline_s = time.monotonic() + 60
    while not counted:
        nodes = nodes_of(measured_cluster)
        readings = await sources.refresh(policy, nodes=nodes, pods={}, places=places, now_s=time.time())
        assert time.monotonic() < deadline_s, readings
        await asyncio.sleep(0.5)
    await sources.close()
    assert counted == [("MetricsServer", "empty")]
    assert readings.use is None
