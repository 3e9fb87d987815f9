from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from kubernetes.client import ApiClient, Configuration

from plimsoll.cluster.workload import WorkloadKey
from plimsoll.load.pod_use import PodPlace
from plimsoll.load.readings import Readings
from plimsoll.load.workload_use import Use
from plimsoll.policy.compiled import (
    BUILT_IN,
    CPU,
    MEMORY,
    Metric,
    MetricsServerSource,
    Policy,
    PrometheusSource,
    Source,
)
from plimsoll.sources import Sources
from tests.builders import make_node
from tests.sources.played import Asked, Played, Reply, in_json, vector

NOW_S = 1_780_272_010.0


@pytest.fixture
async def sources(server: Played) -> AsyncIterator[Sources]:
    facade = Sources(ApiClient(Configuration(host=server.url)))
    yield facade
    await facade.close()


def policy_with(source: Source | None) -> Policy:
    return Policy(name="p", source=source, metrics=(Metric(CPU, 1), Metric(MEMORY, 1)))


async def refresh(sources: Sources, policy: Policy, *, previous: Readings | None = None) -> Readings:
    nodes = (make_node(name).info() for name in ("node-1", "node-2"))
    return await sources.refresh(policy, nodes=nodes, pods={}, now_s=NOW_S, previous=previous)


def played(asked: Asked) -> Reply:
    """A node whose cpu is three quarters idle and whose memory is half available."""
    numbers = {
        "timestamp(": f"{NOW_S - 5}",
        "cpu_seconds": "0.75",
        "time_seconds": "1",
        "MemAvail": "50",
        "MemTotal": "100",
    }
    value = next((value for part, value in numbers.items() if part in asked.parameters["query"]), None)
    return vector(({"instance": "node-1"}, value)) if value else vector()


async def test_prometheus_readings(server: Played, sources: Sources) -> None:
    server.reply = played
    readings = await refresh(sources, policy_with(PrometheusSource(url=server.url)))
    assert readings.failures == {}
    assert readings.nodes == ("node-1", "node-2")
    assert readings.taken_at_s == NOW_S
    assert readings.metrics[CPU].utilisation[0] == 0.25
    assert readings.metrics[MEMORY].utilisation[0] == 0.5


async def test_metrics_server_readings(server: Played, sources: Sources) -> None:
    usage = {"cpu": "4", "memory": "16Gi"}
    item = {"metadata": {"name": "node-2"}, "timestamp": "2026-06-01T00:00:00Z", "window": "15s", "usage": usage}
    server.reply = lambda _: in_json({"items": [item]})
    readings = await refresh(sources, policy_with(MetricsServerSource()))
    assert readings.failures == {}
    assert readings.metrics[CPU].utilisation[1] == 0.25
    assert readings.metrics[MEMORY].utilisation[1] == 0.25


@pytest.mark.parametrize(
    "policy", [pytest.param(BUILT_IN, id="the built-in default"), pytest.param(policy_with(None), id="not asked yet")]
)
async def test_without_a_source_nothing_is_asked_and_nothing_has_failed(
    server: Played, sources: Sources, policy: Policy
) -> None:
    readings = await refresh(sources, policy)
    assert (readings.metrics, readings.failures, readings.nodes) == ({}, {}, ("node-1", "node-2"))
    assert server.asked == []


async def test_every_set_of_readings_has_an_id_of_its_own(server: Played, sources: Sources) -> None:
    policies = [BUILT_IN, policy_with(PrometheusSource(url=server.url)), policy_with(MetricsServerSource()), BUILT_IN]
    ids = [(await refresh(sources, policy)).id for policy in policies]
    assert len(set(ids)) == len(ids)


async def test_a_source_that_fails_raises_nothing(server: Played, sources: Sources) -> None:
    server.reply = lambda _: Reply(status=500)
    for source in (PrometheusSource(url=server.url), MetricsServerSource()):
        readings = await refresh(sources, policy_with(source))
        assert set(readings.failures) == {""}
        assert readings.metrics == {}


@pytest.mark.parametrize("label", [["a"], {"x": 1}, 5, None], ids=repr)
async def test_labels_that_are_no_text_fail_the_query_alone(server: Played, sources: Sources, label: object) -> None:
    result = [{"metric": {"instance": label}, "value": [1, "1"]}]
    server.reply = lambda _: in_json({"status": "success", "data": {"resultType": "vector", "result": result}})
    readings = await refresh(sources, policy_with(PrometheusSource(url=server.url)))
    assert set(readings.failures) == {CPU, MEMORY}
    assert readings.metrics == {}


class _Broken(dict[str, str]):
    def get(self, *_: object) -> str:  # type: ignore[override]
        raise RuntimeError


async def test_what_nobody_thought_of_is_a_failure_with_a_traceback_in_the_log(
    server: Played, sources: Sources, caplog: pytest.LogCaptureFixture
) -> None:
    server.reply = lambda _: vector(({"namespace": "n", "pod": "p"}, "1"))
    policy, nodes = policy_with(PrometheusSource(url=server.url)), [make_node("node-1").info()]
    readings = await sources.refresh(policy, nodes=nodes, pods=_Broken(), now_s=NOW_S)
    assert readings.failures == {
        "": "The metrics source's answer could not be judged (RuntimeError): see Plimsoll's log."
    }
    assert (readings.metrics, readings.nodes, readings.taken_at_s) == ({}, ("node-1",), NOW_S)
    assert caplog.records[0].exc_info


async def test_a_scrape_that_was_missed_after_a_failure_leaves_the_last_sample(
    server: Played, sources: Sources
) -> None:
    def item(name: str) -> dict[str, object]:
        usage = {"cpu": "4", "memory": "16Gi"}
        return {"metadata": {"name": name}, "timestamp": "2026-06-01T00:00:00Z", "window": "15s", "usage": usage}

    policy = policy_with(MetricsServerSource())
    server.reply = lambda _: in_json({"items": [item("node-1"), item("node-2")]})
    nodes, readings = [make_node(name).info() for name in ("node-1", "node-2")], None
    for step, reply in enumerate((server.reply(None), Reply(status=503), in_json({"items": [item("node-1")]}))):
        server.reply = lambda _, reply=reply: reply
        readings = await sources.refresh(policy, nodes=nodes, pods={}, now_s=NOW_S + 30 * step, previous=readings)
        assert readings.metrics[CPU].utilisation.tolist() == [0.25, 0.25]
        assert bool(readings.failures) == (step == 1)


@pytest.mark.parametrize("source", ["Prometheus", "MetricsServer"])
async def test_readings_bring_what_pods_use_once_it_is_seen(server: Played, sources: Sources, source: str) -> None:
    def reply(asked: Asked) -> Reply:
        if asked.path.endswith("/pods"):
            metadata = {"namespace": "default", "name": "web-1"}
            containers = [{"name": "app", "usage": {"cpu": "500m", "memory": "1Gi"}}]
            item = {"metadata": metadata, "timestamp": "2026-06-01T00:00:00Z", "window": "15s"}
            return in_json({"items": [{**item, "containers": containers}]})
        if "container_cpu" in asked.parameters.get("query", ""):
            return vector(({"namespace": "default", "pod": "web-1"}, "0.5"))
        return played(asked) if source == "Prometheus" else in_json({"items": []})

    server.reply = reply
    web = WorkloadKey("default/Deployment/web")
    of = PrometheusSource(url=server.url) if source == "Prometheus" else MetricsServerSource()
    seen: list[Readings] = []
    async with asyncio.timeout(10):
        while not seen or seen[-1].use is None:
            places = {"default/web-1": PodPlace(web, NOW_S - 3600)}
            readings = await sources.refresh(policy_with(of), nodes=(), pods={}, places=places, now_s=NOW_S)
            seen.append(readings)
            await asyncio.sleep(0.01)
    assert seen[0].use is None
    assert seen[-1].use.by_metric[CPU] == {web: Use(1, 0.5, 0.25)}


async def test_a_failure_to_see_pods_is_none_of_the_metrics(server: Played, sources: Sources) -> None:
    server.reply = lambda asked: Reply(status=500) if "container_" in asked.parameters["query"] else played(asked)
    places = {"default/web-1": PodPlace(WorkloadKey("default/Deployment/web"), NOW_S - 3600)}
    for step in range(3):
        nodes = [make_node(name).info() for name in ("node-1", "node-2")]
        readings = await sources.refresh(
            policy_with(PrometheusSource(url=server.url)), nodes=nodes, pods={}, places=places, now_s=NOW_S + step
        )
        await asyncio.sleep(0.05)
        assert (readings.failures, readings.use) == ({}, None)
        assert set(readings.metrics) == {CPU, MEMORY}
    assert any("container_" in query for query in server.queries)
