"""Pods of Services and ReplicaSets: both schedulers spread them over nodes and zones by default."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.throughput.workload import Thing, Workload
from benchmarks.throughput.workloads.objects import node, pod, replica_set, service

_SERVICES = 50


def _before(_nodes: int) -> Iterator[Thing]:
    return (service(_name(i), {"app": _name(i)}) for i in range(_SERVICES))


def _pods(count: int, scheduler: str, _nodes: int) -> Iterator[Thing]:
    for i in range(count):
        name = _name(i % _SERVICES)
        labels = {"app": name, "pod-template-hash": "6d4b75cb6d"}
        yield pod(f"{name}-{i}", scheduler, labels=labels, owners=[replica_set(f"{name}-6d4b75cb6d")])


def _name(number: int) -> str:
    return f"service-{number}"


WORKLOAD = Workload(
    name="services",
    story=f"pods of {_SERVICES} Services, each with a ReplicaSet, spread by default",
    node=node,
    before=_before,
    pods=_pods,
)
