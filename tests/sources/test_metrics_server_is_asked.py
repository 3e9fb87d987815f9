from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
from kubernetes.client import ApiClient, Configuration

from plimsoll.load.samples import MetricsServerAnswers, NodeUsage
from plimsoll.sources.metrics_server import MetricsServer, node_usage
from plimsoll.sources.observing import unobserved
from tests.sources.played import NEVER, Played, Reply, in_json

NOW_S = 1_780_000_000.0
ITEM = {
    "metadata": {"name": "node-1", "creationTimestamp": "2026-06-01T00:00:09Z"},
    "timestamp": "2026-06-01T00:00:00Z",
    "window": "20.05s",
    "usage": {"cpu": "156340591n", "memory": "1234567Ki"},
}
SAMPLED_AT_S = 1_780_272_000.0


def listing(*items: Any) -> Reply:
    return in_json({"kind": "NodeMetricsList", "apiVersion": "metrics.k8s.io/v1beta1", "items": list(items)})


def metrics_server_at(url: str) -> MetricsServer:
    configuration = Configuration(host=url)
    configuration.retries = 0
    return MetricsServer(ApiClient(configuration), on_query=unobserved, timeout_s=0.5)


@pytest.fixture
async def metrics_server(server: Played) -> AsyncIterator[MetricsServer]:
    asker = metrics_server_at(server.url)
    yield asker
    await asker.close()


async def ask(asker: MetricsServer, *, now_s: float = NOW_S, max_age_s: float = 15.0) -> MetricsServerAnswers:
    return await asker.ask(policy="p", now_s=now_s, max_age_s=max_age_s)


async def test_the_nodes_usage_is_read(server: Played, metrics_server: MetricsServer) -> None:
    server.reply = lambda _: listing(ITEM)
    answers = await ask(metrics_server)
    usage = NodeUsage("node-1", SAMPLED_AT_S, 20.05, 0.156340591, 1234567 * 1024.0)
    assert answers == MetricsServerAnswers(asked_at_s=NOW_S, usages=(usage,))
    assert [asked.path for asked in server.asked] == ["/apis/metrics.k8s.io/v1beta1/nodes"]


async def test_no_nodes_yet_is_no_failure(server: Played, metrics_server: MetricsServer) -> None:
    server.reply = lambda _: listing()
    assert await ask(metrics_server) == MetricsServerAnswers(asked_at_s=NOW_S)


@pytest.mark.parametrize(
    ("fields", "want"),
    [
        pytest.param({"usage": {"cpu": "250m", "memory": "128Mi"}}, (0.25, 128 * 2**20, 20.05), id="milli and Mi"),
        pytest.param({"usage": {"cpu": "1", "memory": "1e9"}}, (1.0, 1e9, 20.05), id="a plain number, an exponent"),
        pytest.param({"usage": {"cpu": "17u", "memory": "0"}}, (17e-6, 0.0, 20.05), id="micro and nothing"),
        pytest.param({"window": "1m0s"}, (0.156340591, 1234567 * 1024, 60.0), id="a window of a minute"),
        pytest.param({"window": "1h1m1.5s"}, (0.156340591, 1234567 * 1024, 3661.5), id="a window of all units"),
        pytest.param({"window": "500ms"}, (0.156340591, 1234567 * 1024, 0.5), id="a window below a second"),
        pytest.param({"window": "soon"}, (0.156340591, 1234567 * 1024, math.nan), id="a window that is none"),
        pytest.param({"usage": {"cpu": "much", "memory": "1Gi"}}, (math.nan, 2**30, 20.05), id="a word is not 0"),
        pytest.param({"usage": {"memory": "1Gi"}}, (math.nan, 2**30, 20.05), id="what is absent is not 0"),
        pytest.param({"usage": {"cpu": "-1", "memory": "1Gi"}}, (-1.0, 2**30, 20.05), id="negative, left to be judged"),
        pytest.param({"usage": None}, (math.nan, math.nan, 20.05), id="no usage"),
    ],
)
def test_numbers_are_read_exactly_or_not_at_all(fields: dict[str, Any], want: tuple[float, float, float]) -> None:
    usage = node_usage({**ITEM, **fields})
    assert (usage.cpu_cores, usage.mem_bytes, usage.window_s) == pytest.approx(want, nan_ok=True)
    assert usage.sampled_at_s == SAMPLED_AT_S


def test_the_time_of_the_request_is_not_taken_for_the_samples() -> None:
    assert math.isnan(node_usage({**ITEM, "timestamp": None}).sampled_at_s)


@pytest.mark.parametrize(
    ("reply", "want"),
    [
        pytest.param(
            in_json({"kind": "Status", "status": "Failure", "code": 404}, status=404),
            "metrics.k8s.io is not served (404): install metrics-server, or set spec.metricsSource.prometheus.",
            id="404",
        ),
        pytest.param(
            Reply(status=403), "Plimsoll may not list nodes of metrics.k8s.io (403): grant it get and list on", id="403"
        ),
        pytest.param(Reply(status=401), "The API server does not know us (401)", id="401"),
        pytest.param(Reply(status=503), "look at APIService v1beta1.metrics.k8s.io", id="503"),
        pytest.param(Reply(status=500), "The API server answers 500 for metrics.k8s.io", id="500"),
        pytest.param(in_json({"kind": "Status"}), "is no list of NodeMetrics", id="another kind of object"),
        pytest.param(listing({"usage": {}}), "is no list of NodeMetrics", id="items without a name"),
        pytest.param(listing({**ITEM, "metadata": {"name": ["a"]}}), "is no list of NodeMetrics", id="a list as name"),
        pytest.param(
            Reply(body=b"[" * 200_000, headers={"Content-Type": "application/json"}),
            "is no list of NodeMetrics",
            id="JSON without end",
        ),
        pytest.param(Reply(body=b"<html>", headers={"Content-Type": "text/html"}), "metrics.k8s.io", id="a page"),
    ],
)
async def test_failures_say_what_to_do(server: Played, metrics_server: MetricsServer, reply: Reply, want: str) -> None:
    server.reply = lambda _: reply
    answers = await ask(metrics_server)
    assert want in answers.failure
    assert answers.failure.endswith(".")
    assert answers.usages == ()


async def test_an_api_server_that_hangs_is_given_up_in_time(server: Played, metrics_server: MetricsServer) -> None:
    server.reply = lambda _: NEVER
    began_s = time.monotonic()
    answers = await ask(metrics_server)
    assert answers.failure
    assert time.monotonic() - began_s < 2


async def test_nobody_listens() -> None:
    asker = metrics_server_at("http://127.0.0.1:9")
    assert "cannot be reached for metrics.k8s.io: Connection refused." in (await ask(asker)).failure
    await asker.close()


async def test_policies_share_an_answer_while_it_is_young(server: Played, metrics_server: MetricsServer) -> None:
    server.reply = lambda _: listing(ITEM)
    first = await asyncio.gather(*(ask(metrics_server) for _ in range(4)))
    assert len({id(answers) for answers in first}) == 1
    assert (await ask(metrics_server, now_s=NOW_S + 10)).asked_at_s == NOW_S
    assert len(server.asked) == 1
    assert (await ask(metrics_server, now_s=NOW_S + 10, max_age_s=5)).asked_at_s == NOW_S + 10
    assert (await ask(metrics_server, now_s=NOW_S + 40, max_age_s=600)).asked_at_s == NOW_S + 40
    assert len(server.asked) == 3


async def test_a_failure_is_not_kept(server: Played, metrics_server: MetricsServer) -> None:
    server.reply = lambda _: Reply(status=503)
    assert (await ask(metrics_server)).failure
    server.reply = lambda _: listing(ITEM)
    assert (await ask(metrics_server)).usages
