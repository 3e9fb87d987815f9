"""A pod that names its node itself may ask for anything, and so may thousands of them."""

from __future__ import annotations

import pytest

from plimsoll.cluster.cache import Cache
from plimsoll.cluster.snapshot import MEMORY_COLUMN
from tests.builders import make_cache, make_node, make_pod

_HUGE = 1030


@pytest.fixture
def cache() -> Cache:
    cache = make_cache([make_node("n")])
    cache.put_pod(make_pod("small").memory("1Gi").on("n").info())
    for i in range(_HUGE):
        cache.put_pod(make_pod(f"huge-{i}").memory("8Ei").on("n").info())
    return cache


def test_a_node_never_seems_empty_however_much_is_asked_of_it(cache: Cache) -> None:
    assert cache.view.requested[0, MEMORY_COLUMN] == 2**62


def test_when_the_huge_pods_go_what_the_others_take_is_left(cache: Cache) -> None:
    for i in range(_HUGE):
        cache.drop_pod(make_pod(f"huge-{i}").info().uid)
    assert cache.view.requested[0, MEMORY_COLUMN] == 2**30


def test_a_node_in_the_row_of_another_begins_with_nothing_left_over(cache: Cache) -> None:
    cache.drop_node("n")
    cache.put_node(make_node("other").info())
    cache.put_pod(make_pod("first").memory("1Gi").on("other").info())
    assert cache.view.requested[cache.view.row_of["other"], MEMORY_COLUMN] == 2**30
