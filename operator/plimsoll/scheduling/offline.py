"""Pending pods judged against a cluster that is written down: the items of ``kubectl get ... -o json``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from plimsoll.cluster.kinds import KINDS
from plimsoll.cluster.namespace import Namespace
from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.salvage import salvage
from plimsoll.errors import ObjectError, PlimsollError
from plimsoll.policy.compile import compile_policy
from plimsoll.policy.compiled import Policy
from plimsoll.scheduling.judgement import Judgement
from plimsoll.scheduling.scheduler import Scheduler

Json = Mapping[str, Any]


@dataclass(slots=True)
class WrittenCluster:
    """What could be read of the items.

    Attributes:
        pending: pods without a node that are not terminal, by ``namespace/name``, in the order of the items.
        unreadable: one sentence per item that could not be read; the rest is judged without it.
        ignored: kinds that scheduling does not ask about, with their number.
    """

    scheduler: Scheduler
    now_s: float
    pending: dict[str, PodInfo] = field(default_factory=dict)
    unreadable: list[str] = field(default_factory=list)
    ignored: dict[str, int] = field(default_factory=dict)

    def judge(self, pod: PodInfo) -> Judgement:
        """Alone: nothing of what other judgements found is assumed."""
        return self.scheduler.judge(pod, now_s=self.now_s)


def read_cluster(
    items: Iterable[Json], *, scheduler_name: str, now_s: float, rng: np.random.Generator
) -> WrittenCluster:
    """Loads the items; what cannot be read is named and left out."""
    cluster = WrittenCluster(Scheduler(scheduler_name=scheduler_name, rng=rng), now_s)
    policies: list[Policy] = []
    readers: dict[str, Callable[[Json], None]] = {
        "Node": lambda raw: cluster.scheduler.node_seen(NodeInfo.parse(raw), now_s=now_s),
        "Namespace": lambda raw: _read_namespace(cluster, raw),
        "Pod": lambda raw: _read_pod(cluster, raw),
        "SchedulingPolicy": lambda raw: policies.append(compile_policy(raw)),
    }
    for raw in items:
        kind = str(raw.get("kind"))
        try:
            if kind in readers:
                readers[kind](raw)
            elif kind in KINDS:
                cluster.scheduler.object_seen(kind, KINDS[kind].parse(raw), now_s=now_s)
            else:
                cluster.ignored[kind] = cluster.ignored.get(kind, 0) + 1
        except PlimsollError as error:
            cluster.unreadable.append(str(error))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            cluster.unreadable.append(f"{kind} {_name_of(raw)} cannot be read: {error}")
    cluster.scheduler.policies_changed(policies, now_s=now_s)
    return cluster


def _name_of(raw: Json) -> str:
    metadata = raw.get("metadata")
    return str(metadata.get("name") or "without a name") if isinstance(metadata, Mapping) else "without a name"


def _read_namespace(cluster: WrittenCluster, raw: Json) -> None:
    namespace = Namespace.parse(raw)
    cluster.scheduler.namespace_seen(namespace.name, namespace.labels, now_s=cluster.now_s)


def _read_pod(cluster: WrittenCluster, raw: Json) -> None:
    try:
        pod = PodInfo.parse(raw)
    except ObjectError as error:
        counted = salvage(raw, error)
        if counted is not None and counted.node:
            cluster.scheduler.pod_assigned(counted, now_s=cluster.now_s)
        raise
    if pod.terminal:
        return
    if pod.node:
        cluster.scheduler.pod_assigned(pod, now_s=cluster.now_s)
    elif not pod.deleting:
        cluster.pending[pod.key] = pod
        cluster.scheduler.pod_pending(pod, now_s=cluster.now_s)
