"""Replicas by zone are counted on while nodes come to be in zones that nobody had seen before."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from plimsoll.cluster.cache import Cache
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.workload_zones import Zoning
from tests.builders import NodeBuilder, PodBuilder, make_cache, make_node, make_pod


def replica(name: str, node: str) -> PodBuilder:
    return make_pod(name).owner("ReplicaSet", "web").on(node)


WEB: PodInfo = replica("web-0", "n1").info()


def _put(cache: Cache, node: NodeBuilder) -> None:
    cache.put_node(node.info())


def _relabelled_then_assigned(cache: Cache) -> None:
    _put(cache, make_node("n1").zone("c"))
    cache.put_pod(replica("web-1", "n1").info())


def _relabelled_then_gone(cache: Cache) -> None:
    _put(cache, make_node("n1").zone("c"))
    cache.drop_pod(WEB.uid)


def _recreated(cache: Cache) -> None:
    cache.drop_node("n1")
    _put(cache, make_node("n1").zone("c"))


def _zone_known_late(cache: Cache) -> None:
    _put(cache, make_node("n3"))
    cache.put_pod(replica("web-1", "n3").info())
    assert by_zone(cache) == {1: 1}
    _put(cache, make_node("n3").zone("c"))
    cache.drop_pod(replica("web-1", "n3").info().uid)


def _into_a_known_zone(cache: Cache) -> None:
    _put(cache, make_node("n1").zone("b"))
    cache.put_pod(replica("web-1", "n1").info())


def by_zone(cache: Cache) -> dict[int, float]:
    view = cache.view
    counted = view.workloads.by_zone(WEB.workload, Zoning(view.zoning, view.zone, view.zones))
    return {zone: float(count) for zone, count in enumerate(counted) if count}


@pytest.mark.parametrize(
    ("happens", "want"),
    [
        pytest.param(_relabelled_then_assigned, {3: 2}, id="a node relabelled, then a pod comes"),
        pytest.param(_relabelled_then_gone, {}, id="a node relabelled, then its pod goes"),
        pytest.param(_recreated, {3: 1}, id="a node deleted and back under its name"),
        pytest.param(_zone_known_late, {1: 1}, id="a node whose zone is told late, and its pod goes"),
        pytest.param(_into_a_known_zone, {2: 2}, id="a node relabelled to a zone that is known"),
    ],
)
def test_a_zone_may_be_new(happens: Callable[[Cache], None], want: dict[int, float]) -> None:
    cache = make_cache([make_node("n1").zone("a"), make_node("n2").zone("b")], [replica("web-0", "n1")])
    assert by_zone(cache) == {1: 1}
    happens(cache)
    assert by_zone(cache) == want
