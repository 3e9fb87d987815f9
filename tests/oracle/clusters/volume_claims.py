"""Claims in every state that a scheduler can meet, and the volumes of pods that use them."""

from __future__ import annotations

from tests.oracle.clusters.storage import CLASSES, SIZES, WAITING_CLASSES, volume
from tests.oracle.clusters.vocabulary import Json, label_selector, node_name, time_at
from tests.oracle.source import Source

_BOUND, _SELECTED = "pv.kubernetes.io/bind-completed", "volume.kubernetes.io/selected-node"
CLAIM_NAMES = ("data", "logs", "cache", "shared")


def claim(
    source: Source, name: str, namespace: str, *, nodes: int, volumes: dict[str, Json], ephemeral: bool = False
) -> Json:
    """A PersistentVolumeClaim; a volume that it is bound to joins the others."""
    found: Json = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": namespace, "uid": f"pvc-{namespace}-{name}", "annotations": {}},
        "spec": {
            "accessModes": [source.pick(("ReadWriteOnce", "ReadWriteOnce", "ReadOnlyMany", "ReadWriteOncePod"))],
            "resources": {"requests": {"storage": source.pick(SIZES)}},
            "volumeMode": "Block" if source.chance(6) else "Filesystem",
        },
        "status": {"phase": "Pending"},
    }
    if source.chance(50):
        _bind(source, found, nodes=nodes, volumes=volumes, ephemeral=ephemeral)
    else:
        _leave_unbound(source, found, nodes=nodes, volumes=volumes)
    if source.chance(4):
        found["metadata"] |= {"deletionTimestamp": time_at(30), "finalizers": ["kubernetes.io/pvc-protection"]}
    return found


def _bind(source: Source, found: Json, *, nodes: int, volumes: dict[str, Json], ephemeral: bool) -> None:
    metadata, spec = found["metadata"], found["spec"]
    name = f"pv-{metadata['namespace']}-{metadata['name']}"
    spec["volumeName"], spec["storageClassName"] = name, source.pick((*CLASSES, ""))
    found["status"] = {"phase": "Bound"}
    if source.chance(92):
        metadata["annotations"][_BOUND] = "yes"
    if source.chance(60 if ephemeral else 12):
        found["status"]["phase"] = source.pick(("Bound", "Bound", "Lost"))
        return  # bound to a volume that is gone
    bound = volume(source, name, nodes=nodes, storage_class=spec["storageClassName"])
    bound["spec"]["claimRef"] = _reference(found)
    bound["spec"]["accessModes"] = spec["accessModes"]
    bound["spec"]["volumeMode"] = spec["volumeMode"]
    bound["status"] = {"phase": "Bound"}
    volumes[name] = bound


def _leave_unbound(source: Source, found: Json, *, nodes: int, volumes: dict[str, Json]) -> None:
    metadata, spec = found["metadata"], found["spec"]
    if source.chance(92):
        spec["storageClassName"] = source.pick((*WAITING_CLASSES, *WAITING_CLASSES, *CLASSES, ""))
    if source.chance(15):
        spec["selector"] = label_selector(source, {"disk": ("ssd", "hdd")})
    if source.chance(12):
        metadata["annotations"][_SELECTED] = node_name(source.integer(0, nodes - 1))
    if source.chance(15):
        name = f"pre-{metadata['namespace']}-{metadata['name']}"
        prebound = volume(source, name, nodes=nodes, storage_class=spec.get("storageClassName", ""))
        prebound["spec"]["claimRef"] = _reference(found)
        if source.chance(50):
            prebound["spec"]["claimRef"].pop("uid")
        volumes[name] = prebound


def _reference(found: Json) -> Json:
    metadata = found["metadata"]
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "name": metadata["name"],
        "namespace": metadata["namespace"],
        "uid": metadata["uid"],
    }


def named(name: str, namespace: str) -> str:
    """A name of a claim is used in one namespace only: kube-scheduler's ReadWriteOncePod looks at names alone."""
    return name if namespace == "default" else f"{name}-{namespace}"


def pod_volumes(source: Source, namespace: str) -> list[Json]:
    """What a pod's ``spec.volumes`` say; the claims of ephemeral ones are made with ``ephemeral_claim``."""
    found: list[Json] = []
    for i in source.times(1, 2):
        kind = source.integer(0, 99)
        if kind < 52:
            claim_name = source.pick((*CLAIM_NAMES, *CLAIM_NAMES, *CLAIM_NAMES, "absent"))
            found.append({"name": f"v{i}", "persistentVolumeClaim": {"claimName": named(claim_name, namespace)}})
        elif kind < 70:
            found.append({"name": f"v{i}", "ephemeral": {"volumeClaimTemplate": {"spec": _template(source)}}})
        elif kind < 94:
            found.append({"name": f"v{i}", **_disk(source)})
        else:
            found.append({"name": f"v{i}", "emptyDir": {}})
    return found


def _template(source: Source) -> Json:
    size = source.pick(SIZES)
    return {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": source.pick(CLASSES),
        "resources": {"requests": {"storage": size}},
    }


def ephemeral_claim(source: Source, pod: Json, pod_volume: Json, *, nodes: int, volumes: dict[str, Json]) -> Json:
    """As the ephemeral volume controller makes it; now and then the name is somebody else's already."""
    metadata = pod["metadata"]
    name = f"{metadata['name']}-{pod_volume['name']}"
    found = claim(source, name, metadata["namespace"], nodes=nodes, volumes=volumes, ephemeral=True)
    owner = {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"], "controller": True}
    if source.chance(90):
        found["metadata"]["ownerReferences"] = [owner]
    return found


def _disk(source: Source) -> Json:
    """Disks written into the pod itself, which two pods may not share."""
    which, read_only = source.pick(("a", "a", "b")), source.chance(30)
    return source.pick(
        (
            {"gcePersistentDisk": {"pdName": which, "readOnly": read_only}},
            {"awsElasticBlockStore": {"volumeID": which, "readOnly": read_only}},
            {"iscsi": {"targetPortal": "10.0.0.9", "iqn": f"iqn-{which}", "lun": 0, "readOnly": read_only}},
            {
                "rbd": {
                    "monitors": source.some(("m1", "m2", "m3"), at_least=1, at_most=2),
                    "pool": "rbd",
                    "image": which,
                    "readOnly": read_only,
                }
            },
        )
    )
