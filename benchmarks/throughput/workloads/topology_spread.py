"""TopologySpreading of kubernetes' scheduler_perf: as there, a plain pod on every node, and one spread group."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.throughput.workload import Thing, Workload
from benchmarks.throughput.workloads.objects import ZONE, node, pod, running

_LABELS = {"color": "blue"}
_CONSTRAINT = {
    "maxSkew": 5,
    "topologyKey": ZONE,
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": _LABELS},
}


def _before(nodes: int) -> Iterator[Thing]:
    return (running(f"earlier-{i}", i) for i in range(nodes))


def _pods(count: int, scheduler: str, _nodes: int) -> Iterator[Thing]:
    return (
        pod(f"spread-{i}", scheduler, labels=_LABELS, topologySpreadConstraints=[_CONSTRAINT]) for i in range(count)
    )


WORKLOAD = Workload(
    name="topology-spread",
    story="pods that must be spread over the zones, maxSkew 5; every node has a plain pod already",
    node=node,
    before=_before,
    pods=_pods,
)
