"""A real Prometheus that scrapes a played kubelet; see kubelet.py for what its pods use."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import yaml
from kubernetes.client import ApiClient, Configuration

from plimsoll.cluster.workload import WorkloadKey
from plimsoll.load.workload_use import Use, WorkloadUse
from plimsoll.policy.compiled import (
    CPU,
    MEMORY,
    NETWORK_RECEIVE,
    NETWORK_TRANSMIT,
    Metric,
    Policy,
    PrometheusSource,
)
from plimsoll.sources.observing import uncounted
from plimsoll.sources.pod_use import PodUse
from plimsoll.sources.prometheus_client import PrometheusClient
from tests.sources.kubelet import AGENT, ENDED, WEB, YOUNG, Kubelet
from tests.sources.played import Played, Reply

pytestmark = pytest.mark.cluster

METRICS = (CPU, MEMORY, NETWORK_RECEIVE, NETWORK_TRANSMIT)
JOBS = ("kubelet", "again")
# Two containers of web-1 and its cgroup and pause container, and one under two paths.
SERIES = 6 * len(JOBS)


@pytest.fixture(scope="module")
def kubelet() -> Kubelet:
    return Kubelet(now_s=time.time())


@pytest.fixture(scope="module")
def source(kubelet: Kubelet, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrometheusSource]:
    """Two jobs scrape the one kubelet, and have done so."""
    from devcluster import binaries, ports

    folder, address = tmp_path_factory.mktemp("prometheus"), f"127.0.0.1:{ports.choose().prometheus}"
    played = Played()
    headers = {"Content-Type": "text/plain; version=0.0.4"}
    played.reply = lambda _: Reply(body=kubelet.cadvisor().encode(), headers=headers)
    with played.running():
        target = {"static_configs": [{"targets": [played.url.removeprefix("http://")]}]}
        jobs = [{"job_name": name, "metrics_path": "/metrics/cadvisor", **target} for name in JOBS]
        config = {"global": {"scrape_interval": "1s"}, "scrape_configs": jobs}
        (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
        with running(binaries.ensure("prometheus"), folder, address):
            source = PrometheusSource(url=f"http://{address}")
            until_scraped(source, kubelet.now_s)
            yield source


@contextlib.contextmanager
def running(program: Path, folder: Path, address: str) -> Iterator[None]:
    command = [
        str(program),
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={address}",
    ]
    with (folder / "log").open("w") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            until_ready(f"http://{address}/-/ready", folder / "log")
            yield
        finally:
            process.terminate()


def until_ready(url: str, log: Path) -> None:
    deadline_s = time.monotonic() + 60
    while True:
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=5):
            return
        assert time.monotonic() < deadline_s, log.read_text()
        time.sleep(0.1)


def until_scraped(source: PrometheusSource, now_s: float) -> None:
    client, deadline_s = PrometheusClient(source), time.monotonic() + 60
    while True:
        counted = client.query('count(container_memory_working_set_bytes{pod=~"web-.*"})', at_s=now_s)
        if [sample.value for sample in counted] == [SERIES]:
            return client.cut_off()
        assert time.monotonic() < deadline_s, counted
        time.sleep(0.1)


@pytest.fixture
async def pod_use() -> AsyncIterator[PodUse]:
    one = PodUse(ApiClient(Configuration(host="http://127.0.0.1:9")), on_look=uncounted)
    yield one
    await one.close()


@pytest.fixture
async def use(pod_use: PodUse, source: PrometheusSource, kubelet: Kubelet) -> WorkloadUse:
    policy = Policy(name="p", source=source, metrics=tuple(Metric(metric, 1) for metric in METRICS))
    deadline_s = time.monotonic() + 30
    while (seen := pod_use.news(policy, pods=kubelet.pods, now_s=kubelet.now_s)) is None:
        assert time.monotonic() < deadline_s
        await asyncio.sleep(0.05)
    return seen


def of_pods(*values: float) -> Use:
    mean, square = sum(values) / len(values), sum(value**2 for value in values) / len(values)
    return Use(len(values), pytest.approx(mean, rel=0.05), pytest.approx(square, rel=0.1))


@pytest.mark.parametrize(
    ("metric", "workload", "want"),
    [
        pytest.param(CPU, WEB, of_pods(0.5, 0.1), id="containers are summed, duplicates and cgroups are not"),
        pytest.param(MEMORY, WEB, of_pods(150e6, 50e6), id="memory likewise"),
        pytest.param(NETWORK_RECEIVE, WEB, of_pods(1e6, 3e6), id="interfaces are summed, tunnels are not"),
        pytest.param(NETWORK_TRANSMIT, WEB, of_pods(2e6, 0.0), id="the other direction, where 0 is a number"),
        pytest.param(CPU, AGENT, of_pods(0.4), id="cpu of a pod on its node's network"),
        pytest.param(NETWORK_RECEIVE, AGENT, None, id="its traffic is the node's"),
        pytest.param(CPU, YOUNG, of_pods(0.5), id="a pod younger than the window"),
        pytest.param(NETWORK_RECEIVE, YOUNG, of_pods(3e6), id="its network"),
        pytest.param(CPU, ENDED, None, id="a container that has ended"),
        pytest.param(MEMORY, ENDED, None, id="its memory"),
    ],
)
async def test_what_a_workloads_pods_use(
    use: WorkloadUse, metric: str, workload: WorkloadKey, want: Use | None
) -> None:
    assert use.by_metric[metric].get(workload) == want


async def test_nothing_else_is_told(use: WorkloadUse, kubelet: Kubelet) -> None:
    assert use.sampled_at_s == kubelet.now_s
    assert {metric: set(used) for metric, used in use.by_metric.items()} == {
        CPU: {WEB, AGENT, YOUNG},
        MEMORY: {WEB, AGENT, YOUNG},
        NETWORK_RECEIVE: {WEB, YOUNG},
        NETWORK_TRANSMIT: {WEB, YOUNG},
    }
