"""The workloads by name: those of kubernetes' own scheduler_perf, as far as they fit, and two of our own."""

from __future__ import annotations

from benchmarks.throughput.workload import Workload
from benchmarks.throughput.workloads import (
    affinity,
    anti_affinity,
    basic,
    churn,
    policy,
    preemption,
    preferred_affinity,
    services,
    topology_spread,
    unschedulable,
)

WORKLOADS: dict[str, Workload] = {
    module.WORKLOAD.name: module.WORKLOAD
    for module in (
        basic,
        services,
        anti_affinity,
        affinity,
        topology_spread,
        preferred_affinity,
        unschedulable,
        preemption,
        churn,
        policy,
    )
}
