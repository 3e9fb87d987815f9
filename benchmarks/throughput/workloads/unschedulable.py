"""Unschedulable of kubernetes' scheduler_perf: pods that fit nowhere come first and stay, others pass by."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.throughput.workload import Thing, Workload
from benchmarks.throughput.workloads.objects import node, pod

# A fifth: 500 wait while 2,000 flow.
_ONE_IN = 5


def _pods(count: int, scheduler: str, _nodes: int) -> Iterator[Thing]:
    stuck = _left(count)
    for i in range(stuck):
        yield pod(f"stuck-{i}", scheduler, cpu="9000")
    for i in range(count - stuck):
        yield pod(f"plain-{i}", scheduler)


def _left(count: int) -> int:
    return count // _ONE_IN


WORKLOAD = Workload(
    name="unschedulable",
    story="plain pods, behind pods that fit on no node and stay in the queue, one for four of them",
    node=node,
    pods=_pods,
    left=_left,
)
