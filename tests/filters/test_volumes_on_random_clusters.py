from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from plimsoll.cluster.cache import Cache
from plimsoll.cluster.pod import PodInfo
from plimsoll.filters.interface import ClusterFilter, Overlay, Problem, Reason
from plimsoll.filters.node_volume_limits import NodeVolumeLimits
from plimsoll.filters.volume_restrictions import VolumeRestrictions
from tests.builders import PodBuilder
from tests.filters.judging import by_effect, refused
from tests.volume_worlds import NODES, World, crowded, pods, steps

FILTERS: list[ClusterFilter] = [VolumeRestrictions(), NodeVolumeLimits()]
FULL = "node(s) exceed max volume count"
journeys = st.lists(steps, min_size=5, max_size=40)
nexts, others = pods("next"), st.lists(pods("q1", "q2"), max_size=2, unique_by=lambda pod: pod.info().uid)


def world_of(journey: list[tuple[str, Any]]) -> World:
    """Two nodes with room for two volumes of each driver, and a bound claim for each name, to begin with."""
    world = World()
    for name in NODES:
        world.take("node", name)
    for thing in crowded():
        world.take("put", thing)
    for step, what in journey:
        world.take(step, what)
    return world


@pytest.mark.parametrize("cluster_filter", FILTERS, ids=lambda f: f.name)
@settings(max_examples=100)
@given(journey=journeys, pod=nexts)
def test_the_mask_and_the_check_of_each_node_agree(
    cluster_filter: ClusterFilter, journey: list[tuple[str, Any]], pod: PodBuilder
) -> None:
    refused(cluster_filter, world_of(journey).cache, pod.info())


@pytest.mark.parametrize("cluster_filter", FILTERS, ids=lambda f: f.name)
@settings(max_examples=150)
@given(journey=journeys, pod=nexts, added=others, data=st.data())
def test_a_check_with_pods_that_come_and_go_equals_a_cluster_where_they_did(
    cluster_filter: ClusterFilter,
    journey: list[tuple[str, Any]],
    pod: PodBuilder,
    added: list[PodBuilder],
    data: st.DataObject,
) -> None:
    world = world_of(journey)
    assume(world.nodes)
    view = world.cache.view
    prepared = cluster_filter.prepare(view, pod.info())
    assume(prepared is not None and not isinstance(prepared, Problem))
    assert prepared is not None
    assert not isinstance(prepared, Problem)
    node = data.draw(st.sampled_from(sorted(world.nodes)))
    there = list(world.cache.pods_on(node))
    removed = data.draw(st.lists(st.sampled_from(there), unique_by=lambda p: p.uid)) if there else []
    overlay = Overlay(added=tuple(p.info() for p in added), removed=tuple(removed))
    found = prepared.check(view.row_of[node], overlay)
    assert prepared.check(view.row_of[node], by_effect(prepared, overlay)) == found
    for gone in removed:
        world.cache.drop_pod(gone.uid)
    for come in added:
        world.cache.put_pod(come.on(node).info())
    after = refused(cluster_filter, world.cache, pod.info())
    assert not isinstance(after, Problem)
    assert found == tuple(reason for name, reason in (after or {}).items() if name == node)


@settings(max_examples=150)
@given(journey=journeys, pod=nexts)
def test_limits_are_kept_as_kube_scheduler_counts(journey: list[tuple[str, Any]], pod: PodBuilder) -> None:
    world = world_of(journey)
    found = refused(NodeVolumeLimits(), world.cache, pod.info())
    want = {name for name in world.nodes if exceeds(world, pod.info(), name)}
    assert found == ({name: Reason(FULL, resolvable=True) for name in want} if found is not None else None)
    assert found is not None or not want


def exceeds(world: World, pod: PodInfo, node: str) -> bool:
    """NodeVolumeLimits' Filter, line by line."""
    csi_node = world.objects.get(("CSINode", node))
    drivers = csi_node["spec"]["drivers"] if csi_node is not None else []
    limits = {d["name"]: d["allocatable"]["count"] for d in drivers if "allocatable" in d}
    new = attachable(world.cache, pod)
    attached = {handle for other in world.cache.pods_on(node) for handle in attachable(world.cache, other)}
    counts = Counter(driver for driver, _ in attached | attachments(world, node))
    return any(
        counts[driver] + count > limits[driver]
        for driver, count in Counter(driver for driver, _ in new - attached).items()
        if driver in limits
    )


def attachable(cache: Cache, pod: PodInfo) -> set[tuple[str, str]]:
    storage = cache.view.storage
    found = {(handle.driver, handle.volume) for handle in pod.volumes.handles}
    for use in pod.volumes.claims:
        claim = storage.claim(pod.namespace, use.claim)
        if claim is None:
            continue
        volume, storage_class = storage.volume(claim.volume), storage.storage_class(claim.storage_class)
        if volume is not None and volume.csi is not None:
            found.add(volume.csi)
        elif volume is not None and volume.in_tree is not None and volume.in_tree.handle is not None:
            found.add(volume.in_tree.handle)
        elif volume is None and storage_class is not None:
            provisioner = storage_class.provisioner.replace("kubernetes.io/aws-ebs", "ebs.csi.aws.com")
            found.add((provisioner, f"to be made: {claim.key}"))
    return {(driver, handle) for driver, handle in found if driver and handle}


def attachments(world: World, node: str) -> set[tuple[str, str]]:
    specs = [thing["spec"] for (kind, _), thing in world.objects.items() if kind == "VolumeAttachment"]
    volumes = (
        (s["attacher"], world.cache.view.storage.volume(s["source"]["persistentVolumeName"]))
        for s in specs
        if s["nodeName"] == node
    )
    return {(attacher, v.csi.volume) for attacher, v in volumes if attacher and v is not None and v.csi is not None}
