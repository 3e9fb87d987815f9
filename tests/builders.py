"""Fluent builders of API objects: ``make_pod().cpu("1").obj()`` is JSON, ``.info()`` is parsed."""

from __future__ import annotations

import itertools
from copy import deepcopy
from typing import Any, Self

from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.pod import PodInfo

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
        self._pod["spec"].setdefault("affinity", {})["nodeAffinity"] = required
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
