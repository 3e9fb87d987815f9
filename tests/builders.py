"""Fluent builders of API objects: ``make_pod().cpu("1").obj()`` is JSON, ``.info()`` is parsed.

Beside them policies and readings as the core uses them, and a cache that holds nodes and pods.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any, Self

import numpy as np

from plimsoll.cluster.cache import Cache
from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.pod import PodInfo
from plimsoll.load.entry import Entry
from plimsoll.load.estimate import PolicyLoad
from plimsoll.load.readings import MetricReadings, Readings, ReadingState
from plimsoll.load.stays import stays
from plimsoll.policy.compiled import Metric, MetricsServerSource, Policy

_serial = itertools.count(1)


def make_pod(name: str = "", namespace: str = "default") -> PodBuilder:
    return PodBuilder(name or f"pod-{next(_serial)}", namespace)


def make_node(name: str = "node-1") -> NodeBuilder:
    return NodeBuilder(name)


class PodBuilder:
    def __init__(self, name: str, namespace: str) -> None:
        self._pod: dict[str, Any] = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": namespace,
                "uid": f"uid-{namespace}-{name}",
                "resourceVersion": "1",
                "creationTimestamp": "2026-01-01T00:00:00Z",
                "labels": {},
                "annotations": {},
            },
            "spec": {"schedulerName": "plimsoll", "containers": [{"name": "main", "image": "app"}]},
            "status": {"phase": "Pending"},
        }

    def _main(self) -> dict[str, Any]:
        main: dict[str, Any] = self._pod["spec"]["containers"][0]
        return main

    def requests(self, **requests: str) -> Self:
        """``requests(cpu="1", ephemeral_storage="1Gi")``; underscores become dashes."""
        named = {k.replace("_", "-"): v for k, v in requests.items()}
        self._main().setdefault("resources", {}).setdefault("requests", {}).update(named)
        return self

    def cpu(self, quantity: str) -> Self:
        return self.requests(cpu=quantity)

    def memory(self, quantity: str) -> Self:
        return self.requests(memory=quantity)

    def resource(self, name: str, quantity: str) -> Self:
        self._main().setdefault("resources", {}).setdefault("requests", {})[name] = quantity
        return self

    def container(self, *, name: str = "", **requests: str) -> Self:
        self._pod["spec"]["containers"].append(_container(name or f"c{next(_serial)}", requests))
        return self

    def init(self, *, sidecar: bool = False, name: str = "", **requests: str) -> Self:
        container = _container(name or f"i{next(_serial)}", requests)
        if sidecar:
            container["restartPolicy"] = "Always"
        self._pod["spec"].setdefault("initContainers", []).append(container)
        return self

    def named(self, name: str) -> Self:
        """Another pod like this one."""
        return self.metadata(name=name, uid=f"uid-{self._pod['metadata']['namespace']}-{name}")

    def spec(self, **fields: Any) -> Self:
        self._pod["spec"].update(fields)
        return self

    def status(self, **fields: Any) -> Self:
        self._pod["status"].update(fields)
        return self

    def metadata(self, **fields: Any) -> Self:
        self._pod["metadata"].update(fields)
        return self

    def labels(self, **labels: str) -> Self:
        self._pod["metadata"]["labels"].update(labels)
        return self

    def annotate(self, key: str, value: str) -> Self:
        self._pod["metadata"]["annotations"][key] = value
        return self

    def owner(self, kind: str, name: str) -> Self:
        return self.metadata(ownerReferences=[{"kind": kind, "name": name, "uid": f"uid-{name}", "controller": True}])

    def on(self, node: str) -> Self:
        self._pod["status"]["phase"] = "Running"
        return self.spec(nodeName=node)

    def started(self, timestamp: str = "2026-01-01T00:00:05Z") -> Self:
        """By the kubelet; as a rule so long ago that every window shows the pod in full."""
        return self.status(startTime=timestamp)

    def phase(self, phase: str) -> Self:
        return self.status(phase=phase)

    def deleting(self) -> Self:
        return self.metadata(deletionTimestamp="2026-01-01T01:00:00Z")

    def priority(self, value: int) -> Self:
        return self.spec(priority=value)

    def port(self, number: int, *, ip: str = "", protocol: str = "") -> Self:
        port = {"containerPort": number, "hostPort": number, "hostIP": ip, "protocol": protocol}
        self._main().setdefault("ports", []).append({k: v for k, v in port.items() if v})
        return self

    def node_selector(self, **labels: str) -> Self:
        return self.spec(nodeSelector=labels)

    def required_node_affinity(self, *terms: dict[str, Any]) -> Self:
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}
        self._pod["spec"].setdefault("affinity", {}).setdefault("nodeAffinity", {}).update(required)
        return self

    def prefer_nodes(self, weight: int, **labels: str) -> Self:
        """A preferred term of node affinity: all of these labels."""
        wanted = [{"key": key, "operator": "In", "values": [value]} for key, value in labels.items()]
        return self.preferred_node_affinity({"weight": weight, "preference": {"matchExpressions": wanted}})

    def preferred_node_affinity(self, *terms: dict[str, Any]) -> Self:
        node_affinity = self._pod["spec"].setdefault("affinity", {}).setdefault("nodeAffinity", {})
        node_affinity.setdefault("preferredDuringSchedulingIgnoredDuringExecution", []).extend(terms)
        return self

    def together(self, *terms: dict[str, Any]) -> Self:
        """Required pod affinity."""
        return self._terms("podAffinity", "requiredDuringSchedulingIgnoredDuringExecution", terms)

    def apart(self, *terms: dict[str, Any]) -> Self:
        """Required pod anti-affinity."""
        return self._terms("podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution", terms)

    def prefer_together(self, weight: int, *terms: dict[str, Any]) -> Self:
        weighted = [{"weight": weight, "podAffinityTerm": term} for term in terms]
        return self._terms("podAffinity", "preferredDuringSchedulingIgnoredDuringExecution", weighted)

    def prefer_apart(self, weight: int, *terms: dict[str, Any]) -> Self:
        weighted = [{"weight": weight, "podAffinityTerm": term} for term in terms]
        return self._terms("podAntiAffinity", "preferredDuringSchedulingIgnoredDuringExecution", weighted)

    def _terms(self, kind: str, strength: str, terms: Iterable[dict[str, Any]]) -> Self:
        affinity = self._pod["spec"].setdefault("affinity", {}).setdefault(kind, {})
        affinity.setdefault(strength, []).extend(terms)
        return self

    def spread_over(self, key: str, selector: dict[str, Any] | None, *, skew: int = 1, **fields: Any) -> Self:
        """A constraint with DoNotSchedule unless the fields say otherwise."""
        constraint = {"topologyKey": key, "maxSkew": skew, "whenUnsatisfiable": "DoNotSchedule", **fields}
        if selector is not None:
            constraint["labelSelector"] = selector
        self._pod["spec"].setdefault("topologySpreadConstraints", []).append(constraint)
        return self

    def tolerate(self, **toleration: str) -> Self:
        self._pod["spec"].setdefault("tolerations", []).append(toleration)
        return self

    def gated(self, *gates: str) -> Self:
        return self.spec(schedulingGates=[{"name": g} for g in gates])

    def obj(self) -> dict[str, Any]:
        return deepcopy(self._pod)

    def info(self) -> PodInfo:
        return PodInfo.parse(self.obj())


class NodeBuilder:
    def __init__(self, name: str) -> None:
        offered = {"cpu": "16", "memory": "64Gi", "pods": "110"}
        self._node: dict[str, Any] = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": name,
                "uid": f"uid-{name}",
                "resourceVersion": "1",
                "creationTimestamp": "2026-01-01T00:00:00Z",
                "labels": {"kubernetes.io/hostname": name},
                "annotations": {},
            },
            "spec": {},
            "status": {"capacity": dict(offered), "allocatable": dict(offered), "addresses": []},
        }

    def offers(self, **quantities: str) -> Self:
        """Sets capacity and allocatable; underscores become dashes."""
        for name, quantity in quantities.items():
            self.resource(name.replace("_", "-"), quantity)
        return self

    def resource(self, name: str, quantity: str) -> Self:
        for part in ("capacity", "allocatable"):
            self._node["status"][part][name] = quantity
        return self

    def allocatable(self, **quantities: str) -> Self:
        self._node["status"]["allocatable"].update(quantities)
        return self

    def metadata(self, **fields: Any) -> Self:
        self._node["metadata"].update(fields)
        return self

    def status(self, **fields: Any) -> Self:
        self._node["status"].update(fields)
        return self

    def label(self, key: str, value: str) -> Self:
        self._node["metadata"]["labels"][key] = value
        return self

    def zone(self, zone: str) -> Self:
        return self.label("topology.kubernetes.io/zone", zone)

    def annotate(self, key: str, value: str) -> Self:
        self._node["metadata"]["annotations"][key] = value
        return self

    def taint(self, key: str, *, effect: str = "NoSchedule", value: str = "") -> Self:
        taint = {"key": key, "effect": effect} | ({"value": value} if value else {})
        self._node["spec"].setdefault("taints", []).append(taint)
        return self

    def cordoned(self) -> Self:
        self._node["spec"]["unschedulable"] = True
        return self

    def address(self, address: str, *, kind: str = "InternalIP") -> Self:
        self._node["status"]["addresses"].append({"type": kind, "address": address})
        return self

    def obj(self) -> dict[str, Any]:
        return deepcopy(self._node)

    def info(self) -> NodeInfo:
        return NodeInfo.parse(self.obj())


def _container(name: str, requests: dict[str, str]) -> dict[str, Any]:
    named = {k.replace("_", "-"): v for k, v in requests.items()}
    return {"name": name, "image": "app", "resources": {"requests": named}}


# 2027-01-15T08:00:00Z: a year after the objects of these builders were made.
NOW_S = 1_800_000_000.0
CAPACITY = {"cpu": 16.0, "memory": 64.0 * 2**30, "networkReceive": 125e6, "networkTransmit": 125e6}


def make_cache(nodes: Iterable[NodeBuilder] = (), pods: Iterable[PodBuilder] = ()) -> Cache:
    cache = Cache()
    for node in nodes:
        cache.put_node(node.info())
    for pod in pods:
        cache.put_pod(pod.info())
    return cache


def make_policy(
    name: str = "measured",
    *,
    weights: Mapping[str, float] | None = None,
    limits: Mapping[str, float] | None = None,
    **fields: Any,
) -> Policy:
    """``make_policy(weights={"cpu": 1}, limits={"memory": 0.9}, priority=3)``; no metrics unless they are named."""
    weights, limits = weights or {}, limits or {}
    names = dict.fromkeys((*weights, *limits))
    metrics = tuple(Metric(m, float(weights.get(m, 0.0)), limits.get(m)) for m in names)
    source = MetricsServerSource() if metrics else None
    return Policy(**{"name": name, "uid": f"uid-{name}", "metrics": metrics, "source": source, **fields})


def make_load(
    cache: Cache, policy: Policy, readings: Readings | None = None, entries: Iterable[Entry] = ()
) -> PolicyLoad:
    """A policy's estimate over the cache's nodes, all of which it may use."""
    load = PolicyLoad(policy)
    if readings is not None:
        load.refresh(
            readings, cache.view, stays(entries, cache.view), cache.view.live.copy(), now_s=readings.taken_at_s
        )
    return load


def make_readings(
    utilisation: Mapping[str, Mapping[str, float | None]],
    *,
    taken_at_s: float = NOW_S,
    age_s: float = 0.0,
    window_s: float = 300.0,
    failures: Mapping[str, str] | None = None,
    known: Iterable[str] = (),
) -> Readings:
    """``make_readings({"cpu": {"n1": 0.2, "n2": None}})``: n1 carries 20 % of its 16 cores, n2 is not measured."""
    nodes = tuple(dict.fromkeys((*known, *(node for by_node in utilisation.values() for node in by_node))))
    metrics = {
        metric: _metric_readings(metric, [by_node.get(node) for node in nodes], taken_at_s - age_s, age_s, window_s)
        for metric, by_node in utilisation.items()
    }
    return Readings(next(_serial), taken_at_s, nodes, metrics, failures or {})


def _metric_readings(
    metric: str, utilisation: list[float | None], sampled_at_s: float, age_s: float, window_s: float
) -> MetricReadings:
    shares = np.array([np.nan if u is None else u for u in utilisation], dtype=np.float64)
    missing = np.isnan(shares) | (age_s > 600)
    state = np.where(missing, ReadingState.MISSING, ReadingState.OK if age_s <= 90 else ReadingState.STALE)
    capacity = np.where(missing, np.nan, CAPACITY.get(metric, 1.0))
    return MetricReadings(
        utilisation=np.where(missing, np.nan, shares),
        value=np.minimum(shares, 1e6) * capacity,
        capacity=capacity,
        sampled_at_s=np.where(missing, np.nan, sampled_at_s),
        window_s=window_s,
        state=state.astype(np.int8),
    )
