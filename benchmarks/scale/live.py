"""The operator in a large cluster that stands still: an API server with static nodes and assigned pods."""

from __future__ import annotations

import asyncio
import itertools
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import orjson

from benchmarks.scale.objects import node, node_name, pod
from benchmarks.scale.world import OLD_S
from benchmarks.throughput import bodies
from benchmarks.throughput.admin import Admin, connected
from benchmarks.throughput.contenders import CONTENDERS, PLIMSOLL
from benchmarks.throughput.creating import create_all
from benchmarks.throughput.launching import launch
from benchmarks.throughput.place import Place, fresh
from benchmarks.throughput.scheduler import Scheduler, running
from benchmarks.throughput.workload import Thing

Figures = dict[str, Any]

_REST_S = 30.0
_SETTLE_S = 5.0
# A kubelet reports every five minutes where nothing changes; its lease is not watched.
_REPORT_EVERY_S = 300.0
_POLL_S = 0.05
_KEPT = frozenset({"name", "labels", "ownerReferences"})
_NODES, _PODS = "/api/v1/nodes", "/api/v1/namespaces/default/pods"


def measured_live(*, nodes: int, pods: int, directory: Path) -> Figures:
    """Args:
    directory: of the control plane.
    """
    with fresh(directory) as place:
        return asyncio.run(_measured(place, nodes, pods))


async def _measured(place: Place, nodes: int, pods: int) -> Figures:
    names = place.folder / "names.json"
    names.write_bytes(orjson.dumps({"warm": [], "measured": [], "expected": 1}))
    async with connected(place.server, place.tls()) as admin:
        _tell(f"creating {nodes:,} nodes and {pods:,} pods, which takes minutes")
        await _fill(admin, nodes, pods)
        async with running(place, launch(CONTENDERS[PLIMSOLL], place, names)) as scheduler:
            _tell("started, waiting for the first Binding")
            figures = await _started(admin, scheduler, waiting=pod(pods, on=None, started_s=time.time()))
            _tell(f"at rest for {_REST_S:.0f} s, then {_REST_S:.0f} s with heartbeats")
            rest = await _spent(scheduler, asyncio.sleep)
            beating = await _spent(scheduler, lambda seconds: _heartbeats(admin, nodes, seconds))
            return figures | {
                "nodes": nodes,
                "pods": pods,
                "cpu_at_rest_s_per_s": rest,
                "cpu_with_heartbeats_s_per_s": beating,
                "heartbeats_per_s": round(nodes / _REPORT_EVERY_S, 2),
                "cpu_per_heartbeat_ms": round(1000 * (beating - rest) / (nodes / _REPORT_EVERY_S), 3),
                "resident_mib_at_the_end": round(scheduler.usage().rss_bytes / 2**20, 1),
            }


def _tell(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


async def _fill(admin: Admin, nodes: int, pods: int) -> None:
    now_s = time.time()
    there = (Thing(_NODES, _stored(node(i, at_s=now_s))) for i in range(nodes))
    on_them = (Thing(_PODS, _stored(pod(i, on=i % nodes, started_s=now_s - OLD_S))) for i in range(pods))
    waiting = (Thing(_PODS, _stored(pod(pods, on=None, started_s=now_s))),)
    await create_all(admin, itertools.chain(bodies.installation(), there, on_them, waiting))
    await asyncio.sleep(_SETTLE_S)


def _stored(thing: dict[str, Any]) -> dict[str, Any]:
    """Without what the API server gives, and what would have to be there beside it."""
    metadata = {
        key: thing["metadata"][key] for key in ("name", "labels", "ownerReferences") if key in thing["metadata"]
    }
    spec = {key: value for key, value in thing["spec"].items() if key not in {"podCIDR", "volumes"}}
    containers = [{k: v for k, v in c.items() if k != "volumeMounts"} for c in spec.get("containers", ())]
    return thing | {"metadata": metadata, "spec": spec | ({"containers": containers} if containers else {})}


async def _started(admin: Admin, scheduler: Scheduler, *, waiting: dict[str, Any]) -> Figures:
    path = f"{_PODS}/{waiting['metadata']['name']}"
    while "nodeName" not in (await admin.get(path))["spec"]:  # noqa: ASYNC110 - another process binds it
        await asyncio.sleep(_POLL_S)
    bound_s = time.monotonic() - scheduler.started_s
    used = scheduler.usage()
    await scheduler.ready()
    await asyncio.sleep(_SETTLE_S)
    usage = scheduler.usage()
    return {
        "first_bind_s": round(bound_s, 2),
        "cpu_until_first_bind_s": round(used.cpu_s, 2),
        "resident_mib": round(usage.rss_bytes / 2**20, 1),
        "peak_resident_mib": round(usage.peak_rss_bytes / 2**20, 1),
    }


async def _spent(scheduler: Scheduler, meanwhile: Callable[[float], Awaitable[object]]) -> float:
    """CPU seconds per second."""
    before, began_s = scheduler.usage().cpu_s, time.monotonic()
    await meanwhile(_REST_S)
    return round((scheduler.usage().cpu_s - before) / (time.monotonic() - began_s), 4)


async def _heartbeats(admin: Admin, nodes: int, seconds: float) -> None:
    began_s = time.monotonic()
    for i in range(int(seconds * nodes / _REPORT_EVERY_S)):
        await asyncio.sleep(max(began_s + i * _REPORT_EVERY_S / nodes - time.monotonic(), 0.0))
        reported = node(i % nodes, at_s=time.time())["status"]["conditions"]
        await admin.patch(f"{_NODES}/{node_name(i % nodes)}/status", {"status": {"conditions": reported}})
    await asyncio.sleep(max(began_s + seconds - time.monotonic(), 0.0))
