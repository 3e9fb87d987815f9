"""The vectorised filters against plain loops, and one node's check against a cluster that really changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from plimsoll.cluster.cache import Cache
from plimsoll.cluster.namespace import Namespace
from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.filters.inter_pod_affinity import InterPodAffinity
from plimsoll.filters.interface import ClusterFilter, Overlay, Prepared, Problem, Reason
from plimsoll.filters.pod_topology_spread import PodTopologySpread
from tests import crowds
from tests.builders import NodeBuilder, PodBuilder, make_cache
from tests.filters.judging import by_effect, refused
from tests.filters.loops import Affinity, Json, Spread

FILTERS = [pytest.param(InterPodAffinity(), id="affinity"), pytest.param(PodTopologySpread(), id="spread")]
node_lists = st.lists(crowds.nodes(), unique_by=lambda node: node.obj()["metadata"]["name"], min_size=2, max_size=4)
pod_lists = st.lists(crowds.placed_pods(), unique_by=lambda pod: pod.obj()["metadata"]["uid"], max_size=10)
space_lists = st.dictionaries(st.sampled_from(crowds.NAMESPACES[:2]), crowds.labels)


def cluster(nodes: list[NodeBuilder], pods: list[PodBuilder], spaces: Mapping[str, Json]) -> Cache:
    cache = make_cache(nodes, pods)
    for name, labels in spaces.items():
        cache.put_namespace(Namespace(name, labels))
    return cache


@pytest.mark.slow
@settings(max_examples=200)
@given(crowds.pods(), node_lists, pod_lists, space_lists)
def test_affinity_is_what_plain_loops_say(
    pod: PodBuilder, nodes: list[NodeBuilder], placed: list[PodBuilder], spaces: dict[str, Json]
) -> None:
    judge = Affinity(pod.obj(), [n.obj() for n in nodes], [p.obj() for p in placed], spaces)
    want = {n.obj()["metadata"]["name"]: reason for n in nodes if (reason := judge.reason(n.obj())) is not None}
    got = refused(InterPodAffinity(), cluster(nodes, placed, spaces), pod.info())
    assert got == (None if judge.skipped else want)


@pytest.mark.slow
@settings(max_examples=200)
@given(crowds.pods(), node_lists, pod_lists)
def test_spread_is_what_plain_loops_say(pod: PodBuilder, nodes: list[NodeBuilder], placed: list[PodBuilder]) -> None:
    judge = Spread(pod.obj(), [n.obj() for n in nodes], [p.obj() for p in placed])
    want = {n.obj()["metadata"]["name"]: reason for n in nodes if (reason := judge.reason(n.obj())) is not None}
    got = refused(PodTopologySpread(), cluster(nodes, placed, {}), pod.info())
    assert got == (want if judge.constraints else None)


@pytest.mark.parametrize("cluster_filter", FILTERS)
@settings(max_examples=200)
@given(crowds.bound_pods(), st.builds(cluster, node_lists, pod_lists, space_lists), st.data())
def test_a_check_with_an_overlay_is_a_check_of_a_cluster_changed_that_way(
    cluster_filter: ClusterFilter, pod: PodBuilder, cache: Cache, data: st.DataObject
) -> None:
    prepared = cluster_filter.prepare(cache.view, pod.info())
    if prepared is None or isinstance(prepared, Problem):
        return
    for name, row in cache.view.row_of.items():
        there = sorted((p for p in cache.pods_on(name) if counts_plainly(p, pod.info())), key=lambda p: p.uid)
        gone = there[: data.draw(st.integers(0, len(there)))]
        drawn = data.draw(st.lists(st.one_of(st.just(pod), crowds.pods()), max_size=2))
        # Under a name of their own, so that they are no pods that are there already.
        come = [replace(p.info(), uid=Uid(f"new-{i}")) for i, p in enumerate(drawn)]
        come = [p for p in come if counts_plainly(p, pod.info())]
        overlay = Overlay(added=tuple(come), removed=tuple(gone))
        assert prepared.check(row, by_effect(prepared, overlay)) == prepared.check(row, overlay)
        assert prepared.check(row, overlay) == really(cluster_filter, cache, pod.info(), name, overlay)


def counts_plainly(other: PodInfo, pod: PodInfo) -> bool:
    """Not so terminating pods and empty selectors: kube-scheduler's AddPod and RemovePod treat them otherwise."""
    empty = any(c.selector is not None and not c.selector.requirements for c in pod.spread)
    return not other.deleting and not empty


def really(
    cluster_filter: ClusterFilter, cache: Cache, pod: PodInfo, name: str, overlay: Overlay
) -> tuple[Reason, ...]:
    for gone in overlay.removed:
        cache.drop_pod(gone.uid)
    for come in overlay.added:
        cache.assume(come, name)
    prepared = cluster_filter.prepare(cache.view, pod)
    found = () if prepared is None else _check(prepared, cache.view.row_of[name])
    for come in overlay.added:
        cache.forget(come.uid)
    for gone in overlay.removed:
        cache.put_pod(gone)
    return found


def _check(prepared: Prepared | Problem, row: int) -> tuple[Reason, ...]:
    assert not isinstance(prepared, Problem)
    return prepared.check(row, Overlay())
