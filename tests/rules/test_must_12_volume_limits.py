from __future__ import annotations

from typing import Any

import pytest

from tests.builders import PodBuilder, make_node, make_pod
from tests.rules.asking import cluster, codes, fits, reasons, shown
from tests.volume_objects import a_claim, a_class, a_volume, using

Json = dict[str, Any]
FULL = "node(s) exceed max volume count"
DRIVER = "disk.example.com"


def limit(count: int | None) -> Json:
    driver = {"name": DRIVER, "nodeID": "n1"} | ({} if count is None else {"allocatable": {"count": count}})
    return {"kind": "CSINode", "metadata": {"name": "n1"}, "spec": {"drivers": [driver]}}


def disk(name: str) -> list[Json]:
    volume = a_volume(name, csi={"driver": DRIVER, "volumeHandle": f"handle-{name}"})
    return [a_claim(name, volume=name, bound=True), volume]


def user(*claims: str) -> PodBuilder:
    return using(make_pod("user"), *claims).on("n1")


@pytest.mark.parametrize(
    ("count", "refused"),
    [
        pytest.param(1, True, id="full"),
        pytest.param(2, False, id="room for one more"),
        pytest.param(None, False, id="no count, no limit"),
    ],
)
def test_a_node_takes_as_many_volumes_of_a_driver_as_it_says(count: int | None, *, refused: bool) -> None:
    world = cluster(make_node("n1"), pods=[user("a")], objects=[*disk("a"), *disk("b"), limit(count)])
    assert reasons(world, using(make_pod(), "b")) == ({"n1": (FULL,)} if refused else {})


def test_removing_pods_helps() -> None:
    world = cluster(make_node("n1"), pods=[user("a")], objects=[*disk("a"), *disk("b"), limit(1)])
    assert codes(world, using(make_pod(), "b")) == {"n1": "Unschedulable"}


def test_a_node_that_says_nothing_has_no_limit() -> None:
    world = cluster(make_node("n1"), pods=[user("a")], objects=[*disk("a"), *disk("b")])
    assert fits(world, using(make_pod(), "b")) == {"n1"}


def test_a_volume_that_is_there_already_costs_nothing() -> None:
    world = cluster(make_node("n1"), pods=[user("a")], objects=[*disk("a"), limit(1)])
    assert fits(world, using(make_pod(), "a")) == {"n1"}


def test_a_volume_that_is_yet_to_be_made_counts_by_its_class() -> None:
    objects = [*disk("a"), a_class(provisioner=DRIVER), a_claim("new"), limit(1)]
    world = cluster(make_node("n1"), pods=[user("a")], objects=objects)
    assert reasons(world, using(make_pod(), "new")) == {"n1": (FULL,)}


def test_a_volume_that_is_attached_still_counts() -> None:
    world = cluster(make_node("n1"), objects=[*disk("a"), *disk("b"), limit(1)])
    assert fits(world, using(make_pod(), "b")) == {"n1"}
    spec = {"attacher": DRIVER, "nodeName": "n1", "source": {"persistentVolumeName": "a"}}
    shown(world, {"kind": "VolumeAttachment", "metadata": {"name": "x"}, "spec": spec})
    assert reasons(world, using(make_pod(), "b")) == {"n1": (FULL,)}
