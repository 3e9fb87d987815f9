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

_NAMESPACED = frozenset({
    "Pod",
    "PersistentVolumeClaim",
    "CSIStorageCapacity",
    "Service",
    "ReplicaSet",
    "StatefulSet",
    "ReplicationController",
    "PodDisruptionBudget",
    "ResourceClaim",
})  # fmt: skip


@dataclass(slots=True)
class WrittenCluster:
    """What could be read of the items.

    Attributes:
        pending: pods without a node that are not terminal, by ``namespace/name``, in the order of the items.
        settled: the other pods, by the same key, with what is to be said of each: "is on node n1".
        unreadable: one sentence per item that could not be read; the rest is judged without it.
        ignored: kinds that scheduling does not ask about, with their number.
    """

    scheduler: Scheduler
    now_s: float
    pending: dict[str, PodInfo] = field(default_factory=dict)
    settled: dict[str, str] = field(default_factory=dict)
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
    for item in items:
        kind, raw = str(item.get("kind")), _as_created(item)
        try:
            if kind in readers:
                readers[kind](raw)
            elif kind in KINDS:
                cluster.scheduler.object_seen(kind, KINDS[kind].parse(raw), now_s=now_s)
            else:
                cluster.ignored[kind] = cluster.ignored.get(kind, 0) + 1
                if meant := _meant_kind(kind, (*readers, *KINDS)):
                    cluster.unreadable.append(f"{kind} {_name_of(raw)} is left out: its kind must be spelt {meant}")
        except (PlimsollError, AttributeError, KeyError, TypeError, ValueError) as error:
            cluster.unreadable.append(_sentence(kind, raw, error))
    cluster.scheduler.policies_changed(policies, now_s=now_s)
    return cluster


def _as_created(raw: Json) -> Json:
    """With the namespace and, for pods, the uid that the API server adds: files may be written by hand."""
    metadata, kind = raw.get("metadata"), raw.get("kind")
    if kind not in _NAMESPACED or not isinstance(metadata, Mapping) or not metadata.get("name"):
        return raw
    namespace = metadata.get("namespace") or "default"
    uid = {"uid": metadata.get("uid") or f"{namespace}/{metadata['name']}"} if kind == "Pod" else {}
    return {**raw, "metadata": {**metadata, "namespace": namespace, **uid}}


def _meant_kind(kind: str, known: Iterable[str]) -> str:
    """The known kind of the same letters, where only their case (or a plural) differs."""
    lowered = kind.lower()
    return next((name for name in known if lowered in {name.lower(), f"{name.lower()}s"}), "")


def _name_of(raw: Json) -> str:
    metadata = raw.get("metadata")
    if not isinstance(metadata, Mapping) or not metadata.get("name"):
        return "without a name"
    return "/".join(str(metadata[part]) for part in ("namespace", "name") if metadata.get(part))


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
        cluster.settled[pod.key] = f"has ended ({pod.phase})"
        return
    if pod.node:
        cluster.settled[pod.key] = f"is on node {pod.node}"
        cluster.scheduler.pod_assigned(pod, now_s=cluster.now_s)
    elif pod.deleting:
        cluster.settled[pod.key] = "is being deleted"
    else:
        cluster.pending[pod.key] = pod
        cluster.scheduler.pod_pending(pod, now_s=cluster.now_s)


def _sentence(kind: str, raw: Json, error: Exception) -> str:
    if problem := _plain_problem(raw):
        return f"{kind} {_name_of(raw)} cannot be read: {problem}"
    return str(error) if isinstance(error, PlimsollError) else f"{kind} {_name_of(raw)} cannot be read: {error}"


def _plain_problem(raw: Json) -> str:
    """The commonest mistakes of files written by hand, in words; "" where it is none of them."""
    metadata, spec = raw.get("metadata"), raw.get("spec")
    for title, part in (("metadata", metadata), ("spec", spec)):
        if not isinstance(part, Mapping | None):
            return f"{title} is no object"
    if not (metadata or {}).get("name"):
        return "metadata.name is missing"
    for title in ("containers", "initContainers"):
        part = (spec or {}).get(title)
        if not isinstance(part, list | None):
            return f"spec.{title} is no list"
        if not all(isinstance(container, Mapping) for container in part or ()):
            return f"spec.{title} holds something that is no object"
    return ""
