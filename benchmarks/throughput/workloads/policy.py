"""Plain pods under a policy that reads four metrics, with limits."""

from __future__ import annotations

from benchmarks.throughput.workload import Json, Workload
from benchmarks.throughput.workloads.objects import node, plain_pods


def _policy(prometheus_url: str) -> Json:
    return {
        "apiVersion": "plimsoll.dev/v1alpha1",
        "kind": "SchedulingPolicy",
        "metadata": {"name": "four-metrics"},
        "spec": {
            "weights": {"cpu": 1, "memory": 1, "networkReceive": 1, "networkTransmit": 1},
            "limits": {"cpu": 90, "memory": 90, "network": 90},
            "networkCapacity": "1250M",
            "metricsSource": {"prometheus": {"url": prometheus_url}},
        },
    }


WORKLOAD = Workload(
    name="policy",
    story="plain pods; for Plimsoll with a policy of four Prometheus metrics and limits on each",
    node=node,
    pods=plain_pods,
    policy=_policy,
)
