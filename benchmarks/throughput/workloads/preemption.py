"""PreemptionBasic of kubernetes' scheduler_perf: every node is full of pods of lower priority.

There, four of them fill a node; here one does, which is created four times as fast.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from benchmarks.throughput.workload import Json, Thing, Workload
from benchmarks.throughput.workloads.objects import HIGH, high_priority, node_of, pod, running, zone_of

_CPU_MILLI, _ASKED_MILLI = 4000, 3000


def _node(number: int) -> Json:
    return node_of(f"node-{number}", cpu=f"{_CPU_MILLI}m", zone=zone_of(number))


def _before(nodes: int) -> Iterator[Thing]:
    # The class first: by the time that the pods of it are created, the API server knows it everywhere.
    yield high_priority()
    for i in range(nodes):
        yield running(f"low-{i}", i, cpu=f"{_CPU_MILLI}m")


def _pods(count: int, scheduler: str, nodes: int) -> Iterator[Thing]:
    # Where there are more pods than nodes, several take the place of one.
    cpu = f"{_ASKED_MILLI // max(1, math.ceil(count / nodes))}m"
    return (pod(f"high-{i}", scheduler, cpu=cpu, priorityClassName=HIGH) for i in range(count))


WORKLOAD = Workload(
    name="preemption",
    story="pods of high priority, for each of which a pod of low priority has to go: every node is full of one",
    node=_node,
    before=_before,
    pods=_pods,
    from_start=True,
)
