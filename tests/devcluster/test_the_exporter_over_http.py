from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp.test_utils import TestClient, TestServer

from devcluster.exporter.fleet import Fleet
from devcluster.exporter.server import application


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[TestClient]:
    app = application(Fleet(), state=tmp_path / "nodes.json", target="127.0.0.1:1")
    async with TestClient(TestServer(app)) as client:
        await client.post("/nodes", json={"n1": {"cpus": 4}})
        yield client


async def test_prometheus_finds_every_node(client: TestClient) -> None:
    groups = await (await client.get("/discovery/prometheus")).json()
    assert groups == [
        {
            "targets": ["127.0.0.1:1"],
            "labels": {
                "__metrics_path__": "/metrics/nodes/n1/exporter",
                "__meta_node": "n1",
                "__meta_node_address": "10.1.0.1:9100",
            },
        }
    ]


@pytest.mark.parametrize("path", ["exporter", "metrics/resource"])
async def test_a_dark_node_does_not_answer(client: TestClient, path: str) -> None:
    assert (await client.get(f"/metrics/nodes/n1/{path}")).status == 200
    await client.patch("/nodes", json={"n1": {"dark": True}})
    assert (await client.get(f"/metrics/nodes/n1/{path}")).status == 503


@pytest.mark.parametrize(
    ("change", "status", "sentence"),
    [
        pytest.param({"n2": {}}, 404, "no node 'n2'", id="unknown node"),
        pytest.param({"n1": {"recieve": 1}}, 400, "unknown fields: recieve", id="misspelt field"),
        pytest.param({"n1": {"receive_bytes_per_s": {"eth0": -1}}}, 400, "0 or more", id="negative rate"),
        pytest.param({"n1": {"receive_bytes_per_s": 5}}, 400, "items", id="no devices"),
    ],
)
async def test_a_change_that_makes_no_sense_is_refused(
    client: TestClient, change: object, status: int, sentence: str
) -> None:
    answer = await client.patch("/nodes", json=change)
    assert answer.status == status
    assert sentence in await answer.text()


async def test_a_removed_node_is_gone(client: TestClient) -> None:
    await client.delete("/nodes", json=["n1"])
    assert (await client.get("/metrics/nodes/n1/exporter")).status == 404
    assert await (await client.get("/discovery/prometheus")).json() == []


async def test_prometheus_finds_cadvisor_where_pods_are_told_of(client: TestClient) -> None:
    await client.patch("/nodes", json={"n1": {"pods": {}}})
    groups = await (await client.get("/discovery/prometheus")).json()
    assert [(g["labels"]["__metrics_path__"], g["labels"].get("job")) for g in groups] == [
        ("/metrics/nodes/n1/exporter", None),
        ("/metrics/nodes/n1/metrics/cadvisor", "cadvisor"),
    ]


async def test_cadvisor_tells_of_pods_until_they_are_named_no_more(client: TestClient) -> None:
    await client.patch("/nodes", json={"n1": {"pods": {"default/web": {"memory_bytes": 5.0}, "default/job": {}}}})
    text = await (await client.get("/metrics/nodes/n1/metrics/cadvisor")).text()
    assert 'container_memory_working_set_bytes{container="main",namespace="default",pod="web"} 5.0\n' in text
    await client.patch("/nodes", json={"n1": {"pods": {"default/job": {}}}})
    text = await (await client.get("/metrics/nodes/n1/metrics/cadvisor")).text()
    assert 'pod="job"' in text
    assert 'pod="web"' not in text
