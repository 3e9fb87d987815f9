"""The clock: a process of its own that sees binds and Events as any other client of the API server does.

It watches metadata alone, so that it costs little and the same beside every scheduler. It says ``ready``, and then,
each once: ``warm`` (all warm-up pods are bound), ``first`` (the first measured pod is), ``bound`` (all that can be
are), ``settled`` (each of these has its Event, or none has come for a while). When its standard input ends it writes
its stamps and ends.
"""

from __future__ import annotations

import argparse
import asyncio
import ssl
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import orjson
import uvloop

from benchmarks.throughput.stamps import Watched

_METADATA = "application/json;as={kind};g=meta.k8s.io;v=v1"
_AGAIN_S = 0.01
_QUIET_S = 10.0


class Kind(NamedTuple):
    """What is watched, and who is told of each new one, by ``namespace/name``."""

    path: str
    selector: str
    seen: Callable[[str, float], str]


def main() -> None:
    options = _options()
    names = orjson.loads(options.names.read_bytes())
    watched = Watched(warm=names["warm"], measured=names["measured"], expected=names["expected"])
    uvloop.run(_observe(options, watched))
    options.out.write_bytes(orjson.dumps(watched.stamps.to_json()))


async def _observe(options: argparse.Namespace, watched: Watched) -> None:
    tls = ssl.create_default_context(cafile=options.ca)
    tls.load_cert_chain(options.cert, options.key)
    kinds = [
        Kind("/api/v1/pods", "spec.nodeName!=", watched.bound),
        Kind("/api/v1/events", "reason=Scheduled", watched.told),
    ]
    timeout = aiohttp.ClientTimeout(total=None)
    connector = aiohttp.TCPConnector(ssl=tls)
    async with aiohttp.ClientSession(options.server, connector=connector, timeout=timeout) as session:
        said: set[str] = {""}
        versions = [await _version(session, kind) for kind in kinds]
        watches = [
            asyncio.create_task(_watch(session, kind, version, watched, said))
            for kind, version in zip(kinds, versions, strict=True)
        ]
        watches.append(asyncio.create_task(_quiet(watched, said)))
        _say("ready", said)
        ended = asyncio.create_task(_ended())
        done, left = await asyncio.wait([*watches, ended], return_when=asyncio.FIRST_COMPLETED)
        for task in left:
            task.cancel()
        # Raises what a watch died of; none ends otherwise.
        for task in done:
            task.result()


async def _version(session: aiohttp.ClientSession, kind: Kind) -> str:
    headers = {"Accept": _METADATA.format(kind="PartialObjectMetadataList")}
    async with session.get(kind.path, params={"limit": "1"}, headers=headers, raise_for_status=True) as answer:
        version: str = orjson.loads(await answer.read())["metadata"]["resourceVersion"]
        return version


async def _watch(session: aiohttp.ClientSession, kind: Kind, version: str, watched: Watched, said: set[str]) -> None:
    headers = {"Accept": _METADATA.format(kind="PartialObjectMetadata")}
    while True:
        asked = {"watch": "1", "fieldSelector": kind.selector, "resourceVersion": version, "timeoutSeconds": "3600"}
        async with session.get(kind.path, params=asked, headers=headers, raise_for_status=True) as answer:
            async for line, at_s in _lines(answer):
                event = orjson.loads(line)
                if event["type"] == "ERROR":
                    raise RuntimeError(f"the watch of {kind.path} broke: {line.decode()}")
                version = event["object"]["metadata"]["resourceVersion"]
                if event["type"] == "ADDED":
                    _say(kind.seen(_key(event["object"]["metadata"]), at_s), said)
        watched.stamps.restarts += 1
        await asyncio.sleep(_AGAIN_S)


async def _quiet(watched: Watched, said: set[str]) -> None:
    while True:
        await asyncio.sleep(1)
        _say(watched.quiet(since_s=time.monotonic() - _QUIET_S), said)


async def _lines(answer: aiohttp.ClientResponse) -> AsyncIterator[tuple[bytes, float]]:
    """Each with the time at which its end arrived."""
    rest = b""
    async for chunk in answer.content.iter_any():
        at_s = time.monotonic()
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line, at_s


def _key(metadata: dict[str, Any]) -> str:
    return f"{metadata['namespace']}/{metadata['name']}"


def _say(word: str, said: set[str]) -> None:
    if word not in said:
        said.add(word)
        print(word, flush=True)


async def _ended() -> None:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    await reader.read()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", required=True)
    for name in ("--ca", "--cert", "--key", "--names", "--out"):
        parser.add_argument(name, type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    main()
