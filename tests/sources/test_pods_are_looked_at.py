"""Looks at what pods use are taken beside the refreshes, and cost them nothing."""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import pytest
from kubernetes.client import ApiClient, Configuration

from plimsoll.cluster.workload import WorkloadKey
from plimsoll.load.pod_use import PodPlace
from plimsoll.load.workload_use import Use, Uses, WorkloadUse
from plimsoll.policy.compiled import (
    CPU,
    MEMORY,
    NETWORK_RECEIVE,
    Metric,
    MetricsServerSource,
    Policy,
    PrometheusSource,
    Source,
)
from plimsoll.sources.pod_looks import LOOK
from plimsoll.sources.pod_use import PodUse
from tests.sources.played import NEVER, Asked, Played, Reply, in_json, refusal, vector

NOW_S = 1_780_272_010.0
WEB = WorkloadKey("default/Deployment/web")
PODS: Mapping[str, PodPlace] = {f"default/web-{i}": PodPlace(WEB, NOW_S - 86_400) for i in (1, 2)}
LABELS = [{"namespace": "default", "pod": f"web-{i}"} for i in (1, 2)]


class Looker:
    """Asks for news, refresh after refresh, and waits for the look that this may have begun."""

    def __init__(self, url: str) -> None:
        configuration = Configuration(host=url)
        configuration.retries = 0
        self.counted: list[tuple[str, str]] = []
        self.pod_use = PodUse(ApiClient(configuration), on_look=lambda *what: self.counted.append(what))

    async def news(self, policy: Policy, *, now_s: float = NOW_S, pods: Mapping[str, PodPlace] = PODS) -> Any:
        news = self.pod_use.news(policy, pods=pods, now_s=now_s)
        await self.settled()
        return news

    async def settled(self) -> None:
        looking = [task for task in asyncio.all_tasks() if task.get_name() == LOOK]
        await asyncio.gather(*looking)


@pytest.fixture
async def looker(server: Played) -> AsyncIterator[Looker]:
    one = Looker(server.url)
    yield one
    await one.pod_use.close()


def policy(source: Source | None, *metrics: str, name: str = "p", **fields: Any) -> Policy:
    return Policy(name=name, source=source, metrics=tuple(Metric(m, 1) for m in metrics or (CPU,)), **fields)


def prometheus(server: Played, *metrics: str, **fields: Any) -> Policy:
    return policy(PrometheusSource(url=server.url, timeout_s=0.5), *metrics, **fields)


def pod_metrics(name: str = "web-1", **fields: Any) -> dict[str, Any]:
    usages = [{"cpu": "250m", "memory": "64Mi"}, {"cpu": "250000000n", "memory": "65536Ki"}]
    containers = [{"name": f"c{i}", "usage": usage} for i, usage in enumerate(usages)]
    metadata = {"name": name, "namespace": "default", "creationTimestamp": "2026-06-01T00:00:09Z"}
    item = {"metadata": metadata, "timestamp": "2026-06-01T00:00:00Z", "window": "20s", "containers": containers}
    return {**item, **fields}


def listing(*items: Any) -> Reply:
    return in_json({"kind": "PodMetricsList", "metadata": {}, "items": list(items)})


def both(_: Asked) -> Reply:
    return vector((LABELS[0], "1"), (LABELS[1], "3"))


async def test_prometheus_tells_what_pods_use(server: Played, looker: Looker) -> None:
    server.reply = both
    asking = prometheus(server, CPU, MEMORY, NETWORK_RECEIVE)
    assert await looker.news(asking) is None
    use = Uses.of({WEB: Use(2, 2.0, 5.0)})
    want = WorkloadUse(NOW_S, {CPU: use, MEMORY: use, NETWORK_RECEIVE: use})
    assert await looker.news(asking, now_s=NOW_S + 30) == want
    assert {asked.parameters["time"] for asked in server.asked} == {f"{NOW_S:.3f}"}
    assert looker.counted == [("Prometheus", "answered")]


async def test_metrics_server_tells_cpu_and_memory(server: Played, looker: Looker) -> None:
    server.reply = lambda _: listing(pod_metrics())
    asking = policy(MetricsServerSource(), CPU, MEMORY)
    await looker.news(asking)
    mem_bytes = 128.0 * 2**20
    cpu, memory = Uses.of({WEB: Use(1, 0.5, 0.25)}), Uses.of({WEB: Use(1, mem_bytes, mem_bytes**2)})
    want = WorkloadUse(NOW_S - 10, {CPU: cpu, MEMORY: memory})
    assert await looker.news(asking, now_s=NOW_S + 30) == want
    assert [asked.path for asked in server.asked] == ["/apis/metrics.k8s.io/v1beta1/pods"]


@pytest.mark.parametrize(
    "item",
    [
        pytest.param(pod_metrics(containers=[]), id="no container"),
        pytest.param(
            pod_metrics(containers=[{"usage": {"cpu": "1"}}, {"usage": {"cpu": "?"}}]), id="one of two cannot be read"
        ),
        pytest.param(pod_metrics(containers=[{"name": "a"}]), id="no usage"),
        pytest.param(pod_metrics(timestamp=None), id="no time"),
        pytest.param(pod_metrics(timestamp="2026-05-31T23:00:00Z"), id="an hour old"),
        pytest.param(pod_metrics("of-nobody-we-know"), id="unknown"),
    ],
)
async def test_a_pod_whose_use_is_not_known_does_not_count_as_idle(
    server: Played, looker: Looker, item: dict[str, Any]
) -> None:
    server.reply = lambda _: listing(item)
    asking = policy(MetricsServerSource(), CPU)
    await looker.news(asking)
    assert await looker.news(asking, now_s=NOW_S + 30) is None
    assert looker.counted == [("MetricsServer", "empty")]


async def test_many_items_are_read_as_json_has_them(server: Played, looker: Looker) -> None:
    """They are read one after the other: what stands in strings must not be taken for the list's own marks."""
    odd = pod_metrics("web-2", note='"items": [ ] , {', nested={"items": [1, [2]]})
    server.reply = lambda _: listing(odd, pod_metrics("web-1", containers=[{"usage": {"cpu": "1500m"}}]), odd)
    asking = policy(MetricsServerSource(), CPU)
    await looker.news(asking)
    use = await looker.news(asking, now_s=NOW_S + 30)
    assert use.by_metric[CPU] == {WEB: Use(3, pytest.approx(2.5 / 3), pytest.approx(2.75 / 3))}


# How often, and who is told -------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["Prometheus", "MetricsServer"])
async def test_a_source_is_asked_once_a_minute_however_often_policies_refresh(
    server: Played, looker: Looker, source: str
) -> None:
    server.reply = both if source == "Prometheus" else lambda _: listing(pod_metrics())
    of = PrometheusSource(url=server.url) if source == "Prometheus" else MetricsServerSource()
    for step, name in itertools.product(range(13), ("one", "other")):
        await looker.news(policy(of, name=name), now_s=NOW_S + 10 * step)
    assert len(server.asked) == 3


async def test_each_policy_is_told_once_and_of_its_own_metrics(server: Played, looker: Looker) -> None:
    server.reply = both
    one, other = prometheus(server, CPU, name="one"), prometheus(server, CPU, MEMORY, name="other")
    for asking in (other, one):
        looker.pod_use.news(asking, pods=PODS, now_s=NOW_S)
    await looker.settled()
    told = {asking.name: await looker.news(asking, now_s=NOW_S + 30) for asking in (one, other)}
    assert {name: sorted(use.by_metric) for name, use in told.items()} == {"one": [CPU], "other": [CPU, MEMORY]}
    assert len(server.asked) == 2
    assert [await looker.news(asking, now_s=NOW_S + 40) for asking in (one, other)] == [None, None]


async def test_a_metric_is_asked_for_no_longer_when_its_policy_is_gone(server: Played, looker: Looker) -> None:
    server.reply = both
    await looker.news(prometheus(server, MEMORY, name="goes"))
    server.asked.clear()
    for step in range(1, 5):
        await looker.news(prometheus(server, CPU, name="stays"), now_s=NOW_S + 60 * step)
    assert "memory" in "".join(server.queries[:2])
    assert "memory" not in server.queries[-1]


async def test_after_the_clock_was_set_back_pods_are_looked_at_at_once(server: Played, looker: Looker) -> None:
    server.reply = both
    await looker.news(prometheus(server))
    await looker.news(prometheus(server), now_s=NOW_S - 3600)
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("asking", "pods"),
    [
        pytest.param(policy(None), PODS, id="the policy has no source"),
        pytest.param(policy(MetricsServerSource(), NETWORK_RECEIVE), PODS, id="the source does not know the metric"),
        pytest.param(policy(MetricsServerSource(), "disk-busy"), PODS, id="a custom metric"),
        pytest.param(policy(MetricsServerSource()), {}, id="no pod runs"),
    ],
)
async def test_where_nothing_can_be_learned_nothing_is_asked(
    server: Played, looker: Looker, asking: Policy, pods: Mapping[str, PodPlace]
) -> None:
    assert await looker.news(asking, pods=pods) is None
    assert (server.asked, looker.counted) == ([], [])


# What fails -----------------------------------------------------------------------------------------


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.mark.parametrize(
    "failure",
    [
        pytest.param(
            ("MetricsServer", lambda _: Reply(status=403), "grant it get and list on pods.metrics.k8s.io"), id="403"
        ),
        pytest.param(("MetricsServer", lambda _: Reply(status=404), "is not served (404)"), id="404"),
        pytest.param(("MetricsServer", lambda _: in_json({"kind": "Status"}), "no list of PodMetrics"), id="no list"),
        pytest.param(
            ("MetricsServer", lambda _: Reply(body=b'{"items": [{"metadata"'), "no list of PodMetrics"), id="broken off"
        ),
        pytest.param(("MetricsServer", lambda _: listing(5), "no list of PodMetrics"), id="items that are none"),
        pytest.param(("Prometheus", lambda _: Reply(status=500), "answers 500"), id="500 of Prometheus"),
        pytest.param(("Prometheus", lambda _: NEVER, "did not answer within 0.5 s"), id="a Prometheus that hangs"),
    ],
)
async def test_a_failure_is_logged_once_counted_each_time_and_tried_less_and_less(
    server: Played, looker: Looker, caplog: pytest.LogCaptureFixture, failure: tuple[str, Callable[[Asked], Reply], str]
) -> None:
    source, server.reply, want = failure
    asking = prometheus(server) if source == "Prometheus" else policy(MetricsServerSource())
    for minute in range(8):
        assert await looker.news(asking, now_s=NOW_S + 60 * minute) is None
    assert looker.counted == 4 * [(source, "failed")]
    (said,) = warnings_of(caplog)
    assert want in said


async def test_after_a_failure_it_learns_again(
    server: Played, looker: Looker, caplog: pytest.LogCaptureFixture
) -> None:
    asking = prometheus(server)
    for minute, reply in enumerate((lambda _: Reply(status=500), both, both)):
        server.reply = reply
        news = await looker.news(asking, now_s=NOW_S + 60 * minute)
    assert news is not None
    assert len(warnings_of(caplog)) == 1


async def test_a_query_that_is_refused_fails_alone(
    server: Played, looker: Looker, caplog: pytest.LogCaptureFixture
) -> None:
    def reply(asked: Asked) -> Reply:
        too_much = refusal(422, "execution", "query processing would load too many samples")
        return too_much if "cpu" in asked.parameters["query"] else both(asked)

    server.reply = reply
    asking = prometheus(server, CPU, MEMORY)
    await looker.news(asking)
    news = await looker.news(asking, now_s=NOW_S + 30)
    assert list(news.by_metric) == [MEMORY]
    (said,) = warnings_of(caplog)
    assert "too many samples" in said


async def test_a_prometheus_that_does_not_scrape_pods_is_told_of_once(
    server: Played, looker: Looker, caplog: pytest.LogCaptureFixture
) -> None:
    for minute in range(4):
        assert await looker.news(prometheus(server), now_s=NOW_S + 60 * minute) is None
    assert looker.counted == 4 * [("Prometheus", "empty")]
    (said,) = warnings_of(caplog)
    assert "has no series container_* of known pods: scrape the kubelets' /metrics/cadvisor" in said


class _Broken(dict[str, PodPlace]):
    def get(self, *_: object) -> PodPlace:  # type: ignore[override]
        raise RuntimeError


async def test_what_nobody_thought_of_leaves_a_traceback_and_ends_nothing(
    server: Played, looker: Looker, caplog: pytest.LogCaptureFixture
) -> None:
    server.reply = both
    for minute in range(3):
        assert await looker.news(prometheus(server), pods=_Broken(PODS), now_s=NOW_S + 60 * minute) is None
    assert sum(bool(record.exc_info) for record in caplog.records) == 1
    assert looker.counted == 2 * [("Prometheus", "failed")]


# What takes too long --------------------------------------------------------------------------------


async def test_nobody_waits_for_a_look(server: Played) -> None:
    server.reply = lambda _: NEVER
    looker = Looker(server.url)
    began_s = time.monotonic()
    for source in (PrometheusSource(url=server.url, timeout_s=30.0), MetricsServerSource()):
        assert looker.pod_use.news(policy(source), pods=PODS, now_s=NOW_S) is None
    await asyncio.sleep(0.1)
    await looker.pod_use.close()
    assert time.monotonic() - began_s < 2
