from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.cluster.cache import Cache
from plimsoll.cluster.changes import ChangeKind
from plimsoll.cluster.disks import Disk, inline_disk
from plimsoll.cluster.kinds import KINDS
from plimsoll.cluster.storage.handles import Handle
from tests.builders import make_cache, make_node, make_pod
from tests.volume_objects import (
    a_capacity,
    a_claim,
    a_class,
    a_csi_node,
    a_driver,
    a_volume,
    claim_of,
    put,
    using,
    volume_of,
)
from tests.volume_worlds import CLASSES, DRIVERS, NAMES, NODES, World, steps

Json = dict[str, Any]

HANDLES = [Handle(driver, volume) for driver in DRIVERS for volume in ("h1", "h2", "vol-1")]
CLAIMS = [f"{namespace}/{name}" for namespace in ("default", "other") for name in NAMES]


def a_disk(**source: Json) -> Disk:
    found = inline_disk(source)
    assert found is not None
    return found


DISKS = [
    a_disk(gcePersistentDisk={"pdName": "a", "readOnly": True}),
    a_disk(gcePersistentDisk={"pdName": "b"}),
    a_disk(awsElasticBlockStore={"volumeID": "h1"}),
    a_disk(rbd={"monitors": ["a", "b"], "pool": "p", "image": "i"}),
    a_disk(rbd={"monitors": ["c"], "pool": "p", "image": "i", "readOnly": True}),
]


def books(cache: Cache) -> dict[str, Any]:
    """Everything that filters may ask."""
    storage = cache.view.storage
    uses = storage.uses
    return {
        "claims": [(uses.users(claim), storage.handle(claim)) for claim in CLAIMS],
        "by pods": [(dict(uses.by_pods.counts(d)), [uses.by_pods.users(n, h) for n in NODES for h in HANDLES]) for d in DRIVERS],
        "by all": [(dict(uses.by_all.counts(d)), [uses.by_all.users(n, h) for n in NODES for h in HANDLES]) for d in DRIVERS],
        "disks": [sorted(uses.disks.nodes_in_conflict(disk)) for disk in DISKS],
        "limits": [dict(storage.limits(driver)) for driver in DRIVERS],
        "volumes": [sorted(v.name for v in storage.volumes_of_class(name)) for name in (*CLASSES, "")],
    }  # fmt: skip


@given(st.lists(steps, max_size=40))
def test_what_is_kept_along_the_way_equals_what_is_made_from_scratch(journey: list[tuple[str, Any]]) -> None:
    world = World()
    for step, what in journey:
        world.take(step, what)
    assert books(world.cache) == books(world.from_scratch())


@given(st.lists(steps, max_size=30))
def test_nothing_is_left_of_what_went(journey: list[tuple[str, Any]]) -> None:
    world = World()
    for step, what in journey:
        world.take(step, what)
    for pod in list(world.pods.values()):
        world.take("pod goes", pod)
    for thing in list(world.objects.values()):
        world.take("drop", thing)
    uses, empty = world.cache.view.storage.uses, Cache().view.storage.uses
    for index, fresh in ((uses.by_pods, empty.by_pods), (uses.by_all, empty.by_all), (uses.disks, empty.disks)):
        assert vars(index) == vars(fresh)
    assert {k: v for k, v in vars(uses).items() if isinstance(v, dict) and v} == {}


def test_claims_made_for_one_pod_have_no_other_users() -> None:
    pod = make_pod("p").spec(volumes=[{"name": "scratch", "ephemeral": {}}]).on("n1")
    cache = make_cache([make_node("n1")], [pod])
    users = cache.view.storage.uses.users
    assert users("default/p-scratch") == 0
    cache.drop_pod(pod.info().uid)
    assert users("default/p-scratch") == 0


@pytest.mark.parametrize(
    ("thing", "changed", "kind"),
    [
        pytest.param(a_volume("v"), {"status": {"phase": "Bound"}}, ChangeKind.VOLUME, id="PersistentVolume"),
        pytest.param(a_claim("c"), {"status": {"phase": "Bound"}}, ChangeKind.CLAIM, id="PersistentVolumeClaim"),
        pytest.param(a_class("s"), {"provisioner": "p"}, ChangeKind.STORAGE_CLASS, id="StorageClass"),
        pytest.param(
            a_csi_node("n1"),
            {"spec": {"drivers": [{"name": "d", "allocatable": {"count": 1}}]}},
            ChangeKind.CSI_NODE,
            id="CSINode",
        ),
        pytest.param(a_driver("d"), {"spec": {"storageCapacity": True}}, ChangeKind.CSI_DRIVER, id="CSIDriver"),
        pytest.param(
            a_capacity("x", of_class="s", topology={}, capacity="1Gi"),
            {"capacity": "2Gi"},
            ChangeKind.STORAGE_CAPACITY,
            id="CSIStorageCapacity",
        ),
    ],
)
def test_the_store_answers_with_what_changed(thing: Json, changed: Json, kind: ChangeKind) -> None:
    cache, of = make_cache(), KINDS[thing["kind"]]
    first, second = of.parse(thing), of.parse(thing | changed)
    came = cache.put_object(of, first)
    assert came is not None
    assert (came.kind, came.before, came.after) == (kind, None, first)
    newer = thing | {"metadata": thing["metadata"] | {"resourceVersion": "999"}}
    assert cache.put_object(of, of.parse(newer)) is None, "only the version is another"
    change = cache.put_object(of, second)
    assert change is not None
    assert (change.kind, change.before, change.after) == (kind, of.parse(newer), second)
    gone = cache.drop_object(of, second.key)
    assert gone is not None
    assert (gone.kind, gone.before, gone.after) == (ChangeKind(0), second, None)
    assert cache.drop_object(of, second.key) is None


def test_an_attachment_matters_when_it_goes() -> None:
    cache, of = make_cache(), KINDS["VolumeAttachment"]
    attachment = of.parse({"metadata": {"name": "a"}, "spec": {"nodeName": "n1", "attacher": "d"}})
    came, gone = cache.put_object(of, attachment), cache.drop_object(of, "a")
    assert came is not None
    assert gone is not None
    assert (came.kind, gone.kind) == (ChangeKind(0), ChangeKind.VOLUME_ATTACHMENT_DELETED)


def test_objects_are_found_by_name() -> None:
    volume, claim = a_volume("v", of_class="fast"), a_claim("c", of_class="fast")
    others = [a_volume("w", of_class=""), a_class("fast"), a_csi_node("n1"), a_driver("d")]
    capacity = a_capacity("x", of_class="fast", topology={})
    storage = put(make_cache(), volume, claim, *others, capacity).view.storage
    assert storage.volume("v") == volume_of(volume)
    assert storage.claim("default", "c") == claim_of(claim)
    assert storage.claim("other", "c") is None
    found = (storage.storage_class("fast"), storage.csi_node("n1"), storage.csi_driver("d"))
    assert [thing.key for thing in found if thing is not None] == ["fast", "n1", "d"]
    assert [v.name for v in storage.volumes_of_class("fast")] == ["v"]
    assert [v.name for v in storage.volumes_of_class("")] == ["w"]
    assert [c.name for c in storage.capacities_of("fast")] == ["x"]
    assert (list(storage.volumes_of_class("gone")), list(storage.capacities_of("gone"))) == ([], [])


def test_a_claim_that_gets_its_volume_is_counted_as_that_volume() -> None:
    cache = make_cache([make_node("n1")], [using(make_pod("p"), "c").on("n1")])
    put(cache, a_claim("c", of_class="fast"), a_class("fast", provisioner="d"))
    by_pods = cache.view.storage.uses.by_pods
    assert dict(by_pods.counts("d")) == {"n1": 1}
    put(cache, a_volume("v", csi={"driver": "e", "volumeHandle": "h"}), a_claim("c", of_class="fast", volume="v"))
    assert (dict(by_pods.counts("d")), by_pods.users("n1", Handle("e", "h"))) == ({}, 1)
