"""The exporter over HTTP: scrapes, service discovery, and the interface that tests set loads with."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from aiohttp import web

from devcluster.exporter import render
from devcluster.exporter.fleet import Fleet
from devcluster.exporter.node import FakeNode

_FLEET = web.AppKey("fleet", Fleet)
_TARGET = web.AppKey("target", str)
# A change for thousands of nodes is a few megabytes.
_MAX_BODY_BYTES = 64 * 1024 * 1024
_TEXT_FORMAT = "text/plain; version=0.0.4; charset=utf-8"

_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def application(fleet: Fleet, *, state: Path, target: str) -> web.Application:
    """The web application; `target` is the host and port at which Prometheus scrapes it."""
    app = web.Application(client_max_size=_MAX_BODY_BYTES, middlewares=[_errors_as_answers])
    app[_FLEET] = fleet
    app[_TARGET] = target
    app.add_routes(
        [
            web.get("/healthz", _healthz),
            web.get("/discovery/prometheus", _discovery),
            web.get("/metrics/nodes/{name}/exporter", _node_exporter),
            web.get("/metrics/nodes/{name}/metrics/resource", _kubelet_resource_metrics),
            web.get("/metrics/nodes/{name}/metrics/cadvisor", _cadvisor),
            web.post("/nodes", _add),
            web.patch("/nodes", _change),
            web.delete("/nodes", _remove),
            web.post("/nodes/reset", _reset_counters),
        ]
    )

    async def save(app: web.Application) -> None:
        app[_FLEET].save(state)

    app.on_cleanup.append(save)
    return app


@web.middleware
async def _errors_as_answers(request: web.Request, handler: _Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except KeyError as error:
        return web.Response(status=404, text=f"no node {error}")
    except (AttributeError, TypeError, ValueError) as error:
        return web.Response(status=400, text=str(error))


async def _healthz(_request: web.Request) -> web.Response:
    return web.Response(text="ok")


async def _discovery(request: web.Request) -> web.Response:
    fleet = request.app[_FLEET]
    nodes = (fleet[name] for name in fleet.names())
    target = request.app[_TARGET]
    return web.json_response([group for node in nodes for group in _target_groups(node, target=target)])


def _target_groups(node: FakeNode, *, target: str) -> Iterator[Mapping[str, Any]]:
    yield _target_group(node, "exporter", target=target)
    if node.pods is not None:
        group = _target_group(node, "metrics/cadvisor", target=target)
        # A target of its own: two in one job with the same labels would write the same `up`.
        yield {**group, "labels": {**group["labels"], "job": "cadvisor"}}


def _target_group(node: FakeNode, path: str, *, target: str) -> Mapping[str, Any]:
    return {
        "targets": [target],
        "labels": {
            "__metrics_path__": f"/metrics/nodes/{node.name}/{path}",
            "__meta_node": node.name,
            "__meta_node_address": node.address,
        },
    }


async def _node_exporter(request: web.Request) -> web.Response:
    return _metrics(request, render.node_exporter)


async def _kubelet_resource_metrics(request: web.Request) -> web.Response:
    return _metrics(request, render.kubelet_resource_metrics)


async def _cadvisor(request: web.Request) -> web.Response:
    return _metrics(request, render.cadvisor)


def _metrics(request: web.Request, rendered: Callable[..., str]) -> web.Response:
    fleet = request.app[_FLEET]
    node = fleet[request.match_info["name"]]
    if node.dark:
        return web.Response(status=503, text="dark")
    return web.Response(body=rendered(node, now_s=fleet.now_s()).encode(), headers={"Content-Type": _TEXT_FORMAT})


async def _add(request: web.Request) -> web.Response:
    request.app[_FLEET].add(await request.json())
    return web.Response(status=204)


async def _change(request: web.Request) -> web.Response:
    request.app[_FLEET].change(await request.json())
    return web.Response(status=204)


async def _remove(request: web.Request) -> web.Response:
    request.app[_FLEET].remove(await _names(request))
    return web.Response(status=204)


async def _reset_counters(request: web.Request) -> web.Response:
    request.app[_FLEET].reset_counters(await _names(request))
    return web.Response(status=204)


async def _names(request: web.Request) -> Iterable[str]:
    names: Iterable[str] = await request.json()
    return names
