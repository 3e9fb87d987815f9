"""Vectors of csi-translation-lib's own tests among them."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.cluster.selectors import NodeSelector
from plimsoll.cluster.storage.handles import Handle
from plimsoll.cluster.storage.in_tree import InTreeVolume, Untranslatable, inline_handle
from plimsoll.cluster.storage.volume import PersistentVolume

Json = dict[str, Any]

ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
OLD_ZONE, OLD_REGION = "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"
EBS_ZONE, GCE_ZONE = "topology.ebs.csi.aws.com/zone", "topology.gke.io/zone"
EBS = {"awsElasticBlockStore": {"volumeID": "vol-1"}}
GCE = {"gcePersistentDisk": {"pdName": "disk"}}


def in_tree(
    source: Json, labels: dict[str, str] | None = None, affinity: NodeSelector | None = None
) -> InTreeVolume | None:
    spec: Json = dict(source)
    if affinity is not None:
        terms = [
            {"matchExpressions": [{"key": r.key, "operator": "In", "values": list(r.values)} for r in t.expressions]}
            for t in affinity.terms
        ]
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
    return PersistentVolume.parse({"metadata": {"name": "v", "labels": labels or {}}, "spec": spec}).in_tree


def allowed(*terms: dict[str, set[str]]) -> NodeSelector:
    return NodeSelector.parse(
        {
            "nodeSelectorTerms": [
                {"matchExpressions": [{"key": k, "operator": "In", "values": sorted(v)} for k, v in term.items()]}
                for term in terms
            ]
        }
    )


@pytest.mark.parametrize(
    ("source", "plugin", "want"),
    [
        pytest.param(EBS, "aws-ebs", Handle("ebs.csi.aws.com", "vol-1"), id="EBS"),
        pytest.param(
            {"awsElasticBlockStore": {"volumeID": "aws://us-east-1a/vol-1"}},
            "aws-ebs",
            Handle("ebs.csi.aws.com", "vol-1"),
            id="EBS by zone",
        ),
        pytest.param(
            {"awsElasticBlockStore": {"volumeID": "aws:///vol-1"}},
            "aws-ebs",
            Handle("ebs.csi.aws.com", "vol-1"),
            id="EBS by no zone",
        ),
        pytest.param(
            {"azureDisk": {"diskURI": "/subscriptions/x", "kind": "Managed"}},
            "azure-disk",
            Handle("disk.csi.azure.com", "/subscriptions/x"),
            id="Azure disk",
        ),
        pytest.param({"cinder": {"volumeID": "c"}}, "cinder", Handle("cinder.csi.openstack.org", "c"), id="Cinder"),
        pytest.param(
            {"portworxVolume": {"volumeID": "p"}}, "portworx-volume", Handle("pxd.portworx.com", "p"), id="Portworx"
        ),
        pytest.param(
            GCE,
            "gce-pd",
            Handle("pd.csi.storage.gke.io", "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/disk"),
            id="GCE",
        ),
    ],
)
def test_the_driver_knows_the_volume_by_a_handle(source: Json, plugin: str, want: Handle) -> None:
    found = in_tree(source)
    assert found is not None
    assert (found.plugin, found.handle) == (f"kubernetes.io/{plugin}", want)
    assert inline_handle(source) == want


@pytest.mark.parametrize(
    ("labels", "want"),
    [
        pytest.param({ZONE: "us-a"}, "zones/us-a", id="a zone"),
        pytest.param({OLD_ZONE: "us-a", ZONE: "us-b"}, "zones/us-a", id="the old name goes first"),
        pytest.param({ZONE: "us-central1-a__us-central1-b"}, "regions/us-central1", id="zones of a region"),
    ],
)
def test_a_gce_disk_is_known_by_its_zones(labels: dict[str, str], want: str) -> None:
    found = in_tree(GCE, labels)
    assert found is not None
    assert found.handle == Handle("pd.csi.storage.gke.io", f"projects/UNSPECIFIED/{want}/disks/disk")


@pytest.mark.parametrize(
    ("source", "labels", "want"),
    [
        pytest.param(
            {"awsElasticBlockStore": {"volumeID": "aws://us-east-1a/disk"}},
            {},
            "Invalid format for AWS volume",
            id="EBS",
        ),
        pytest.param(
            {"azureDisk": {"kind": "Shared"}}, {}, "kind(Shared) is not supported in csi migration", id="Azure"
        ),
        pytest.param(GCE, {ZONE: "a__b"}, "zone in unexpected format", id="zones of no form"),
        pytest.param(GCE, {ZONE: "us-x-a__us-y-a"}, "multiple or no regions", id="zones of two regions"),
    ],
)
def test_a_volume_that_its_driver_would_not_know_says_why(source: Json, labels: dict[str, str], want: str) -> None:
    found = in_tree(source, labels)
    assert found is not None
    assert found.handle is None
    assert want in found.problem


def test_an_inline_volume_that_its_driver_would_not_know_is_an_error() -> None:
    with pytest.raises(Untranslatable, match="Invalid format"):
        inline_handle({"awsElasticBlockStore": {"volumeID": "aws://a/b/c"}})


@pytest.mark.parametrize("source", [{"nfs": {}}, {"csi": {}}, {"vsphereVolume": {}}, {"azureFile": {}}], ids=str)
def test_other_volumes_have_no_driver_that_took_over(source: Json) -> None:
    assert in_tree(source) is None
    assert inline_handle(source) is None


@pytest.mark.parametrize(
    ("source", "labels", "affinity", "want"),
    [
        pytest.param(EBS, {}, None, None, id="nothing said"),
        pytest.param(EBS, {ZONE: "a"}, None, allowed({EBS_ZONE: {"a"}}), id="by label"),
        pytest.param(GCE, {ZONE: "us-x-a__us-x-b"}, None, allowed({GCE_ZONE: {"us-x-a", "us-x-b"}}), id="by labels"),
        pytest.param(
            EBS, {ZONE: "b"}, allowed({ZONE: {"a"}}), allowed({EBS_ZONE: {"a"}}), id="affinity goes before the label"
        ),
        pytest.param(
            EBS,
            {ZONE: "a"},
            allowed({"rack": {"1"}}, {"rack": {"2"}}),
            allowed({"rack": {"1"}, EBS_ZONE: {"a"}}, {"rack": {"2"}, EBS_ZONE: {"a"}}),
            id="the label is added to each term",
        ),
        pytest.param(
            EBS,
            {},
            allowed({OLD_ZONE: {"a"}, OLD_REGION: {"r"}}),
            allowed({EBS_ZONE: {"a"}, REGION: {"r"}}),
            id="old names",
        ),
        pytest.param(
            {"azureDisk": {"diskURI": "x"}}, {ZONE: "a"}, allowed({ZONE: {"b"}}), allowed({ZONE: {"b"}}), id="kept"
        ),
    ],
)
def test_node_affinity_goes_by_the_drivers_key(
    source: Json, labels: dict[str, str], affinity: NodeSelector | None, want: NodeSelector | None
) -> None:
    found = in_tree(source, labels, affinity)
    assert found is not None
    assert found.node_affinity == want
