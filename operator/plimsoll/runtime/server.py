"""The HTTP server: probes, metrics, and the kept decisions. Says nothing secret, and changes nothing."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import AsyncIterator, Callable
from typing import Any, NamedTuple

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST

from plimsoll.errors import SettingsError
from plimsoll.runtime.settings import Address

Json = dict[str, Any]

# namespace/name, both DNS names.
_POD = re.compile(r"[a-z0-9][a-z0-9.-]{0,252}/[a-z0-9][a-z0-9.-]{0,252}")


class Views(NamedTuple):
    """What the server shows.

    Attributes:
        ailing: what has stopped working for good; empty while alive.
        unready: what is not there yet; empty while ready.
        decisions: the document about a pod, by namespace/name.
        metrics: in the Prometheus text format.
    """

    ailing: Callable[[], list[str]]
    unready: Callable[[], list[str]]
    decisions: Callable[[str], Json]
    metrics: Callable[[], bytes]


@contextlib.asynccontextmanager
async def serving(address: Address, views: Views) -> AsyncIterator[Address]:
    """Serves within the block, at the address that it yields.

    Raises:
        SettingsError: the address cannot be listened on.
    """
    runner = web.AppRunner(_app(views), access_log=None, handle_signals=False, shutdown_timeout=0.5)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, address.host, address.port).start()
        except OSError as error:
            raise SettingsError(
                f"cannot listen on {address}: {error.strerror or error}: "
                "end what listens there, or choose another with --metrics-address"
            ) from error
        yield Address(*runner.addresses[0][:2])
    finally:
        await runner.cleanup()


def _app(views: Views) -> web.Application:
    async def livez(_: web.Request) -> web.Response:
        return _verdict(views.ailing())

    async def readyz(_: web.Request) -> web.Response:
        return _verdict(views.unready())

    async def metrics(_: web.Request) -> web.Response:
        return web.Response(body=views.metrics(), headers={"Content-Type": CONTENT_TYPE_LATEST})

    async def decisions(request: web.Request) -> web.Response:
        pod = request.query.get("pod", "")
        if not _POD.fullmatch(pod):
            raise web.HTTPBadRequest(text="ask for a pod: /debug/decisions?pod=<namespace>/<name>\n")
        return web.json_response(views.decisions(pod), dumps=_dump)

    app = web.Application()
    app.add_routes(
        [
            web.get("/livez", livez),
            web.get("/healthz", livez),
            web.get("/readyz", readyz),
            web.get("/metrics", metrics),
            web.get("/debug/decisions", decisions),
        ]
    )
    return app


def _verdict(problems: list[str]) -> web.Response:
    if problems:
        return web.Response(status=503, text="\n".join(problems) + "\n")
    return web.Response(text="ok\n")


def _dump(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False)
