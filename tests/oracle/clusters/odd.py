"""Objects that cannot be read: exactly these must be unusable.

The judge, which reads all or nothing, is not shown them. Of a pod on a node it is shown what is left: its slot there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.oracle.clusters.vocabulary import NAMESPACES, SCHEDULER, Json, node_name
from tests.oracle.source import Source

_MARK = "odd"
_NO_QUANTITIES = ("two", "1 Gi", "1.5.0", "0x10", "1Kb", "--1", "1e", "")


def is_odd(item: Json) -> bool:
    return bool(item["metadata"]["name"].startswith(_MARK))


def readable(items: Sequence[Json]) -> list[Json]:
    """As if the odd ones were not there, but for the slots that pods hold on nodes."""
    return [left for item in items if (left := _left_of(item) if is_odd(item) else item) is not None]


def _left_of(item: Json) -> Json | None:
    if item["kind"] != "Pod" or "nodeName" not in item["spec"]:
        return None
    metadata = {key: item["metadata"][key] for key in ("name", "namespace", "uid")}
    spec = {key: item["spec"][key] for key in ("schedulerName", "nodeName", "priority")}
    return {**item, "metadata": metadata, "spec": {**spec, "containers": [{"name": "c", "image": "app"}]}}


def odd_objects(source: Source, *, nodes: int) -> Iterator[Json]:
    """One to three; where they could be read they would matter to every pod."""
    for i in source.times(1, 3):
        yield source.pick((_pod, _node, _claim, _volume))(source, f"{_MARK}-{i}", nodes)


def _pod(source: Source, name: str, nodes: int) -> Json:
    """Of the others' labels, and in everybody's way."""
    container = {"name": "c", "image": "app", "ports": [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]}
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {}, "namespaceSelector": {}}
    spec: Json = {"schedulerName": SCHEDULER, "priority": 0, "containers": [container]}
    spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    what = source.pick(("quantity", "operator"))
    metadata: Json = {
        "name": name,
        "namespace": source.pick(NAMESPACES),
        "uid": f"uid-{name}",
        "labels": {"app": "web"},
    }
    if what == "quantity":
        container["resources"] = {"requests": {"cpu": source.pick(_NO_QUANTITIES)}}
    else:
        # Both read it: the pod counts, only its term does not.
        metadata["name"] = f"strange-{name}"
        term["labelSelector"] = {"matchExpressions": [{"key": "app", "operator": "Like", "values": ["web"]}]}
    if what == "operator" or source.chance(75):
        spec["nodeName"] = node_name(source.integer(0, nodes - 1))
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}


def _node(source: Source, name: str, _nodes: int) -> Json:
    room = {"cpu": "64", "memory": source.pick(_NO_QUANTITIES), "pods": "110"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": {}, "status": {"allocatable": room}}


def _claim(source: Source, name: str, _nodes: int) -> Json:
    size = {"requests": {"storage": source.pick(_NO_QUANTITIES)}}
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": "wait", "resources": size}
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec, "status": {}}


def _volume(source: Source, name: str, _nodes: int) -> Json:
    """The smallest that a claim could take."""
    spec = {
        "capacity": {"storage": source.pick(_NO_QUANTITIES)},
        "accessModes": ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteOncePod"],
        "storageClassName": "local",
        "volumeMode": "Filesystem",
        "local": {"path": "/mnt/x"},
    }
    metadata = {"name": name}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": metadata,
        "spec": spec,
        "status": {"phase": "Available"},
    }
