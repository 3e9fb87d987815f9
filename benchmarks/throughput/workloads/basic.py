"""SchedulingBasic of kubernetes' scheduler_perf: nothing but requests."""

from __future__ import annotations

from benchmarks.throughput.workload import Workload
from benchmarks.throughput.workloads.objects import node, plain_pods

WORKLOAD = Workload(
    name="basic",
    story="pods that ask for cpu and memory, and for nothing else",
    node=node,
    pods=plain_pods,
)
