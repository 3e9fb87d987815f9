from __future__ import annotations

from typing import Any

import pytest

from plimsoll.cluster.cache import Cache
from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.kinds import KINDS
from plimsoll.filters.interface import Code, Overlay, Problem
from plimsoll.filters.volume_binding import PreparedVolumes, VolumeBinding
from tests.builders import NodeBuilder, PodBuilder, make_cache, make_node, make_pod
from tests.volume_objects import (
    a_capacity,
    a_claim,
    a_class,
    a_csi_node,
    a_driver,
    a_volume,
    put,
    topology,
    using,
)

Json = dict[str, Any]

NODE_CONFLICT = "node(s) didn't match PersistentVolume's node affinity"
BIND_CONFLICT = "node(s) didn't find available persistent volumes to bind"
NOT_ENOUGH_SPACE = "node(s) did not have enough free storage"
VOLUME_MISSING = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
HOST = "kubernetes.io/hostname"
VOLUME_BINDING = VolumeBinding()


def nodes(*names: str) -> list[NodeBuilder]:
    """``a1`` and ``a2`` are in zone a."""
    return [make_node(name).zone(name[0]).label("zone", name[0]) for name in names or ("a1", "a2", "b1")]


def cluster(*objects: Json, of: list[NodeBuilder] | None = None) -> Cache:
    return put(make_cache(of or nodes()), *objects)


def prepared(cache: Cache, pod: PodBuilder) -> PreparedVolumes:
    found = VOLUME_BINDING.prepare(cache.view, pod.info())
    assert isinstance(found, PreparedVolumes)
    return found


def refused(cache: Cache, pod: PodBuilder) -> dict[str, list[str]]:
    """Reasons by node; mask and check agree, and removing pods never helps."""
    found = prepared(cache, pod)
    reasons: dict[str, list[str]] = {}
    for refusal in found.refusals():
        assert not refusal.resolvable.any()
        for name, row in cache.view.row_of.items():
            if refusal.rows[row]:
                reasons.setdefault(name, []).append(refusal.reason)
    for name, row in cache.view.row_of.items():
        assert [reason.text for reason in found.check(row, Overlay())] == reasons.get(name, [])
    return reasons


def plan(cache: Cache, pod: PodBuilder, node: str) -> tuple[dict[str, str], list[str]]:
    """Volumes by claim, and claims to be provided for."""
    volumes = prepared(cache, pod).volumes_on(cache.view.row_of[node])
    return {b.claim.name: b.volume.name for b in volumes.bindings}, [c.name for c in volumes.provisions]


def test_a_pod_without_claims_is_not_concerned() -> None:
    pod = make_pod().spec(volumes=[{"name": "v", "emptyDir": {}}])
    assert VOLUME_BINDING.prepare(cluster().view, pod.info()) is None


EPHEMERAL = {"volumes": [{"name": "data", "ephemeral": {"volumeClaimTemplate": {}}}]}
OWNED = {"ownerReferences": [{"kind": "Pod", "name": "web", "uid": "uid-default-web", "controller": True}]}


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        pytest.param([], 'persistentvolumeclaim "data" not found', id="no claim"),
        pytest.param(
            [a_claim("data", namespace="other")], 'persistentvolumeclaim "data" not found', id="in another namespace"
        ),
        pytest.param(
            [a_claim("data", phase="Lost", volume="gone")],
            'persistentvolumeclaim "data" bound to non-existent persistentvolume "gone"',
            id="lost",
        ),
        pytest.param(
            [a_claim("data", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})],
            'persistentvolumeclaim "data" is being deleted',
            id="deleting",
        ),
        pytest.param([a_claim("data")], "pod has unbound immediate PersistentVolumeClaims", id="class missing"),
        pytest.param(
            [a_claim("data", of_class="")], "pod has unbound immediate PersistentVolumeClaims", id="without class"
        ),
        pytest.param(
            [a_claim("data"), a_class(mode="Immediate")],
            "pod has unbound immediate PersistentVolumeClaims",
            id="to be bound at once",
        ),
        pytest.param(
            [a_claim("data", volume="chosen"), a_class()],
            "pod has unbound immediate PersistentVolumeClaims",
            id="bound ahead by a person",
        ),
    ],
)
def test_a_claim_that_cannot_be_used_keeps_the_pod_from_every_node(objects: list[Json], message: str) -> None:
    found = VOLUME_BINDING.prepare(cluster(*objects).view, using(make_pod("web"), "data").info())
    assert found == Problem(message, Code.UNRESOLVABLE)


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        pytest.param(
            [],
            'waiting for ephemeral volume controller to create the persistentvolumeclaim "web-data"',
            id="not made yet",
        ),
        pytest.param(
            [a_claim("web-data")],
            "PVC default/web-data was not created for pod default/web (pod is not owner)",
            id="somebody else's",
        ),
    ],
)
def test_an_ephemeral_volume_waits_for_a_claim_of_its_own(objects: list[Json], message: str) -> None:
    found = VOLUME_BINDING.prepare(cluster(*objects).view, make_pod("web").spec(**EPHEMERAL).info())
    assert found == Problem(message, Code.UNRESOLVABLE)


def test_an_ephemeral_volume_whose_claim_is_the_pods_own_is_like_any_other() -> None:
    cache = cluster(a_class(), a_claim("web-data", metadata=OWNED), a_volume("v", on={HOST: ["a1"]}))
    pod = make_pod("web").spec(**EPHEMERAL)
    assert refused(cache, pod) == {"a2": [BIND_CONFLICT], "b1": [BIND_CONFLICT]}


def test_a_class_without_binding_mode_is_an_error() -> None:
    found = VOLUME_BINDING.prepare(cluster(a_claim("data"), a_class(mode=None)).view, using(make_pod(), "data").info())
    assert found == Problem('VolumeBindingMode not set for StorageClass "wait"', Code.ERROR)


# -- bound claims -----------------------------------------------------------------------------------------


def test_a_bound_volume_binds_the_pod_to_the_nodes_that_reach_it() -> None:
    cache = cluster(a_claim("data", volume="v", bound=True), a_volume("v", on={"zone": ["a"]}, phase="Bound"))
    assert refused(cache, using(make_pod(), "data")) == {"b1": [NODE_CONFLICT]}


def test_a_bound_volume_without_affinity_is_reached_from_everywhere() -> None:
    cache = cluster(a_claim("data", volume="v", bound=True), a_volume("v", phase="Bound"))
    assert refused(cache, using(make_pod(), "data")) == {}


def test_a_bound_volume_that_is_not_there_excludes_every_node() -> None:
    cache = cluster(a_claim("data", volume="v", bound=True))
    assert refused(cache, using(make_pod(), "data")) == {name: [VOLUME_MISSING] for name in ("a1", "a2", "b1")}


def test_the_first_bound_claim_that_is_out_of_reach_names_the_reason() -> None:
    cache = cluster(
        a_claim("one", volume="v", bound=True),
        a_volume("v", on={"zone": ["a"]}),
        a_claim("two", volume="gone", bound=True),
    )
    assert refused(cache, using(make_pod(), "one", "two")) == {
        "a1": [VOLUME_MISSING],
        "a2": [VOLUME_MISSING],
        "b1": [NODE_CONFLICT],
    }


@pytest.mark.parametrize("terms", [[], [{}]], ids=["no terms", "a term that says nothing"])
def test_an_affinity_that_says_nothing_matches_no_node(terms: list[Json]) -> None:
    volume = a_volume("v", nodeAffinity={"required": {"nodeSelectorTerms": terms}})
    cache = cluster(a_claim("data", volume="v", bound=True), volume)
    assert set(refused(cache, using(make_pod(), "data"))) == {"a1", "a2", "b1"}


def test_what_a_volumes_affinity_says_of_node_names_does_not_count() -> None:
    fields = [{"key": "metadata.name", "operator": "In", "values": ["a1"]}]
    volume = a_volume("v", nodeAffinity={"required": {"nodeSelectorTerms": [{"matchFields": fields}]}})
    cache = cluster(a_claim("data", volume="v", bound=True), volume)
    assert refused(cache, using(make_pod(), "data")) == {}


def test_a_node_that_has_migrated_a_plugin_is_asked_in_the_drivers_words() -> None:
    volume = a_volume(
        "v", on={"topology.kubernetes.io/zone": ["a"]}, awsElasticBlockStore={"volumeID": "vol-1"}, phase="Bound"
    )
    ebs = "topology.ebs.csi.aws.com/zone"
    of = [*nodes("a1", "a2"), make_node("c1").label(ebs, "a"), make_node("c2").label(ebs, "b")]
    migrated = [a_csi_node(name, migrated="kubernetes.io/aws-ebs") for name in ("a2", "c1", "c2")]
    cache = cluster(a_claim("data", volume="v", bound=True), volume, *migrated, of=of)
    assert refused(cache, using(make_pod(), "data")) == {"a2": [NODE_CONFLICT], "c2": [NODE_CONFLICT]}


def test_a_label_that_changes_changes_what_a_node_reaches() -> None:
    cache = cluster(a_claim("data", volume="v", bound=True), a_volume("v", on={"zone": ["a"]}))
    pod = using(make_pod(), "data")
    assert set(refused(cache, pod)) == {"b1"}
    cache.put_node(make_node("b1").label("zone", "a").info())
    cache.put_node(make_node("a1").info())
    assert set(refused(cache, pod)) == {"a1"}
    cache.drop_node("a2")
    cache.put_node(make_node("c1").label("zone", "c").info())
    assert set(refused(cache, pod)) == {"a1", "c1"}


# -- claims that wait for a node ----------------------------------------------------------------------------


def test_a_selected_node_is_the_only_one() -> None:
    cache = cluster(a_class(provisioner="csi"), a_claim("data", selected="a2"))
    pod = using(make_pod(), "data")
    assert refused(cache, pod) == {"a1": [BIND_CONFLICT], "b1": [BIND_CONFLICT]}
    assert plan(cache, pod, "a2") == ({}, ["data"])


def test_a_selected_node_that_is_gone_leaves_none() -> None:
    cache = cluster(a_class(provisioner="csi"), a_claim("data", selected="gone"))
    assert set(refused(cache, using(make_pod(), "data"))) == {"a1", "a2", "b1"}


def test_a_claim_takes_the_smallest_volume_that_the_node_reaches() -> None:
    cache = cluster(
        a_class(),
        a_claim("data"),
        a_volume("big", size="20Gi"),
        a_volume("small", size="6Gi", on={HOST: ["a1"]}),
        a_volume("tiny", size="1Gi"),
    )
    pod = using(make_pod(), "data")
    assert refused(cache, pod) == {}
    assert plan(cache, pod, "a1") == ({"data": "small"}, [])
    assert plan(cache, pod, "b1") == ({"data": "big"}, [])


def test_the_smaller_claim_chooses_first_and_no_volume_is_taken_twice() -> None:
    cache = cluster(
        a_class(),
        a_claim("large", size="9Gi"),
        a_claim("little", size="1Gi"),
        a_volume("v5", size="5Gi"),
        a_volume("v10", size="10Gi", on={"zone": ["a"]}),
    )
    pod = using(make_pod(), "large", "little")
    assert plan(cache, pod, "a1") == ({"little": "v5", "large": "v10"}, [])
    assert refused(cache, pod) == {"b1": [BIND_CONFLICT]}


def test_the_smaller_claim_takes_what_the_larger_one_would_have_liked_better() -> None:
    cache = cluster(
        a_class(),
        a_claim("large", size="2Gi"),
        a_claim("little", size="1Gi"),
        a_volume("v2", size="2Gi"),
        a_volume("v3", size="3Gi"),
    )
    assert plan(cache, using(make_pod(), "large", "little"), "a1") == ({"little": "v2", "large": "v3"}, [])


def test_a_volume_bound_ahead_to_the_claim_is_taken_or_none() -> None:
    ours = {"namespace": "default", "name": "data"}
    cache = cluster(
        a_class(provisioner="csi"),
        a_claim("data"),
        a_volume("mine", size="1Ti", claim=ours, on={"zone": ["a"]}),
        a_volume("free", size="6Gi"),
    )
    pod = using(make_pod(), "data")
    assert plan(cache, pod, "a1") == ({"data": "mine"}, [])
    assert plan(cache, pod, "b1") == ({}, ["data"])


def test_a_claim_that_two_volumes_of_the_pod_name_is_looked_for_twice() -> None:
    cache = cluster(a_class(), a_claim("data"), a_volume("v1", size="6Gi"))
    assert set(refused(cache, using(make_pod(), "data", "data"))) == {"a1", "a2", "b1"}


def test_without_a_provisioner_a_volume_must_be_there() -> None:
    cache = cluster(a_class(), a_claim("data"))
    assert refused(cache, using(make_pod(), "data")) == {name: [BIND_CONFLICT] for name in ("a1", "a2", "b1")}


def test_with_a_provisioner_a_volume_can_be_made() -> None:
    cache = cluster(a_class(provisioner="csi"), a_claim("data"))
    pod = using(make_pod(), "data")
    assert refused(cache, pod) == {}
    assert plan(cache, pod, "a1") == ({}, ["data"])


@pytest.mark.parametrize(
    ("topologies", "fit"),
    [
        pytest.param([topology(zone=["a"])], {"a1", "a2"}, id="one zone"),
        pytest.param([topology(zone=["a"]), topology(zone=["b"])], {"a1", "a2", "b1"}, id="either of two"),
        pytest.param([topology(zone=["a", "b"], rack=["1"])], set(), id="all labels of a term"),
        pytest.param([{"matchLabelExpressions": []}], set(), id="a term that says nothing selects nothing"),
    ],
)
def test_allowed_topologies_limit_where_volumes_are_made(topologies: list[Json], fit: set[str]) -> None:
    cache = cluster(a_class(provisioner="csi", topologies=topologies), a_claim("data"))
    assert set(refused(cache, using(make_pod(), "data"))) == {"a1", "a2", "b1"} - fit


IN_A = {"matchLabels": {"zone": "a"}}


@pytest.mark.parametrize(
    ("objects", "fit"),
    [
        pytest.param([], {"a1", "a2", "b1"}, id="no such driver: nobody is asked"),
        pytest.param([a_driver("csi")], {"a1", "a2", "b1"}, id="a driver that publishes nothing"),
        pytest.param([a_driver("csi", storage_capacity=False)], {"a1", "a2", "b1"}, id="a driver that opts out"),
        pytest.param([a_driver("csi", storage_capacity=True)], set(), id="nothing published"),
        pytest.param(
            [a_driver("csi", storage_capacity=True), a_capacity("c", of_class="wait", topology=IN_A, capacity="5Gi")],
            {"a1", "a2"},
            id="as much as is needed",
        ),
        pytest.param(
            [a_driver("csi", storage_capacity=True), a_capacity("c", of_class="wait", topology=IN_A, capacity="4Gi")],
            set(),
            id="too little",
        ),
        pytest.param(
            [
                a_driver("csi", storage_capacity=True),
                a_capacity("c", of_class="wait", topology=IN_A, capacity="1Ti", maximumVolumeSize="4Gi"),
            ],
            set(),
            id="the largest volume goes before the capacity",
        ),
        pytest.param(
            [a_driver("csi", storage_capacity=True), a_capacity("c", of_class="x", topology=IN_A, capacity="1Ti")],
            set(),
            id="of another class",
        ),
        pytest.param(
            [a_driver("csi", storage_capacity=True), a_capacity("c", of_class="wait", topology=None, capacity="1Ti")],
            set(),
            id="no topology is no node",
        ),
        pytest.param(
            [a_driver("csi", storage_capacity=True), a_capacity("c", of_class="wait", topology={}, capacity="1Ti")],
            {"a1", "a2", "b1"},
            id="an empty topology is every node",
        ),
    ],
)
def test_storage_capacity_limits_where_volumes_are_made(objects: list[Json], fit: set[str]) -> None:
    cache = cluster(a_class(provisioner="csi"), a_claim("data"), *objects)
    assert refused(cache, using(make_pod(), "data")) == {
        name: [NOT_ENOUGH_SPACE] for name in ("a1", "a2", "b1") if name not in fit
    }


def test_a_claim_that_asks_for_no_size_needs_no_capacity() -> None:
    cache = cluster(a_class(provisioner="csi"), a_claim("data", resources={}), a_driver("csi", storage_capacity=True))
    assert refused(cache, using(make_pod(), "data")) == {}


def test_a_node_is_told_of_bound_and_unbound_claims_at_once() -> None:
    cache = cluster(
        a_class(),
        a_claim("data"),
        a_claim("old", volume="v", bound=True),
        a_volume("v", on={"zone": ["a"]}, phase="Bound"),
    )
    assert refused(cache, using(make_pod(), "old", "data")) == {
        "a1": [BIND_CONFLICT],
        "a2": [BIND_CONFLICT],
        "b1": [NODE_CONFLICT, BIND_CONFLICT],
    }


def test_thousands_of_local_volumes_are_matched_to_their_nodes() -> None:
    of = [make_node(f"n{i}") for i in range(300)]
    volumes = [a_volume(f"v{i}", on={HOST: [f"n{i}"]}, size=f"{6 + i % 7}Gi") for i in range(0, 300, 2)]
    cache = cluster(a_class(), a_claim("data"), *volumes, of=of)
    pod = using(make_pod(), "data")
    assert set(refused(cache, pod)) == {f"n{i}" for i in range(1, 300, 2)}
    assert plan(cache, pod, "n42") == ({"data": "v42"}, [])


# -- what is assumed ----------------------------------------------------------------------------------------


def test_a_volume_that_is_assumed_for_one_claim_is_not_free_for_another() -> None:
    cache = cluster(a_class(), a_claim("one"), a_claim("two"), a_volume("v"))
    first = using(make_pod("first"), "one")
    volumes = prepared(cache, first).volumes_on(0)
    cache.assume_volumes(first.info().uid, "a1", volumes)
    assert set(refused(cache, using(make_pod(), "two"))) == {"a1", "a2", "b1"}
    assert refused(cache, first) == {}
    cache.forget_volumes(first.info().uid)
    assert refused(cache, using(make_pod(), "two")) == {}


def test_a_node_that_is_assumed_for_a_claim_holds_for_all_its_pods() -> None:
    cache = cluster(a_class(provisioner="csi"), a_claim("shared"))
    first = using(make_pod("first"), "shared")
    cache.assume_volumes(first.info().uid, "a2", prepared(cache, first).volumes_on(1))
    assert set(refused(cache, using(make_pod("second"), "shared"))) == {"a1", "b1"}


# -- what wakes ---------------------------------------------------------------------------------------------

CLASS, CLAIM, VOLUME = ChangeKind.STORAGE_CLASS, ChangeKind.CLAIM, ChangeKind.VOLUME
CSI_NODE, CSI_DRIVER, CAPACITY = ChangeKind.CSI_NODE, ChangeKind.CSI_DRIVER, ChangeKind.STORAGE_CAPACITY


@pytest.mark.parametrize(
    ("kind", "before", "after", "helps"),
    [
        pytest.param(CLAIM, None, a_claim("data"), True, id="its own claim"),
        pytest.param(CLAIM, a_claim("data"), a_claim("data", selected="a1"), True, id="its own claim changed"),
        pytest.param(CLAIM, None, a_claim("other"), False, id="another claim"),
        pytest.param(CLAIM, None, a_claim("data", namespace="other"), False, id="a namesake elsewhere"),
        pytest.param(VOLUME, None, a_volume("v"), True, id="any volume"),
        pytest.param(CLASS, None, a_class(), True, id="a class"),
        pytest.param(CLASS, a_class(), a_class(topologies=[topology(zone=["a"])]), True, id="topologies changed"),
        pytest.param(CLASS, a_class(), a_class(provisioner="x"), False, id="a class otherwise changed"),
        pytest.param(CSI_NODE, None, a_csi_node("a1"), True, id="a CSI node"),
        pytest.param(CSI_NODE, a_csi_node("a1"), a_csi_node("a1", migrated="p"), True, id="a plugin migrated"),
        pytest.param(CSI_NODE, a_csi_node("a1"), a_csi_node("a1"), False, id="a CSI node otherwise changed"),
        pytest.param(
            CSI_DRIVER,
            a_driver("csi", storage_capacity=True),
            a_driver("csi", storage_capacity=False),
            True,
            id="a driver that is asked no more",
        ),
        pytest.param(CSI_DRIVER, None, a_driver("csi", storage_capacity=True), False, id="a driver came"),
        pytest.param(
            CSI_DRIVER,
            a_driver("csi", storage_capacity=False),
            a_driver("csi", storage_capacity=True),
            False,
            id="a driver that is asked from now on",
        ),
        pytest.param(
            CAPACITY, None, a_capacity("c", of_class="wait", topology=IN_A, capacity="1Gi"), True, id="a capacity"
        ),
        pytest.param(
            CAPACITY,
            a_capacity("c", of_class="wait", topology=IN_A, capacity="1Gi"),
            a_capacity("c", of_class="wait", topology=IN_A, capacity="2Gi"),
            True,
            id="a capacity grew",
        ),
        pytest.param(
            CAPACITY,
            a_capacity("c", of_class="wait", topology=IN_A, capacity="2Gi"),
            a_capacity("c", of_class="wait", topology=IN_A, capacity="1Gi"),
            False,
            id="a capacity shrank",
        ),
    ],
)
def test_a_pod_wakes_for_what_can_help(kind: ChangeKind, before: Json | None, after: Json, helps: bool) -> None:  # noqa: FBT001
    parsed = [None if thing is None else KINDS[thing["kind"]].parse(thing) for thing in (before, after)]
    change = Change(kind, before=parsed[0], after=parsed[1])
    assert kind & VOLUME_BINDING.wakes
    assert VOLUME_BINDING.helps(change, using(make_pod(), "data").info(), cluster().view) is helps


@pytest.mark.parametrize("kind", [ChangeKind.NODE_ADDED, ChangeKind.NODE_LABELS])
def test_a_node_that_came_or_has_other_labels_may_reach_the_volumes(kind: ChangeKind) -> None:
    node = make_node().info()
    change = Change(kind, before=node, after=node)
    assert kind & VOLUME_BINDING.wakes
    assert VOLUME_BINDING.helps(change, using(make_pod(), "data").info(), cluster().view)
