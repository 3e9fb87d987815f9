"""Storage that is there before the pods: classes, drivers, volumes, limits per node, capacity per zone."""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracle.clusters.node_terms import node_selector
from tests.oracle.clusters.vocabulary import HOSTNAME, OLD_ZONE, REGION, ZONE, ZONES, Json, label_selector, node_name
from tests.oracle.source import Source

CSI, CAPACITY_CSI, NONE = "csi.example.com", "cap.example.com", "kubernetes.io/no-provisioner"
WAITING_CLASSES = ("wait", "local", "zonal", "cap")
CLASSES = (*WAITING_CLASSES, "now")
# The drivers to which disks of the old kinds are handed.
EBS, PD = "ebs.csi.aws.com", "pd.csi.storage.gke.io"
_MIGRATED = "storage.alpha.kubernetes.io/migrated-plugins"
_STORAGE = "storage.k8s.io/v1"
SIZES = ("1Gi", "1073741824", "2Gi", "500M", "5Gi")


def classes_and_drivers(source: Source) -> Iterator[Json]:
    for name in CLASSES:
        if source.chance(90):
            yield _storage_class(source, name)
    for driver in (CSI, CAPACITY_CSI):
        if source.chance(90):
            spec = {"storageCapacity": driver == CAPACITY_CSI, "attachRequired": True}
            yield {"apiVersion": _STORAGE, "kind": "CSIDriver", "metadata": {"name": driver}, "spec": spec}
    for i in source.times(0, 3):
        yield _capacity(source, i)


def _storage_class(source: Source, name: str) -> Json:
    provisioner = {"local": NONE, "cap": CAPACITY_CSI}.get(name, CSI)
    found: Json = {
        "apiVersion": _STORAGE,
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "reclaimPolicy": "Delete",
        "volumeBindingMode": "Immediate" if name == "now" else "WaitForFirstConsumer",
    }
    if name == "zonal":
        found["allowedTopologies"] = [_topology(source) for _ in range(source.integer(1, 2))]
    return found


def _topology(source: Source) -> Json:
    expressions = [{"key": ZONE, "values": source.some(ZONES, at_least=1, at_most=2)}]
    if source.chance(20):
        expressions.append({"key": "disk", "values": ["ssd"]})
    return {"matchLabelExpressions": expressions}


def _capacity(source: Source, i: int) -> Json:
    found: Json = {
        "apiVersion": _STORAGE,
        "kind": "CSIStorageCapacity",
        "metadata": {"name": f"capacity-{i}", "namespace": "kube-system"},
        "storageClassName": source.pick(("cap", "cap", "wait")),
    }
    if source.chance(85):
        found["nodeTopology"] = source.pick(
            ({"matchLabels": {ZONE: source.pick(ZONES)}}, label_selector(source, {ZONE: ZONES}), {})
        )
    if source.chance(85):
        found["capacity"] = source.pick(("10Gi", "1Gi", "100M"))
    if source.chance(30):
        found["maximumVolumeSize"] = source.pick(("10Gi", "600M"))
    return found


def csi_node(source: Source, name: str) -> Json:
    drivers = []
    for driver in source.some((CSI, CAPACITY_CSI, EBS, PD), at_least=1, at_most=3):
        installed: Json = {"name": driver, "nodeID": name, "topologyKeys": [ZONE]}
        if source.chance(80):
            installed["allocatable"] = {"count": source.pick((1, 2, 3, 0))}
        drivers.append(installed)
    found: Json = {"apiVersion": _STORAGE, "kind": "CSINode", "metadata": {"name": name}, "spec": {"drivers": drivers}}
    if source.chance(30):
        migrated = source.some(("kubernetes.io/aws-ebs", "kubernetes.io/gce-pd"), at_least=1)
        found["metadata"]["annotations"] = {_MIGRATED: ",".join(migrated)}
    return found


def attachment(source: Source, i: int, *, nodes: int, volumes: list[str]) -> Json:
    where = {"nodeName": node_name(source.integer(0, nodes - 1)), "attacher": source.pick((CSI, CAPACITY_CSI))}
    spec = where | {"source": {"persistentVolumeName": source.pick((*volumes, "gone"))}}
    status = {"attached": source.chance(70)}
    return {
        "apiVersion": _STORAGE,
        "kind": "VolumeAttachment",
        "metadata": {"name": f"attachment-{i}"},
        "spec": spec,
        "status": status,
    }


def volume(source: Source, name: str, *, nodes: int, storage_class: str) -> Json:
    """A PersistentVolume that nobody has claimed."""
    spec: Json = {
        "capacity": {"storage": source.pick(SIZES)},
        "accessModes": source.some(("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"), at_least=1),
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": storage_class,
        "volumeMode": "Block" if source.chance(8) else "Filesystem",
    }
    spec |= _kind_of_volume(source, name, nodes=nodes)
    labels = {}
    if source.chance(25):
        labels[source.pick((ZONE, OLD_ZONE, REGION))] = source.pick((*ZONES, "__".join(ZONES[:2])))
    if source.chance(30):
        labels["disk"] = source.pick(("ssd", "hdd"))
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "labels": labels, "uid": f"pv-{name}"},
        "spec": spec,
        "status": {"phase": "Available"},
    }


def _kind_of_volume(source: Source, name: str, *, nodes: int) -> Json:
    if source.chance(35):
        node = node_name(source.integer(0, nodes - 1))
        term = {"matchExpressions": [{"key": HOSTNAME, "operator": "In", "values": [node]}]}
        return {"local": {"path": "/mnt/x"}, "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}}}
    if source.chance(15):
        return _old_disk(source, name)
    handle = source.pick((f"handle-{name}", "handle-shared"))
    kind: Json = {"csi": {"driver": source.pick((CSI, CAPACITY_CSI)), "volumeHandle": handle}}
    if source.chance(40):
        kind["nodeAffinity"] = {"required": node_selector(source, nodes=nodes, fields=False)}
    return kind


def _old_disk(source: Source, name: str) -> Json:
    kind: Json = source.pick(
        (
            {"awsElasticBlockStore": {"volumeID": source.pick(("vol-a", f"aws://a/vol-{name}"))}},
            {"gcePersistentDisk": {"pdName": source.pick(("a", name))}},
        )
    )
    if source.chance(50):
        expression = {"key": source.pick((ZONE, OLD_ZONE)), "operator": "In", "values": source.some(ZONES, at_least=1)}
        kind["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
    return kind
