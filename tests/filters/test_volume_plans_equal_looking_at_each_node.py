"""VolumeBinding looks at all nodes at once; kube-scheduler looks at one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.node_rows import allows
from plimsoll.cluster.snapshot import Snapshot
from plimsoll.cluster.storage.claim import PersistentVolumeClaim
from plimsoll.cluster.storage.volume import PersistentVolume
from plimsoll.cluster.volume_matching import candidates, is_bound_to
from plimsoll.filters.interface import Overlay
from plimsoll.filters.volume_binding import BIND_CONFLICT, NODE_CONFLICT, VOLUME_MISSING, PreparedVolumes, VolumeBinding
from tests.builders import make_cache, make_node, make_pod
from tests.volume_objects import a_claim, a_class, a_volume, put, using

Json = dict[str, Any]

NAMES = ("n1", "n2", "n3", "n4")
CLAIMS = ("c1", "c2", "c3")


def find_matching(
    claim: PersistentVolumeClaim, volumes: Sequence[PersistentVolume], node: NodeInfo, taken: set[str]
) -> PersistentVolume | None:
    """``FindMatchingVolume``, word for word, for volumes that the claim may have."""
    smallest = None
    for volume in volumes:
        if volume.name in taken:
            continue
        reached = allows(volume.node_affinity, node.labels)
        if is_bound_to(volume, claim):
            return volume if reached else None
        if reached and (smallest is None or smallest.capacity_bytes > volume.capacity_bytes):
            smallest = volume
    return smallest


def one_node(
    view: Snapshot, claims: Sequence[PersistentVolumeClaim], node: NodeInfo
) -> tuple[list[str], dict[str, str]]:
    """Reasons, and volumes by claim: ``FindPodVolumes`` of a class without provisioner."""
    reasons, missing = [], False
    for claim in (c for c in claims if c.bound):
        volume = view.storage.volume(claim.volume)
        if volume is None:
            missing = True
            break
        if not allows(volume.node_affinity, node.labels):
            reasons.append(NODE_CONFLICT)
            break
    found, unmatched = match(view, [c for c in claims if not c.bound], node)
    reasons += [BIND_CONFLICT] * unmatched + [VOLUME_MISSING] * missing
    return reasons, found


def match(view: Snapshot, claims: Sequence[PersistentVolumeClaim], node: NodeInfo) -> tuple[dict[str, str], bool]:
    if any(c.selected_node not in {None, node.name} for c in claims):
        return {}, True
    taken: dict[str, str] = {}
    unmatched = any(c.selected_node is not None for c in claims)
    for claim in sorted((c for c in claims if c.selected_node is None), key=lambda c: c.request_bytes):
        fitting = candidates(claim, view.storage.volumes_of_class(claim.storage_class))
        volume = find_matching(claim, (*fitting.prebound, *fitting.free), node, set(taken.values()))
        if volume is None:
            unmatched = True
        else:
            taken[claim.name] = volume.name
    return taken, unmatched


sizes = st.sampled_from(["1Gi", "2Gi", "3Gi"])
reaches = (
    st.none()
    | st.fixed_dictionaries({"rack": st.lists(st.sampled_from("xy"), min_size=1)})
    | st.fixed_dictionaries({"kubernetes.io/hostname": st.lists(st.sampled_from(NAMES), min_size=1)})
)


@st.composite
def volumes(draw: st.DrawFn, index: int) -> Json:
    owner = draw(st.sampled_from([None, None, None, None, *CLAIMS]))
    claim = None if owner is None else {"namespace": "default", "name": owner}
    return a_volume(f"v{index}", size=draw(sizes), on=draw(reaches), claim=claim)


@st.composite
def claims(draw: st.DrawFn, name: str) -> Json:
    kind = draw(st.sampled_from(["waits", "waits", "waits", "waits", "waits", "waits", "bound", "selected"]))
    return a_claim(
        name,
        size=draw(sizes),
        volume=draw(st.sampled_from(["v0", "v1", "gone"])) if kind == "bound" else "",
        bound=kind == "bound",
        selected=draw(st.sampled_from(NAMES)) if kind == "selected" else None,
    )


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[str], list[Json]]:
    racks = [draw(st.sampled_from("xy")) for _ in NAMES]
    made = [draw(volumes(i)) for i in range(draw(st.integers(1, 8)))]
    return racks, [*made, *(draw(claims(name)) for name in CLAIMS)]


@given(worlds())
def test_all_nodes_at_once_are_each_node_by_itself(world: tuple[list[str], list[Json]]) -> None:
    racks, objects = world
    nodes = [make_node(name).label("rack", rack) for name, rack in zip(NAMES, racks, strict=True)]
    view = put(make_cache(nodes), a_class(), *objects).view
    pod = using(make_pod(), *CLAIMS).info()
    prepared = VolumeBinding().prepare(view, pod)
    assert isinstance(prepared, PreparedVolumes)
    found = [claim for name in CLAIMS if (claim := view.storage.claim("default", name)) is not None]
    for row, node in view.live_nodes():
        reasons, taken = one_node(view, found, node)
        assert [reason.text for reason in prepared.check(row, Overlay())] == reasons, node.name
        if not reasons:
            plan = prepared.volumes_on(row)
            assert {b.claim.name: b.volume.capacity_bytes for b in plan.bindings} == {
                claim: _size(view, volume) for claim, volume in taken.items()
            }
            assert plan.provisions == ()


@given(worlds())
def test_pods_on_a_node_change_nothing(world: tuple[list[str], list[Json]]) -> None:
    racks, objects = world
    nodes = [make_node(name).label("rack", rack) for name, rack in zip(NAMES, racks, strict=True)]
    pod, guest = using(make_pod(), *CLAIMS).info(), using(make_pod(), *CLAIMS).on("n1")
    empty = put(make_cache(nodes), a_class(), *objects).view
    used = put(make_cache(nodes, [guest]), a_class(), *objects).view
    alone, beside = (VolumeBinding().prepare(view, pod) for view in (empty, used))
    assert isinstance(alone, PreparedVolumes)
    assert isinstance(beside, PreparedVolumes)
    for row in range(len(NAMES)):
        assert alone.check(row, Overlay(added=(guest.info(),))) == beside.check(row, Overlay())
        assert beside.check(row, Overlay(removed=(guest.info(),))) == alone.check(row, Overlay())


def _size(view: Snapshot, name: str) -> int:
    volume = view.storage.volume(name)
    assert volume is not None
    return volume.capacity_bytes
