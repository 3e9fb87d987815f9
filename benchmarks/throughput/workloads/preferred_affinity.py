"""SchedulingPreferredPodAffinity and SchedulingPreferredPodAntiAffinity of kubernetes' scheduler_perf, by turns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.throughput.workload import Thing, Workload
from benchmarks.throughput.workloads.objects import HOSTNAME, PREFERRED, alike, node, pod, running

_KINDS = (("red", "podAffinity"), ("yellow", "podAntiAffinity"))


def _before(nodes: int) -> Iterator[Thing]:
    return (running(f"earlier-{i}", i, **_preference(i)) for i in range(nodes))


def _pods(count: int, scheduler: str, _nodes: int) -> Iterator[Thing]:
    return (pod(f"preferring-{i}", scheduler, **_preference(i)) for i in range(count))


def _preference(number: int) -> dict[str, Any]:
    color, kind = _KINDS[number % len(_KINDS)]
    labels = {"color": color}
    term = {"weight": 1, "podAffinityTerm": alike(labels, key=HOSTNAME)}
    return {"labels": labels, "affinity": {kind: {PREFERRED: [term]}}}


WORKLOAD = Workload(
    name="preferred-affinity",
    story="pods that prefer nodes with their like, and by turns others that avoid them; every node has one already",
    node=node,
    before=_before,
    pods=_pods,
)
