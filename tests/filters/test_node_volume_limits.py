from __future__ import annotations

from typing import Any

import pytest

from plimsoll.cluster.cache import Cache
from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.kinds import KINDS
from plimsoll.cluster.storage.attachment import VolumeAttachment
from plimsoll.cluster.storage.claim import PersistentVolumeClaim
from plimsoll.cluster.storage.csi import CSINode
from plimsoll.filters.interface import Code, Overlay, Problem, Reason
from plimsoll.filters.node_volume_limits import NodeVolumeLimits
from tests.builders import PodBuilder, make_cache, make_node, make_pod
from tests.filters.judging import refused
from tests.volume_objects import a_claim, a_class, a_volume, put, using

Json = dict[str, Any]

LIMITS = NodeVolumeLimits()
FULL = Reason("node(s) exceed max volume count", resolvable=True)
DRIVER, OTHER = "disk.example.com", "file.example.com"
EBS, EBS_PLUGIN = "ebs.csi.aws.com", "kubernetes.io/aws-ebs"


def limit(node: str, **counts: int | None) -> Json:
    """``limit("n1", disk=2, file=None)``: a driver that names no count has no limit."""
    drivers = [
        {"name": f"{name}.example.com", "nodeID": node} | ({} if count is None else {"allocatable": {"count": count}})
        for name, count in counts.items()
    ]
    return {"kind": "CSINode", "metadata": {"name": node}, "spec": {"drivers": drivers}}


def ebs_limit(node: str, count: int) -> Json:
    driver = {"name": EBS, "nodeID": node, "allocatable": {"count": count}}
    return {"kind": "CSINode", "metadata": {"name": node}, "spec": {"drivers": [driver]}}


def csi(name: str, *, driver: str = DRIVER, handle: str = "") -> Json:
    return a_volume(name, csi={"driver": driver, "volumeHandle": handle or f"handle-{name}"})


def bound(*names: str, driver: str = DRIVER) -> list[Json]:
    """Claims and volumes of the same names."""
    return [thing for n in names for thing in (a_claim(n, volume=n, bound=True), csi(n, driver=driver))]


def attachment(node: str, volume: str, *, attacher: str = DRIVER, name: str = "attachment") -> Json:
    spec = {"attacher": attacher, "nodeName": node, "source": {"persistentVolumeName": volume}}
    return {"kind": "VolumeAttachment", "metadata": {"name": name}, "spec": spec}


def cluster(*objects: Json, pods: list[PodBuilder] | None = None) -> Cache:
    return put(make_cache([make_node("n1"), make_node("n2")], pods or ()), *objects)


def user(*claims: str, name: str = "user") -> PodBuilder:
    return using(make_pod(name), *claims).on("n1")


def pending(*claims: str) -> PodBuilder:
    return using(make_pod("next"), *claims)


def test_a_node_at_its_limit_takes_no_other_volume() -> None:
    cache = cluster(limit("n1", disk=1), limit("n2", disk=1), *bound("a", "b"), pods=[user("a")])
    assert refused(LIMITS, cache, pending("b").info()) == {"n1": FULL}


def test_a_node_below_its_limit_takes_what_there_is_room_for() -> None:
    cache = cluster(limit("n1", disk=2), *bound("a", "b", "c"), pods=[user("a")])
    assert refused(LIMITS, cache, pending("b").info()) == {}
    assert refused(LIMITS, cache, pending("b", "c").info()) == {"n1": FULL}


def test_a_volume_that_is_there_already_costs_nothing() -> None:
    cache = cluster(limit("n1", disk=1), *bound("a"), pods=[user("a")])
    assert refused(LIMITS, cache, pending("a").info()) == {}


def test_two_claims_for_one_volume_count_once() -> None:
    objects = [a_claim("b", volume="a", bound=True), *bound("a")]
    cache = cluster(limit("n1", disk=1), limit("n2", disk=1), *objects, pods=[user("a")])
    assert refused(LIMITS, cache, pending("b").info()) == {}
    assert refused(LIMITS, cache, pending("a", "b").info()) == {}


def test_drivers_are_counted_apart() -> None:
    objects = [*bound("a"), *bound("f", driver=OTHER)]
    cache = cluster(limit("n1", disk=1, file=1), *objects, pods=[user("a")])
    assert refused(LIMITS, cache, pending("f").info()) == {}


@pytest.mark.parametrize(
    "csi_node",
    [
        pytest.param(None, id="no CSINode"),
        pytest.param(limit("n1"), id="no driver"),
        pytest.param(limit("n1", disk=None), id="no count"),
        pytest.param(limit("n1", file=0), id="another driver's count"),
    ],
)
def test_without_a_count_there_is_no_limit(csi_node: Json | None) -> None:
    objects = [*bound("a", "b"), *([] if csi_node is None else [csi_node])]
    assert refused(LIMITS, cluster(*objects, pods=[user("a")]), pending("b").info()) is None


def test_a_limit_of_zero_is_a_limit() -> None:
    assert refused(LIMITS, cluster(limit("n1", disk=0), *bound("a")), pending("a").info()) == {"n1": FULL}


def test_a_claim_to_be_provisioned_counts_for_the_classs_driver() -> None:
    objects = [a_claim("x", of_class="fast"), a_claim("y", of_class="fast"), a_class("fast", provisioner=DRIVER)]
    cache = cluster(limit("n1", disk=1), limit("n2", disk=1), *objects, pods=[user("x")])
    assert refused(LIMITS, cache, pending("y").info()) == {"n1": FULL}
    assert refused(LIMITS, cache, pending("x").info()) == {}, "the same claim again"
    assert refused(LIMITS, cache, pending("x", "y").info()) == {"n1": FULL, "n2": FULL}


def test_a_claim_whose_volume_is_not_there_counts_for_the_classs_driver() -> None:
    objects = [a_claim("x", of_class="fast", volume="lost", bound=True), a_class("fast", provisioner=DRIVER)]
    assert refused(LIMITS, cluster(limit("n1", disk=0), *objects), pending("x").info()) == {"n1": FULL}


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([a_claim("x", of_class="")], id="a claim without a class"),
        pytest.param([a_claim("x", of_class="gone")], id="a class that is not there"),
        pytest.param([a_claim("x", volume="x", bound=True), a_volume("x", nfs={"server": "s"})], id="no CSI volume"),
        pytest.param([a_claim("x", volume="x", bound=True), csi("x", driver="")], id="no driver"),
        pytest.param([a_claim("x", volume="x", bound=True), a_volume("x", csi={"driver": DRIVER})], id="no handle"),
        pytest.param(
            [a_claim("x", of_class="vsphere"), a_class("vsphere", provisioner="kubernetes.io/vsphere-volume")],
            id="a plugin whose migration kube-scheduler does not count",
        ),
        pytest.param([], id="a claim that is not there: VolumeBinding tells"),
    ],
)
def test_what_no_driver_counts_is_not_counted(objects: list[Json]) -> None:
    assert refused(LIMITS, cluster(limit("n1", disk=0), ebs_limit("n2", 0), *objects), pending("x").info()) is None


def test_a_claim_made_for_the_pod_counts() -> None:
    made = a_claim(
        "next-scratch", of_class="fast", metadata={"ownerReferences": [{"controller": True, "uid": "uid-next"}]}
    )
    pod = make_pod("next").spec(volumes=[{"name": "scratch", "ephemeral": {}}])
    cache = cluster(limit("n1", disk=0), made, a_class("fast", provisioner=DRIVER))
    assert refused(LIMITS, cache, pod.info()) == {"n1": FULL}


def test_a_volume_that_is_attached_without_a_pod_counts() -> None:
    cache = cluster(limit("n1", disk=1), *bound("a", "b"), attachment("n1", "a"))
    assert refused(LIMITS, cache, pending("b").info()) == {"n1": FULL}
    assert refused(LIMITS, cache, pending("a").info()) == {"n1": FULL}, "kube-scheduler counts it as new all the same"


def test_a_volume_that_is_attached_for_a_pod_counts_once() -> None:
    cache = cluster(limit("n1", disk=2), *bound("a", "b"), attachment("n1", "a"), pods=[user("a")])
    assert refused(LIMITS, cache, pending("b").info()) == {}


def test_an_attachment_counts_for_its_attacher() -> None:
    objects = [*bound("a", "b"), attachment("n1", "a", attacher=OTHER)]
    assert refused(LIMITS, cluster(limit("n1", disk=1), *objects), pending("b").info()) == {}


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([attachment("n1", "a", attacher="")], id="no attacher"),
        pytest.param([attachment("n1", "")], id="an inline volume"),
        pytest.param([attachment("n1", "gone")], id="a volume that is not there"),
        pytest.param([attachment("n1", "t"), a_volume("t", awsElasticBlockStore={"volumeID": "v"})], id="in-tree"),
        pytest.param([attachment("n2", "a")], id="another node"),
    ],
)
def test_an_attachment_that_does_not_count(objects: list[Json]) -> None:
    cache = cluster(limit("n1", disk=1), *bound("a", "b"), *objects)
    assert refused(LIMITS, cache, pending("b").info()) == {}


def test_an_attachment_that_is_removed_counts_no_more() -> None:
    cache = cluster(limit("n1", disk=1), *bound("a", "b"), attachment("n1", "a"))
    cache.drop_object(KINDS["VolumeAttachment"], "attachment")
    assert refused(LIMITS, cache, pending("b").info()) == {}


def test_volumes_of_former_plugins_count_for_the_driver_that_took_over() -> None:
    ebs = [
        a_claim("a", volume="a", bound=True),
        a_volume("a", awsElasticBlockStore={"volumeID": "aws://us-east-1a/vol-1"}),
        a_claim("b", of_class="gp2"),
        a_class("gp2", provisioner=EBS_PLUGIN),
    ]
    cache = cluster(ebs_limit("n1", 1), *ebs, pods=[user("a")])
    assert refused(LIMITS, cache, pending("b").info()) == {"n1": FULL}
    inline = make_pod("next").spec(volumes=[{"name": "d", "awsElasticBlockStore": {"volumeID": "vol-1"}}])
    assert refused(LIMITS, cache, inline.info()) == {}, "the same volume, named inline"
    other = make_pod("next").spec(volumes=[{"name": "d", "awsElasticBlockStore": {"volumeID": "vol-2"}}])
    assert refused(LIMITS, cache, other.info()) == {"n1": FULL}


def test_an_inline_volume_that_its_driver_would_not_know_is_an_error_that_calls_no_autoscaler() -> None:
    volume = {"name": "d", "azureDisk": {"diskURI": "/d", "kind": "Dedicated"}}
    found = refused(LIMITS, cluster(), make_pod().spec(volumes=[volume]).info())
    message = "converting volume(d) from inline to csi: kind(Dedicated) is not supported in csi migration"
    assert found == Problem(message, Code.ERROR)


@pytest.mark.parametrize("volume", [{"emptyDir": {}}, {"nfs": {}}, {"csi": {"driver": DRIVER}}], ids=str)
def test_a_pod_without_countable_volumes_is_not_looked_at(volume: Json) -> None:
    cache = cluster(limit("n1", disk=0))
    assert refused(LIMITS, cache, make_pod().spec(volumes=[{"name": "v", **volume}]).info()) is None


def test_preempting_the_last_user_makes_room() -> None:
    users = [user("a", name="one"), user("a", name="two")]
    cache = cluster(limit("n1", disk=1), *bound("a", "b"), pods=users)
    prepared = LIMITS.prepare(cache.view, pending("b").info())
    assert prepared is not None
    assert not isinstance(prepared, Problem)
    one, two = (pod.info() for pod in users)
    assert prepared.check(0, Overlay(removed=(one,))) == (FULL,)
    assert prepared.check(0, Overlay(removed=(one, two))) == ()
    assert prepared.check(0, Overlay(removed=(one, two), added=(two,))) == (FULL,)
    assert prepared.check(0, Overlay(added=(user("b").info(),), removed=(one, two))) == (), "it brings the volume"


def test_preempting_the_last_user_of_a_volume_that_stays_attached_makes_no_room() -> None:
    there = user("a")
    cache = cluster(limit("n1", disk=1), *bound("a", "b"), attachment("n1", "a"), pods=[there])
    prepared = LIMITS.prepare(cache.view, pending("b").info())
    assert prepared is not None
    assert not isinstance(prepared, Problem)
    assert prepared.check(0, Overlay(removed=(there.info(),))) == (FULL,)


def test_a_node_above_its_limit_still_takes_pods_with_volumes_that_are_there() -> None:
    cache = cluster(limit("n1", disk=1), *bound("a", "b"), pods=[user("a", "b")])
    assert refused(LIMITS, cache, pending("b").info()) == {}


def change(kind: ChangeKind, before: Any = None, after: Any = None) -> Change:
    return Change(kind, before=before, after=after)


def gone(pod: PodBuilder) -> Change:
    return change(ChangeKind.POD_DELETED, before=pod.on("n1").info())


OLD, SAME, MORE = CSINode("n1", {DRIVER: 1}), CSINode("n1", {DRIVER: 1, OTHER: 0}), CSINode("n1", {DRIVER: 2})
CLAIM = PersistentVolumeClaim("default", "data")


@pytest.mark.parametrize(
    ("news", "want"),
    [
        pytest.param(change(ChangeKind.NODE_ADDED, after=make_node().info()), True, id="a node came"),
        pytest.param(change(ChangeKind.CSI_NODE, after=OLD), True, id="a CSINode came"),
        pytest.param(change(ChangeKind.CSI_NODE, SAME, OLD), True, id="a limit was lifted"),
        pytest.param(change(ChangeKind.CSI_NODE, OLD, MORE), True, id="a limit rose"),
        pytest.param(change(ChangeKind.CSI_NODE, OLD, SAME), False, id="no limit rose"),
        pytest.param(change(ChangeKind.CSI_NODE, MORE, OLD), False, id="a limit fell"),
        pytest.param(gone(using(make_pod("user"), "any")), True, id="a pod with a claim went"),
        pytest.param(
            gone(make_pod("user").spec(volumes=[{"name": "d", "cinder": {"volumeID": "v"}}])),
            True,
            id="an inline disk went",
        ),
        pytest.param(gone(make_pod("user").spec(volumes=[{"name": "d", "emptyDir": {}}])), False, id="no volume went"),
        pytest.param(change(ChangeKind.CLAIM, after=CLAIM), True, id="the pod's claim came"),
        pytest.param(change(ChangeKind.CLAIM, CLAIM, CLAIM), False, id="the pod's claim changed"),
        pytest.param(
            change(ChangeKind.CLAIM, after=PersistentVolumeClaim("default", "other")), False, id="another claim came"
        ),
        pytest.param(
            change(ChangeKind.VOLUME_ATTACHMENT_DELETED, before=VolumeAttachment("a", DRIVER)),
            True,
            id="a volume detached",
        ),
    ],
)
def test_what_helps(news: Change, *, want: bool) -> None:
    assert news.kind & LIMITS.wakes
    assert LIMITS.helps(news, pending("data").info(), cluster().view) is want


def test_a_volume_detached_by_another_driver_does_not_help_a_pod_with_inline_disks() -> None:
    pod = make_pod().spec(volumes=[{"name": "d", "awsElasticBlockStore": {"volumeID": "vol-1"}}]).info()
    for attacher, want in ((EBS, True), (DRIVER, False)):
        news = change(ChangeKind.VOLUME_ATTACHMENT_DELETED, before=VolumeAttachment("a", attacher))
        assert LIMITS.helps(news, pod, cluster().view) is want
