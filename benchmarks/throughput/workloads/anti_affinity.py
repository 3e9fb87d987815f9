"""SchedulingPodAntiAffinity of kubernetes' scheduler_perf, with many groups instead of one.

There, all pods keep off each other, which would fill small clusters up.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.throughput.workload import Json, Thing, Workload
from benchmarks.throughput.workloads.objects import HOSTNAME, REQUIRED, alike, node, pod, running

_PODS_PER_GROUP = 50
# As there: one pod in five nodes has such a constraint already.
_NODES_PER_EARLIER = 5


def _before(nodes: int) -> Iterator[Thing]:
    for i in range(0, nodes, _NODES_PER_EARLIER):
        labels = {"app": f"earlier-{i // _NODES_PER_EARLIER // _size(nodes)}"}
        yield running(f"earlier-{i}", i, labels=labels, affinity=_apart(labels))


def _pods(count: int, scheduler: str, nodes: int) -> Iterator[Thing]:
    for i in range(count):
        labels = {"app": f"apart-{i // _size(nodes)}"}
        yield pod(f"apart-{i}", scheduler, labels=labels, affinity=_apart(labels))


def _size(nodes: int) -> int:
    """Of a group: there has to be a node for each of its pods."""
    return max(1, min(_PODS_PER_GROUP, nodes // 2))


def _apart(labels: dict[str, str]) -> Json:
    return {"podAntiAffinity": {REQUIRED: [alike(labels, key=HOSTNAME)]}}


WORKLOAD = Workload(
    name="anti-affinity",
    story=f"pods in groups of {_PODS_PER_GROUP}, no two of a group on one node; one node in five has such pods already",
    node=node,
    before=_before,
    pods=_pods,
)
