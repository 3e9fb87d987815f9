"""SchedulingPodAffinity of kubernetes' scheduler_perf, with many groups instead of one.

There, one group may go everywhere, since all nodes are in its zone; here each group has to find its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.throughput.workload import Json, Thing, Workload
from benchmarks.throughput.workloads.objects import REQUIRED, ZONE, ZONES, alike, node, pod, running

# A multiple of the zones: so the pods of a group that run already are all in one.
_GROUPS = 20 * len(ZONES)


def _before(nodes: int) -> Iterator[Thing]:
    for i in range(nodes):
        labels = _labels(i)
        yield running(f"earlier-{i}", i, labels=labels, affinity=_together(labels))


def _pods(count: int, scheduler: str, _nodes: int) -> Iterator[Thing]:
    for i in range(count):
        labels = _labels(i)
        yield pod(f"together-{i}", scheduler, labels=labels, affinity=_together(labels))


def _labels(number: int) -> dict[str, str]:
    return {"app": f"group-{number % _GROUPS}"}


def _together(labels: dict[str, str]) -> Json:
    return {"podAffinity": {REQUIRED: [alike(labels, key=ZONE)]}}


WORKLOAD = Workload(
    name="affinity",
    story=f"pods of {_GROUPS} groups, each in the zone where its group runs; every node has such a pod already",
    node=node,
    before=_before,
    pods=_pods,
)
