from __future__ import annotations

import numpy as np
import pytest

from plimsoll.cluster.cache import Cache
from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.node_column import NodeColumns
from tests.builders import make_cache, make_node, make_pod


class Asked:
    """Says how many cores a node offers, and remembers for whom."""

    def __init__(self) -> None:
        self.nodes: list[str] = []

    def __call__(self, node: NodeInfo) -> float:
        self.nodes.append(node.name)
        return node.allocatable["cpu"] / 1000


@pytest.fixture
def cache() -> Cache:
    return make_cache([make_node(f"n{i}").offers(cpu=str(i)) for i in range(30)])


@pytest.mark.parametrize("dtype", [np.int8, np.float64])
def test_a_column_is_in_the_order_of_the_rows(cache: Cache, dtype: type[np.int8 | np.float64]) -> None:
    column = NodeColumns(dtype).of(cache.view, "a", Asked())
    assert column.dtype == dtype
    assert column.tolist() == list(range(30))


def test_a_warm_column_asks_for_nothing(cache: Cache) -> None:
    columns, asked = NodeColumns(np.float64), Asked()
    columns.of(cache.view, "a", asked)
    cache.put_pod(make_pod().on("n3").info())
    cache.put_node(make_node("n3").offers(cpu="3").metadata(resourceVersion="9").info())
    columns.of(cache.view, "a", asked)
    assert len(asked.nodes) == 30


def test_only_what_changed_is_asked_again(cache: Cache) -> None:
    columns, asked = NodeColumns(np.float64), Asked()
    columns.of(cache.view, "a", asked)
    asked.nodes.clear()
    cache.put_node(make_node("n3").offers(cpu="99").info())
    cache.drop_node("n4")
    cache.drop_node("n5")
    cache.put_node(make_node("new").offers(cpu="7").info())
    column = columns.of(cache.view, "a", asked)
    assert sorted(asked.nodes) == ["n3", "new"]
    assert column[[3, 4, cache.view.row_of["new"]]].tolist() == [99, 0, 7]


def test_classes_are_kept_in_bounds_and_the_longest_unused_goes(cache: Cache) -> None:
    columns, asked = NodeColumns(np.float64), Asked()
    columns.of(cache.view, "unused", asked)
    for i in range(1000):
        columns.of(cache.view, "used", asked)
        columns.of(cache.view, f"other-{i}", asked)
    asked.nodes.clear()
    columns.of(cache.view, "used", asked)
    assert asked.nodes == []
    columns.of(cache.view, "unused", asked)
    assert len(asked.nodes) == 30
