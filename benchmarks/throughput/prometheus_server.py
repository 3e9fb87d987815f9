"""A process that answers a workload's policy as Prometheus does.

A real one would scrape thousands of nodes meanwhile, on the cores that the schedulers are measured on.
"""

from __future__ import annotations

import argparse
import time

import uvloop
from aiohttp import web

from benchmarks.throughput.prometheus_answers import Answers
from benchmarks.throughput.workloads import WORKLOADS

_READY = "ready"


def main() -> None:
    options = _options()
    workload = WORKLOADS[options.workload]
    assert workload.policy is not None, f"{options.workload} has no policy"
    nodes = (workload.node(number)["metadata"]["name"] for number in range(options.nodes))
    answers = Answers(workload.policy(f"http://127.0.0.1:{options.port}"), nodes)
    web.run_app(
        _app(answers),
        host="127.0.0.1",
        port=options.port,
        access_log=None,
        print=lambda _: print(_READY, flush=True),
        loop=uvloop.new_event_loop(),
    )


def _app(answers: Answers) -> web.Application:
    async def query(request: web.Request) -> web.Response:
        asked = request.query if request.method == "GET" else await request.post()
        at_s = float(str(asked.get("time", time.time())))
        return web.Response(body=answers.to(str(asked["query"]), at_s=at_s), content_type="application/json")

    app = web.Application()
    app.router.add_route("*", "/api/v1/query", query)
    return app


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workload", required=True)
    parser.add_argument("--nodes", type=int, required=True)
    parser.add_argument("--port", type=int, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    main()
