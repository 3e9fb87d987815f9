"""A Prometheus that knows nothing but a large cluster's answers, in a process of its own."""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from benchmarks.scale.objects import node_address, node_name, pod_name
from plimsoll.load.pod_use_queries import pod_queries, window_s
from plimsoll.load.queries import Ask, queries
from plimsoll.policy.compiled import BUILT_IN_METRICS, Metric, Policy, PrometheusSource

Json = dict[str, Any]

_DEVICES = ("eth0", "eth1")
_PODS = "pods."
_CAPACITY_BYTES = 64.0 * 2**30


def policy(metrics: int, *, url: str) -> Policy:
    """The built-in metrics, and custom ones until there are so many."""
    custom = [
        Metric(f"custom{i}", 1, query=f"sum by (instance) (rate(app_{i}_seconds_total[$timeRange]))", min=0, max=10)
        for i in range(metrics - len(BUILT_IN_METRICS))
    ]
    built_in = [Metric(name, 1) for name in BUILT_IN_METRICS[:metrics]]
    return Policy(name="scale", source=PrometheusSource(url=url), metrics=(*built_in, *custom))


def body(query_id: str, *, nodes: int, pods: int, now_s: float) -> bytes:
    """The whole answer to one of the policy's queries."""
    result = list(_of_pods(pods) if query_id.startswith(_PODS) else _of_nodes(query_id, nodes, now_s))
    answer = {"status": "success", "data": {"resultType": "vector", "result": result}}
    return json.dumps(answer, separators=(",", ":")).encode()


def _of_pods(pods: int) -> Iterator[Json]:
    for i in range(pods):
        yield {"metric": {"namespace": "default", "pod": pod_name(i)}, "value": [0, repr(0.01 * (1 + i % 97))]}


def _of_nodes(query_id: str, nodes: int, now_s: float) -> Iterator[Json]:
    devices = _DEVICES if query_id.startswith((Ask.RECEIVE, Ask.TRANSMIT, Ask.SPEED)) else ("",)
    for i in range(nodes):
        labels = {"instance": f"{node_address(i)}:9100", "namespace": "monitoring", "pod": f"exporter-{i}"}
        if query_id == Ask.UNAME:
            labels["nodename"] = node_name(i)
        for device in devices:
            named = labels | {"device": device} if device else labels
            yield {"metric": named, "value": [now_s, repr(_value(query_id, i, now_s))]}


def _value(query_id: str, i: int, now_s: float) -> float:
    match query_id.partition(".")[0]:
        case Ask.LAST_SAMPLE:
            return now_s - i % 15
        case Ask.CLOCK:
            return 1.0
        case Ask.INTERVAL:
            return 15.0
        case Ask.IDLE:
            return 0.2 + 0.7 * (i % 101) / 101
        case Ask.AVAILABLE:
            return _CAPACITY_BYTES * (0.1 + 0.8 * (i % 89) / 89)
        case Ask.TOTAL:
            return _CAPACITY_BYTES
        case Ask.SPEED:
            return 1.25e9
        case Ask.RECEIVE | Ask.TRANSMIT:
            return 1e6 * (i % 83)
        case _:
            return i % 10 + 0.5


@contextlib.contextmanager
def serving(*, nodes: int, pods: int, metrics: int) -> Iterator[str]:
    """Its URL."""
    sizes = ("--nodes", str(nodes), "--pods", str(pods), "--metrics", str(metrics))
    command = [sys.executable, "-m", "benchmarks.scale.prometheus", *sizes]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.terminate()


def _serve(nodes: int, pods: int, metrics: int) -> None:
    asked = policy(metrics, url="http://localhost")
    ids = {query.text: query.id for query in queries(asked)}
    ids |= {
        query.text: f"{_PODS}{query.id}"
        for query in pod_queries(BUILT_IN_METRICS, window_s=window_s(asked.time_range_s))
    }

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer(urlsplit(self.path).query)

        def do_POST(self) -> None:
            self._answer(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode())

        def _answer(self, encoded: str) -> None:
            text = parse_qs(encoded)["query"][0]
            answer = body(ids[text], nodes=nodes, pods=pods, now_s=time.time())
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Nothing: the report is what is read."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for size in ("nodes", "pods", "metrics"):
        parser.add_argument(f"--{size}", type=int, required=True)
    options = parser.parse_args()
    _serve(options.nodes, options.pods, options.metrics)
