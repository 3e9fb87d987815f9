from __future__ import annotations

from typing import Any

import pytest

from plimsoll.scheduling.decision import Bind
from tests.builders import PodBuilder, make_node, make_pod
from tests.rules.asking import HOST, ZONE, cluster, fits, reasons
from tests.scheduling.conftest import World
from tests.volume_objects import a_capacity, a_claim, a_class, a_driver, a_volume, topology, using

Json = dict[str, Any]


def web(*claims: str) -> PodBuilder:
    return using(make_pod("web"), *(claims or ("data",)))


def zoned(*objects: Json) -> World:
    return cluster(make_node("a").zone("a"), make_node("b").zone("b"), objects=objects)


# -- zones ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "want"),
    [
        pytest.param({ZONE: "a"}, {"a"}, id="its zone"),
        pytest.param({ZONE: "a__b"}, {"a", "b"}, id="any of its zones"),
        pytest.param({"failure-domain.beta.kubernetes.io/zone": "b"}, {"b"}, id="the label of old"),
        pytest.param({}, {"a", "b"}, id="no zone"),
    ],
)
def test_a_volume_is_used_in(labels: dict[str, str], want: set[str]) -> None:
    world = zoned(a_claim("data", volume="v", bound=True), a_volume("v", labels=labels))
    assert fits(world, web()) == want
    refused = dict.fromkeys({"a", "b"} - want, ("node(s) had no available volume zone",))
    assert reasons(world, web()) == refused


# -- volumes that are there -----------------------------------------------------------------------------------


def taken(world: World, pod: PodBuilder) -> dict[str, str]:
    """The volume by claim."""
    world.pending(pod)
    command = world.scheduler.next_command(now_s=world.now_s)
    assert isinstance(command, Bind)
    assert command.prepare is not None
    return {binding.claim.name: binding.volume.name for binding in command.prepare.volumes.bindings}


def test_the_smallest_volume_that_is_large_enough_is_taken() -> None:
    world = zoned(a_class(), a_claim("data"), *(a_volume(f"v{size}", size=f"{size}Gi") for size in (20, 4, 6)))
    assert taken(world, web()) == {"data": "v6"}


def test_a_volume_that_names_the_claim_is_taken_before_any_other() -> None:
    theirs = {"namespace": "default", "name": "data"}
    world = zoned(a_class(), a_claim("data"), a_volume("small"), a_volume("ours", size="90Gi", claim=theirs))
    assert taken(world, web()) == {"data": "ours"}


def test_two_claims_of_a_pod_take_two_volumes() -> None:
    world = zoned(a_class(), a_claim("one"), a_claim("two"), a_volume("v1"), a_volume("v2"))
    assert set(taken(world, web("one", "two")).values()) == {"v1", "v2"}


@pytest.mark.parametrize(
    "volume",
    [
        pytest.param(a_volume("v", size="1Gi"), id="too small"),
        pytest.param(a_volume("v", of_class="other"), id="of another class"),
        pytest.param(a_volume("v", phase="Released"), id="not available"),
        pytest.param(a_volume("v", volumeMode="Block"), id="of another mode"),
        pytest.param(a_volume("v", accessModes=["ReadOnlyMany"]), id="without the access mode"),
        pytest.param(a_volume("v", claim={"namespace": "default", "name": "other"}), id="another claim's"),
    ],
)
def test_a_volume_is_not_taken_that_is(volume: Json) -> None:
    world = zoned(a_class(), a_claim("data"), volume)
    none = ("node(s) didn't find available persistent volumes to bind",)
    assert reasons(world, web()) == {"a": none, "b": none}


def test_a_pod_goes_where_a_volume_is_free() -> None:
    assert fits(zoned(a_class(), a_claim("data"), a_volume("v", on={HOST: ["b"]})), web()) == {"b"}


# -- volumes that are to be made ------------------------------------------------------------------------------


def test_a_volume_is_made_only_where_the_class_allows_it() -> None:
    made = a_class(provisioner="csi", topologies=[topology(**{ZONE: ["b"]})])
    assert fits(zoned(made, a_claim("data")), web()) == {"b"}


def test_a_driver_that_counts_its_capacity_must_have_enough_of_it() -> None:
    objects = [a_class(provisioner="csi"), a_claim("data"), a_driver("csi", storage_capacity=True)]
    little = a_capacity("x", of_class="wait", topology={"matchLabels": {ZONE: "a"}}, capacity="1Gi")
    plenty = a_capacity("y", of_class="wait", topology={"matchLabels": {ZONE: "b"}}, capacity="9Gi")
    world = zoned(*objects, little, plenty)
    assert reasons(world, web()) == {"a": ("node(s) did not have enough free storage",)}
    halves = plenty | {"maximumVolumeSize": "4Gi"}
    assert fits(zoned(*objects, little, halves), web()) == set()
