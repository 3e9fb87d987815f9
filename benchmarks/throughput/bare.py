"""What the API server takes from a client that decides nothing: Bindings by turns over all nodes, each with its Event.

One event loop and the connections that Plimsoll itself writes by, since a client that costs more than Plimsoll's would
not show a ceiling; a process of its own in the place of a scheduler. The names of the pods are given, so that it needs
no watch; LISTs of metadata tell it the nodes, and the uids that Events need.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime as dt
import signal
import ssl
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import orjson
import uvloop

from plimsoll.kube.lane import Credentials, Lane

_METADATA = {"Accept": "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"}
_JSON = "application/json"
_TIMEOUT_S = 60.0
# The certificate says who it is.
_NOBODY = Credentials("", 0)
_NAME = "bare-client"


class Bind(NamedTuple):
    namespace: str
    name: str
    uid: str
    node: str


def main() -> None:
    options = _options()
    measured = orjson.loads(options.names.read_bytes())["measured"]
    uvloop.run(_run(options, measured))


async def _run(options: argparse.Namespace, measured: list[str]) -> None:
    tls = ssl.create_default_context(cafile=options.ca)
    tls.load_cert_chain(options.cert, options.key)
    connector = aiohttp.TCPConnector(ssl=tls)
    async with aiohttp.ClientSession(options.server, connector=connector, raise_for_status=True) as session:
        binds = await _binds(session, measured)
    lane = Lane(options.server, tls=tls)
    await bind_all(lane, binds, events=options.events, connections=options.connections)
    # What it has used is asked of it as of a scheduler, which goes on as well.
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    await ended.wait()
    lane.close()


async def bind_all(lane: Lane, binds: Iterator[Bind], *, events: bool, connections: int) -> None:
    """Args:
    events: each pod gets its Event after its Binding.
    connections: so many requests are under way at a time.

    Raises:
        ExceptionGroup: of RuntimeError, a request was refused.
    """
    async with asyncio.TaskGroup() as workers:
        for _ in range(connections):
            workers.create_task(_work(lane, binds, events=events))


async def _binds(session: aiohttp.ClientSession, measured: list[str]) -> Iterator[Bind]:
    nodes = [metadata["name"] for metadata in await _list(session, "/api/v1/nodes")]
    uids = {f"{m['namespace']}/{m['name']}": m["uid"] for m in await _list(session, "/api/v1/pods")}
    names = ((pod, *pod.split("/", 1)) for pod in measured)
    return (Bind(namespace, name, uids[pod], nodes[i % len(nodes)]) for i, (pod, namespace, name) in enumerate(names))


async def _work(lane: Lane, binds: Iterator[Bind], *, events: bool) -> None:
    for bind in binds:
        path = f"/api/v1/namespaces/{bind.namespace}/pods/{bind.name}/binding"
        await _post(lane, path, _binding(bind))
        if events:
            await _post(lane, f"/apis/events.k8s.io/v1/namespaces/{bind.namespace}/events", _event(bind))


async def _post(lane: Lane, path: str, body: dict[str, Any]) -> None:
    reply = await lane.send(
        "POST", path, orjson.dumps(body), content_type=_JSON, credentials=_NOBODY, timeout_s=_TIMEOUT_S
    )
    if reply.status >= 300:
        raise RuntimeError(f"POST {path}: {reply.status} {reply.body[:200]!r}")


async def _list(session: aiohttp.ClientSession, path: str) -> list[dict[str, Any]]:
    async with session.get(path, headers=_METADATA) as answer:
        return [item["metadata"] for item in orjson.loads(await answer.read())["items"]]


def _binding(bind: Bind) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": bind.name, "namespace": bind.namespace, "uid": bind.uid},
        "target": {"apiVersion": "v1", "kind": "Node", "name": bind.node},
    }


def _event(bind: Bind) -> dict[str, Any]:
    pod = {"apiVersion": "v1", "kind": "Pod", "namespace": bind.namespace, "name": bind.name, "uid": bind.uid}
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": f"{bind.name}.{time.time_ns():x}", "namespace": bind.namespace},
        "eventTime": dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "type": "Normal",
        "reason": "Scheduled",
        "action": "Binding",
        "note": f"Successfully assigned {bind.namespace}/{bind.name} to {bind.node}",
        "regarding": pod,
        "reportingController": _NAME,
        "reportingInstance": _NAME,
    }


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", required=True)
    for name in ("--ca", "--cert", "--key", "--names"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("--connections", type=int, required=True)
    parser.add_argument("--events", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
