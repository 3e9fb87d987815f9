"""SchedulingWithMixedChurn of kubernetes' scheduler_perf, five times as fast: things come, change and go meanwhile."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator

from benchmarks.throughput.workload import Api, Thing, Workload
from benchmarks.throughput.workloads.objects import (
    HIGH,
    NODES,
    PODS,
    SERVICES,
    high_priority,
    node,
    node_of,
    plain_pods,
    pod,
    running,
    service,
    zone_of,
)

_EVERY_S = 0.2


def _before(nodes: int) -> Iterator[Thing]:
    yield high_priority()
    for i in range(nodes):
        yield running(f"earlier-{i}", i)


async def _meanwhile(api: Api, scheduler: str, nodes: int, over: asyncio.Event) -> None:
    for turn in itertools.count():
        for thing in _coming(turn, scheduler):
            await api.create(thing)
        await api.patch(f"{NODES}/node-{turn % nodes}", {"metadata": {"labels": {"turn": str(turn)}}})
        if turn < nodes:
            await api.delete(f"{PODS}/earlier-{turn}")
        if await _waited(over):
            return
        for path in _going(turn):
            await api.delete(path)


def _coming(turn: int, scheduler: str) -> Iterator[Thing]:
    """A node, a Service, a pod that fits nowhere and asks whether others may go for it, and one that fits."""
    yield Thing(NODES, node_of(f"passing-{turn}", cpu="16", zone=zone_of(turn)))
    yield service(f"passing-{turn}", {"app": f"passing-{turn}"})
    yield pod(f"passing-large-{turn}", scheduler, cpu="17", priorityClassName=HIGH)
    yield pod(f"passing-{turn}", scheduler, labels={"app": f"passing-{turn}"})


def _going(turn: int) -> Iterator[str]:
    yield f"{NODES}/passing-{turn}"
    yield f"{SERVICES}/passing-{turn}"
    yield f"{PODS}/passing-large-{turn}"
    yield f"{PODS}/passing-{turn}"


async def _waited(over: asyncio.Event) -> bool:
    """Whether it is over."""
    try:
        async with asyncio.timeout(_EVERY_S):
            await over.wait()
    except TimeoutError:
        return False
    return True


WORKLOAD = Workload(
    name="churn",
    story=f"plain pods, while every {_EVERY_S} s a node, a Service and two pods come, one node changes, and as many go",
    node=node,
    before=_before,
    pods=plain_pods,
    meanwhile=_meanwhile,
)
