from __future__ import annotations

from typing import Any

import pytest

from plimsoll.cluster.cache import Cache
from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.storage.claim import PersistentVolumeClaim
from plimsoll.filters.interface import Overlay, Problem, Reason
from plimsoll.filters.volume_restrictions import VolumeRestrictions
from tests.builders import PodBuilder, make_cache, make_node, make_pod
from tests.filters.judging import refused
from tests.volume_objects import a_claim, put, using

Json = dict[str, Any]

RESTRICTIONS = VolumeRestrictions()
DISK = Reason("node(s) had no available disk", resolvable=True)
IN_USE = Reason(
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
    resolvable=True,
)


def gce(name: str = "disk", *, read_only: bool = False) -> Json:
    return {"gcePersistentDisk": {"pdName": name, "readOnly": read_only}}


def ebs(volume: str = "vol-1", *, read_only: bool = False) -> Json:
    return {"awsElasticBlockStore": {"volumeID": volume, "readOnly": read_only}}


def iscsi(iqn: str = "iqn.2026:a", *, lun: int = 0, read_only: bool = False) -> Json:
    return {"iscsi": {"iqn": iqn, "lun": lun, "targetPortal": f"10.0.0.{lun}", "readOnly": read_only}}


def rbd(*monitors: str, pool: str = "rbd", image: str = "one", read_only: bool = False) -> Json:
    return {"rbd": {"monitors": list(monitors or ("m1",)), "pool": pool, "image": image, "readOnly": read_only}}


def mounting(*volumes: Json, name: str = "") -> PodBuilder:
    return make_pod(name).spec(volumes=[{"name": f"v{i}", **volume} for i, volume in enumerate(volumes)])


def cluster(*pods: PodBuilder) -> Cache:
    return make_cache([make_node("n1"), make_node("n2")], pods)


def one_pod_only(name: str = "data", *, namespace: str = "default") -> Json:
    return a_claim(name, namespace=namespace, accessModes=["ReadWriteOncePod"])


@pytest.mark.parametrize(
    ("there", "wanted"),
    [
        pytest.param(gce(), gce(), id="GCE: both write"),
        pytest.param(gce(read_only=True), gce(), id="GCE: one writes"),
        pytest.param(gce(), gce(read_only=True), id="GCE: the other writes"),
        pytest.param(ebs(), ebs(), id="EBS"),
        pytest.param(ebs(read_only=True), ebs(read_only=True), id="EBS: even where both only read"),
        pytest.param(iscsi(), iscsi(lun=3), id="iSCSI: the same IQN, whatever the portal and LUN"),
        pytest.param(iscsi(read_only=True), iscsi(), id="iSCSI: one writes"),
        pytest.param(rbd("m1", "m2"), rbd("m2", "m3"), id="RBD: a shared monitor"),
        pytest.param(rbd(read_only=True), rbd(), id="RBD: one writes"),
    ],
)
def test_a_disk_in_use_on_the_node_is_refused_there(there: Json, wanted: Json) -> None:
    cache = cluster(mounting(there).on("n1"))
    assert refused(RESTRICTIONS, cache, mounting(wanted).info()) == {"n1": DISK}


@pytest.mark.parametrize(
    ("there", "wanted"),
    [
        pytest.param(gce(read_only=True), gce(read_only=True), id="GCE: both only read"),
        pytest.param(gce("a"), gce("b"), id="GCE: another disk"),
        pytest.param(ebs("vol-1"), ebs("vol-2"), id="EBS: another volume"),
        pytest.param(ebs("disk"), gce("disk"), id="disks of two kinds"),
        pytest.param(iscsi(read_only=True), iscsi(read_only=True), id="iSCSI: both only read"),
        pytest.param(iscsi("iqn.2026:a"), iscsi("iqn.2026:b"), id="iSCSI: another IQN"),
        pytest.param(rbd(read_only=True), rbd(read_only=True), id="RBD: both only read"),
        pytest.param(rbd("m1"), rbd("m2"), id="RBD: other monitors"),
        pytest.param(rbd(pool="a"), rbd(pool="b"), id="RBD: another pool"),
        pytest.param(rbd(image="a"), rbd(image="b"), id="RBD: another image"),
    ],
)
def test_a_disk_that_both_may_mount_is_not(there: Json, wanted: Json) -> None:
    assert refused(RESTRICTIONS, cluster(mounting(there).on("n1")), mounting(wanted).info()) == {}


def test_the_last_of_several_readers_frees_the_disk_for_a_writer() -> None:
    readers = [mounting(gce(read_only=True), name=name).on("n1") for name in ("a", "b")]
    cache = cluster(*readers)
    cache.drop_pod(readers[0].info().uid)
    assert refused(RESTRICTIONS, cache, mounting(gce()).info()) == {"n1": DISK}
    cache.drop_pod(readers[1].info().uid)
    assert refused(RESTRICTIONS, cache, mounting(gce()).info()) == {}


def test_a_disk_of_a_pod_on_a_node_that_went_is_in_nobodys_way() -> None:
    cache = cluster(mounting(gce()).on("n1"))
    cache.drop_node("n1")
    assert refused(RESTRICTIONS, cache, mounting(gce()).info()) == {}
    cache.put_node(make_node("n1").info())
    assert refused(RESTRICTIONS, cache, mounting(gce()).info()) == {"n1": DISK}


def test_a_claim_for_one_pod_that_is_in_use_anywhere_refuses_all_nodes() -> None:
    cache = put(cluster(using(make_pod("user"), "data").on("n1")), one_pod_only())
    assert refused(RESTRICTIONS, cache, using(make_pod("next"), "data").info()) == {"n1": IN_USE, "n2": IN_USE}


@pytest.mark.parametrize(
    "user",
    [
        pytest.param(make_pod("user"), id="that nobody uses"),
        pytest.param(using(make_pod("user"), "other"), id="beside another that is used"),
        pytest.param(using(make_pod("user", "elsewhere"), "data"), id="of the same name as one in another namespace"),
        pytest.param(
            make_pod("da").spec(volumes=[{"name": "ta", "ephemeral": {}}, {"name": "data", "emptyDir": {}}]),
            id="that only the name of a volume resembles",
        ),
    ],
)
def test_a_claim_for_one_pod_is_no_matter(user: PodBuilder) -> None:
    cache = put(cluster(user.on("n1")), one_pod_only(), one_pod_only(namespace="elsewhere"), a_claim("other"))
    assert refused(RESTRICTIONS, cache, using(make_pod("next"), "data").info()) is None


def test_a_claim_that_many_pods_may_use_is_no_matter() -> None:
    cache = put(cluster(using(make_pod("user"), "data").on("n1")), a_claim("data", accessModes=["ReadWriteOnce"]))
    assert refused(RESTRICTIONS, cache, using(make_pod("next"), "data").info()) is None


def test_a_taken_disk_is_told_before_a_taken_claim() -> None:
    both = [{"name": "d", **gce()}, {"name": "c", "persistentVolumeClaim": {"claimName": "data"}}]
    cache = put(cluster(make_pod("user").spec(volumes=both).on("n1")), one_pod_only())
    assert refused(RESTRICTIONS, cache, make_pod("next").spec(volumes=both).info()) == {"n1": DISK, "n2": IN_USE}


def test_a_claim_that_is_not_there_keeps_the_pod_from_every_node() -> None:
    found = refused(RESTRICTIONS, cluster(), using(make_pod(), "data").info())
    assert found == Problem('persistentvolumeclaim "data" not found')


def test_a_claim_that_is_made_for_the_pod_is_not_looked_at_here() -> None:
    assert refused(RESTRICTIONS, cluster(), mounting({"ephemeral": {}}).info()) is None


def test_a_pod_without_volumes_is_not_looked_at() -> None:
    assert refused(RESTRICTIONS, cluster(), mounting({"emptyDir": {}}).info()) is None


def test_preempting_the_user_frees_the_claim_on_every_node() -> None:
    user = using(make_pod("user"), "data").on("n1")
    cache = put(cluster(user), one_pod_only())
    prepared = RESTRICTIONS.prepare(cache.view, using(make_pod("next"), "data").info())
    assert prepared is not None
    assert not isinstance(prepared, Problem)
    assert prepared.check(0, Overlay(removed=(user.info(),))) == ()
    another = using(make_pod("another"), "data").on("n1").info()
    assert prepared.check(0, Overlay(removed=(user.info(),), added=(another,))) == (IN_USE,)


def test_preempting_the_user_frees_the_disk() -> None:
    user, other = mounting(gce(), name="user").on("n1"), mounting(gce("b"), name="other").on("n1")
    prepared = RESTRICTIONS.prepare(cluster(user, other).view, mounting(gce()).info())
    assert prepared is not None
    assert not isinstance(prepared, Problem)
    assert prepared.check(0, Overlay(removed=(other.info(),))) == (DISK,)
    assert prepared.check(0, Overlay(removed=(user.info(),))) == ()
    assert prepared.check(1, Overlay(added=(mounting(gce(read_only=True)).info(),))) == (DISK,)


def claim_change(name: str, *, before: bool = False, namespace: str = "default") -> Change:
    claim = PersistentVolumeClaim(namespace, name)
    return Change(ChangeKind.CLAIM, before=claim if before else None, after=claim)


def gone(pod: PodBuilder) -> Change:
    return Change(ChangeKind.POD_DELETED, before=pod.on("n1").info())


@pytest.mark.parametrize(
    ("change", "want"),
    [
        pytest.param(Change(ChangeKind.NODE_ADDED, after=make_node().info()), True, id="a node came"),
        pytest.param(gone(using(make_pod("user"), "data")), True, id="a pod with the claim went"),
        pytest.param(gone(mounting(gce())), True, id="a pod with the disk went"),
        pytest.param(gone(mounting(gce("b"))), False, id="a pod with another disk went"),
        pytest.param(gone(using(make_pod("user"), "other")), False, id="a pod with another claim went"),
        pytest.param(gone(using(make_pod("user", "ns"), "data")), False, id="a pod of another namespace went"),
        pytest.param(gone(make_pod()), False, id="a pod without volumes went"),
        pytest.param(claim_change("data"), True, id="the claim came"),
        pytest.param(claim_change("data", before=True), False, id="the claim changed"),
        pytest.param(claim_change("other"), False, id="another claim came"),
        pytest.param(claim_change("data", namespace="ns"), False, id="a claim of another namespace came"),
    ],
)
def test_what_helps(change: Change, *, want: bool) -> None:
    pod = make_pod().spec(
        volumes=[{"name": "c", "persistentVolumeClaim": {"claimName": "data"}}, {"name": "d", **gce()}]
    )
    assert change.kind & RESTRICTIONS.wakes
    assert RESTRICTIONS.helps(change, pod.info(), cluster().view) is want
