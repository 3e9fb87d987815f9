from __future__ import annotations

from typing import Any

import pytest

from plimsoll.cluster.cache import Cache
from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.storage.claim import PersistentVolumeClaim
from plimsoll.cluster.storage.storage_class import StorageClass
from plimsoll.cluster.storage.volume import PersistentVolume
from plimsoll.filters.interface import Problem, Reason
from plimsoll.filters.volume_zone import VolumeZone
from tests.builders import make_cache, make_node, make_pod
from tests.filters.judging import refused
from tests.volume_objects import a_claim, a_class, a_volume, put, using

Json = dict[str, Any]

VOLUME_ZONE = VolumeZone()
CONFLICT = Reason("node(s) had no available volume zone", resolvable=False)
ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
OLD_ZONE, OLD_REGION = "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"


def cluster(*objects: Json, **labels: dict[str, str]) -> Cache:
    """``cluster(n1={ZONE: "a"})``."""
    nodes = [make_node(name) for name in labels]
    for node, found in zip(nodes, labels.values(), strict=True):
        for key, value in found.items():
            node.label(key, value)
    return put(make_cache(nodes), *objects)


def bound(name: str = "data", **labels: str) -> list[Json]:
    """A claim and its volume with these labels."""
    return [a_claim(name, volume=name, bound=True), a_volume(name, labels=labels)]


def conflicts(cache: Cache, *claims: str) -> set[str]:
    found = refused(VOLUME_ZONE, cache, using(make_pod(), *(claims or ("data",))).info())
    assert found is not None
    assert not isinstance(found, Problem)
    assert set(found.values()) <= {CONFLICT}
    return set(found)


@pytest.mark.parametrize(
    ("of_volume", "of_node"),
    [
        pytest.param({ZONE: "a"}, {ZONE: "a"}, id="the same zone"),
        pytest.param({ZONE: "a__b"}, {ZONE: "b"}, id="one of its zones"),
        pytest.param({ZONE: "a __ b"}, {ZONE: "b"}, id="with spaces around"),
        pytest.param({REGION: "r"}, {REGION: "r"}, id="the same region"),
        pytest.param({OLD_ZONE: "a"}, {ZONE: "a"}, id="by the old name, on a node with the new one"),
        pytest.param({OLD_REGION: "r"}, {REGION: "r"}, id="region by the old name"),
        pytest.param({OLD_ZONE: "a"}, {OLD_ZONE: "a", ZONE: "b"}, id="the old name goes first"),
        pytest.param({ZONE: "a"}, {}, id="a node that says nothing of zones"),
        pytest.param({ZONE: "a"}, {"zone": "b"}, id="a node with labels of no zone"),
    ],
)
def test_a_node_in_the_volumes_zone_fits(of_volume: dict[str, str], of_node: dict[str, str]) -> None:
    assert conflicts(cluster(*bound(**of_volume), n1=of_node)) == set()


@pytest.mark.parametrize(
    ("of_volume", "of_node"),
    [
        pytest.param({ZONE: "a"}, {ZONE: "b"}, id="another zone"),
        pytest.param({ZONE: "a__b"}, {ZONE: "c"}, id="none of its zones"),
        pytest.param({ZONE: "a", REGION: "r"}, {ZONE: "a", REGION: "s"}, id="another region"),
        pytest.param({ZONE: "a"}, {REGION: "r"}, id="a node that says a region, and no zone"),
        pytest.param({ZONE: "a"}, {OLD_ZONE: "a"}, id="by the new name, on a node with the old one"),
        pytest.param({OLD_ZONE: "a"}, {OLD_ZONE: "b", ZONE: "a"}, id="the old name goes first"),
    ],
)
def test_a_node_elsewhere_does_not(of_volume: dict[str, str], of_node: dict[str, str]) -> None:
    assert conflicts(cluster(*bound(**of_volume), n1=of_node)) == {"n1"}


def test_every_volume_must_be_within_reach() -> None:
    nodes = {"n1": {ZONE: "a"}, "n2": {ZONE: "b"}, "n3": {ZONE: "c"}}
    cache = cluster(*bound("one", **{ZONE: "a__b"}), *bound("two", **{ZONE: "b__c"}), **nodes)
    assert conflicts(cache, "one", "two") == {"n1", "n3"}


@pytest.mark.parametrize("labels", [{}, {ZONE: ""}, {ZONE: "a__"}, {"zone": "a"}], ids=str)
def test_a_volume_without_a_zone_that_can_be_read_is_not_looked_at(labels: dict[str, str]) -> None:
    assert refused(VOLUME_ZONE, cluster(*bound(**labels), n1={ZONE: "b"}), using(make_pod(), "data").info()) is None


def test_a_claim_that_waits_for_its_first_pod_is_not_looked_at() -> None:
    cache = cluster(a_claim("data"), a_class(), n1={ZONE: "b"})
    assert refused(VOLUME_ZONE, cache, using(make_pod(), "data").info()) is None


def test_claims_made_for_the_pod_are_not_looked_at() -> None:
    pod = make_pod("p").spec(volumes=[{"name": "data", "ephemeral": {}}])
    assert refused(VOLUME_ZONE, cluster(*bound("p-data", **{ZONE: "a"}), n1={ZONE: "b"}), pod.info()) is None


@pytest.mark.parametrize(
    ("objects", "want"),
    [
        pytest.param([], 'persistentvolumeclaim "data" not found', id="no claim"),
        pytest.param([a_claim("data", volume="gone")], 'persistentvolume "gone" not found', id="no volume"),
        pytest.param(
            [a_claim("data", of_class="")], "PersistentVolumeClaim had no pv name and storageClass name", id="no class"
        ),
        pytest.param([a_claim("data")], 'storageclass.storage.k8s.io "wait" not found', id="a class that is not there"),
        pytest.param(
            [a_claim("data"), a_class(mode=None)],
            'VolumeBindingMode not set for StorageClass "wait"',
            id="a class without a mode",
        ),
        pytest.param(
            [a_claim("data"), a_class(mode="Immediate")], "PersistentVolume had no name", id="a claim bound at once"
        ),
    ],
)
def test_a_claim_whose_volume_is_not_known_keeps_the_pod_from_every_node(objects: list[Json], want: str) -> None:
    assert refused(VOLUME_ZONE, cluster(*objects, n1={}), using(make_pod(), "data").info()) == Problem(want)


def change(kind: ChangeKind, after: Any, before: Any = None) -> Change:
    return Change(kind, before=before, after=after)


CLAIM, OTHER = PersistentVolumeClaim("default", "data"), PersistentVolumeClaim("default", "other")
PLAIN, ZONED = PersistentVolume("data"), PersistentVolume("data", labels={ZONE: "a"})
LABELLED = PersistentVolume("data", labels={ZONE: "a", "app": "x"})


@pytest.mark.parametrize(
    ("news", "want"),
    [
        pytest.param(change(ChangeKind.NODE_ADDED, make_node().info()), True, id="a node came"),
        pytest.param(
            change(ChangeKind.STORAGE_CLASS, StorageClass("c", "p", "WaitForFirstConsumer")), True, id="a waiting class"
        ),
        pytest.param(
            change(ChangeKind.STORAGE_CLASS, StorageClass("c", "p", "Immediate")),
            False,
            id="a class that does not wait",
        ),
        pytest.param(
            change(ChangeKind.STORAGE_CLASS, StorageClass("c", "p", "WaitForFirstConsumer"), StorageClass("c")),
            False,
            id="a class changed: its mode never does",
        ),
        pytest.param(change(ChangeKind.CLAIM, CLAIM, CLAIM), True, id="the pod's claim changed"),
        pytest.param(change(ChangeKind.CLAIM, OTHER), False, id="another claim came"),
        pytest.param(change(ChangeKind.VOLUME, PLAIN), True, id="a volume came"),
        pytest.param(change(ChangeKind.VOLUME, ZONED, PLAIN), True, id="a volume's zone changed"),
        pytest.param(change(ChangeKind.VOLUME, LABELLED, ZONED), False, id="another label of it changed"),
    ],
)
def test_what_helps(news: Change, *, want: bool) -> None:
    assert news.kind & VOLUME_ZONE.wakes
    assert VOLUME_ZONE.helps(news, using(make_pod(), "data").info(), cluster().view) is want
