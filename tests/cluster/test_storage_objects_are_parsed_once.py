from __future__ import annotations

from typing import Any

import pytest

from plimsoll.cluster.kinds import KINDS
from plimsoll.cluster.selectors import LabelSelector, NodeSelector
from plimsoll.cluster.storage.attachment import VolumeAttachment
from plimsoll.cluster.storage.claim import PersistentVolumeClaim
from plimsoll.cluster.storage.csi import CSIDriver, CSINode, CSIStorageCapacity
from plimsoll.cluster.storage.handles import Handle
from plimsoll.cluster.storage.storage_class import StorageClass
from plimsoll.cluster.storage.volume import ClaimRef, PersistentVolume
from plimsoll.errors import ObjectError
from tests.volume_objects import topology

Json = dict[str, Any]
BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
TERMS = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]}


def test_a_volume() -> None:
    found = PersistentVolume.parse(
        {
            "metadata": {
                "name": "v",
                "uid": "u",
                "resourceVersion": "7",
                "labels": {"a": "b"},
                "deletionTimestamp": "t",
            },
            "spec": {
                "capacity": {"storage": "1.5Gi"},
                "accessModes": ["ReadWriteOnce", "ReadOnlyMany"],
                "storageClassName": "fast",
                "volumeMode": "Block",
                "volumeAttributesClassName": "gold",
                "nodeAffinity": {"required": TERMS},
                "claimRef": {"namespace": "ns", "name": "c", "uid": "cu"},
                "csi": {"driver": "d", "volumeHandle": "h"},
            },
            "status": {"phase": "Bound"},
        }
    )
    assert found == PersistentVolume(
        name="v",
        uid="u",
        resource_version="7",
        labels={"a": "b"},
        capacity_bytes=3 * 2**29,
        access_modes=("ReadWriteOnce", "ReadOnlyMany"),
        storage_class="fast",
        volume_mode="Block",
        attributes_class="gold",
        node_affinity=NodeSelector.parse(TERMS),
        claim_ref=ClaimRef("ns", "c", "cu"),
        phase="Bound",
        deleting=True,
        csi=Handle("d", "h"),
    )
    assert found.key == "v"


def test_a_claim() -> None:
    found = PersistentVolumeClaim.parse(
        {
            "metadata": {
                "namespace": "ns",
                "name": "c",
                "uid": "u",
                "resourceVersion": "7",
                "annotations": {
                    "pv.kubernetes.io/bind-completed": "yes",
                    "volume.kubernetes.io/selected-node": "n1",
                },
                "ownerReferences": [{"uid": "x"}, {"uid": "pod", "controller": True}],
            },
            "spec": {
                "volumeName": "v",
                "resources": {"requests": {"storage": "100m"}},
                "accessModes": ["ReadWriteOncePod"],
                "selector": {"matchLabels": {"a": "b"}},
                "storageClassName": "fast",
                "volumeAttributesClassName": "gold",
            },
            "status": {"phase": "Bound"},
        }
    )
    assert found == PersistentVolumeClaim(
        namespace="ns",
        name="c",
        uid="u",
        resource_version="7",
        volume="v",
        bind_completed=True,
        selected_node="n1",
        storage_class="fast",
        requests_storage=True,
        request_bytes=1,
        access_modes=("ReadWriteOncePod",),
        selector=LabelSelector.parse({"matchLabels": {"a": "b"}}),
        attributes_class="gold",
        phase="Bound",
        controller_uid="pod",
    )
    assert found.key == "ns/c"
    assert found.bound


@pytest.mark.parametrize(
    ("volume", "annotations", "want"),
    [
        pytest.param("v", {"pv.kubernetes.io/bind-completed": ""}, True, id="whatever the annotation says"),
        pytest.param("v", {}, False, id="the controller is not done"),
        pytest.param("", {"pv.kubernetes.io/bind-completed": "yes"}, False, id="no volume"),
    ],
)
def test_a_claim_is_bound_once_the_controller_says_so(volume: str, annotations: Json, *, want: bool) -> None:
    metadata = {"namespace": "ns", "name": "c", "annotations": annotations}
    assert PersistentVolumeClaim.parse({"metadata": metadata, "spec": {"volumeName": volume}}).bound is want


@pytest.mark.parametrize(
    ("annotations", "spec", "want"),
    [
        pytest.param({}, {"storageClassName": "new"}, "new", id="the field"),
        pytest.param({BETA_CLASS: "old"}, {"storageClassName": "new"}, "old", id="the annotation goes before it"),
        pytest.param({BETA_CLASS: ""}, {"storageClassName": "new"}, "", id="even where it is empty"),
        pytest.param(None, {}, "", id="neither"),
    ],
)
def test_the_class_of_volumes_and_claims(annotations: Json | None, spec: Json, want: str) -> None:
    thing = {"metadata": {"namespace": "ns", "name": "x", "annotations": annotations}, "spec": spec}
    assert PersistentVolume.parse(thing).storage_class == want
    assert PersistentVolumeClaim.parse(thing).storage_class == want


def test_what_is_not_said_of_a_volume_or_claim() -> None:
    bare = {"metadata": {"namespace": "ns", "name": "x"}}
    assert PersistentVolume.parse(bare) == PersistentVolume("x")
    assert PersistentVolumeClaim.parse(bare) == PersistentVolumeClaim("ns", "x")
    assert PersistentVolumeClaim("ns", "x").volume_mode == PersistentVolume("x").volume_mode == "Filesystem"


def test_a_class() -> None:
    thing = {"metadata": {"name": "fast"}, "provisioner": "d", "volumeBindingMode": "Immediate"}
    assert StorageClass.parse(thing) == StorageClass("fast", "d", "Immediate")


@pytest.mark.parametrize(
    ("term", "want"),
    [
        pytest.param(topology(zone=["a", "b"]), True, id="one of the values"),
        pytest.param(topology(zone=["b"]), False, id="another value"),
        pytest.param(topology(zone=["a"], rack=["1"]), False, id="not all of the labels"),
        pytest.param(topology(zone=[]), False, id="no values"),
        pytest.param(topology(), False, id="no expressions"),
    ],
)
def test_a_topology_of_a_class_selects_nodes(term: Json, *, want: bool) -> None:
    (selector,) = StorageClass.parse({"metadata": {"name": "c"}, "allowedTopologies": [term]}).allowed_topologies
    assert selector.matches({"zone": "a"}) is want


def test_a_csi_node() -> None:
    drivers = [
        {"name": "a", "topologyKeys": ["zone"], "allocatable": {"count": 0}},
        {"name": "b", "topologyKeys": None, "allocatable": {}},
        {"name": "c"},
    ]
    annotations = {"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs,kubernetes.io/gce-pd"}
    found = CSINode.parse({"metadata": {"name": "n", "annotations": annotations}, "spec": {"drivers": drivers}})
    migrated = frozenset({"kubernetes.io/aws-ebs", "kubernetes.io/gce-pd"})
    assert found == CSINode("n", {"a": 0}, migrated)
    assert CSINode.parse({"metadata": {"name": "n"}}) == CSINode("n")


def test_a_csi_driver() -> None:
    metadata = {"name": "d"}
    assert CSIDriver.parse({"metadata": metadata, "spec": {"storageCapacity": True}}) == CSIDriver("d", True)
    assert CSIDriver.parse({"metadata": metadata, "spec": {}}) == CSIDriver("d", False)


@pytest.mark.parametrize(
    ("sizes", "want"),
    [
        pytest.param({"capacity": "2Gi"}, 2 * 2**30, id="the whole room"),
        pytest.param({"capacity": "2Gi", "maximumVolumeSize": "1Gi"}, 2**30, id="the largest volume"),
        pytest.param({"capacity": "2Gi", "maximumVolumeSize": "0"}, 0, id="no volume at all"),
        pytest.param({}, None, id="nothing said"),
    ],
)
def test_a_storage_capacity(sizes: Json, want: int | None) -> None:
    thing = {"metadata": {"namespace": "ns", "name": "x"}, "storageClassName": "fast", "nodeTopology": {}, **sizes}
    found = CSIStorageCapacity.parse(thing)
    assert found == CSIStorageCapacity("ns", "x", "fast", LabelSelector(), want)
    assert found.key == "ns/x"
    assert CSIStorageCapacity.parse(thing | {"nodeTopology": None}).node_topology is None


def test_an_attachment() -> None:
    spec = {"attacher": "d", "nodeName": "n", "source": {"persistentVolumeName": "v"}}
    assert VolumeAttachment.parse({"metadata": {"name": "x"}, "spec": spec}) == VolumeAttachment("x", "d", "n", "v")
    inline = {"metadata": {"name": "x"}, "spec": spec | {"source": {"inlineVolumeSpec": {}}}}
    assert VolumeAttachment.parse(inline).volume == ""


@pytest.mark.parametrize(
    ("kind", "thing", "want"),
    [
        pytest.param(
            "PersistentVolume",
            {"metadata": {"name": "v"}, "spec": {"capacity": {"storage": "ten"}}},
            "PersistentVolume v cannot be read: 'ten' is not a quantity",
            id="a quantity",
        ),
        pytest.param(
            "PersistentVolumeClaim",
            {"metadata": {"namespace": "ns"}},
            "PersistentVolumeClaim ns cannot be",
            id="no name",
        ),
        pytest.param("StorageClass", {}, "StorageClass ? cannot be read", id="no metadata"),
        pytest.param(
            "CSINode",
            {"metadata": {"name": "n"}, "spec": {"drivers": [{"name": "d", "allocatable": {"count": "many"}}]}},
            "CSINode n cannot be read",
            id="a number",
        ),
        pytest.param(
            "CSIStorageCapacity",
            {"metadata": {"namespace": "ns", "name": "x"}, "capacity": "-"},
            "CSIStorageCapacity ns/x cannot be read",
            id="a capacity",
        ),
        pytest.param(
            "VolumeAttachment", {"metadata": {"name": "x"}, "spec": "?"}, "VolumeAttachment x", id="no object"
        ),
        pytest.param(
            "ResourceClaim",
            {"metadata": {"namespace": "ns", "name": "x"}, "status": {"reservedFor": [{}]}},
            "ResourceClaim ns/x cannot be read",
            id="no uid",
        ),
    ],
)
def test_an_object_that_cannot_be_read_is_named(kind: str, thing: Json, want: str) -> None:
    with pytest.raises(ObjectError, match=want.replace("?", r"\?")):
        KINDS[kind].parse(thing)
