from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from plimsoll.scores.spreading import spreading_term
from tests.builders import NodeBuilder, PodBuilder, make_cache, make_node, make_pod


def replica(node: str = "") -> PodBuilder:
    pod = make_pod().owner("Job", "batch")
    return pod.on(node) if node else pod


def term(
    nodes: Sequence[NodeBuilder], there: Sequence[PodBuilder], feasible: Sequence[bool] | None = None
) -> list[float]:
    view = make_cache(nodes, there).view
    rows = view.live if feasible is None else np.array(feasible)
    return [float(cost) for cost in spreading_term(view, replica().info(), rows)]


PLAIN = [make_node("n1"), make_node("n2"), make_node("n3")]


def test_nodes_without_replicas_cost_nothing_and_the_fullest_costs_all() -> None:
    assert term(PLAIN, [replica("n1"), replica("n1"), replica("n2")]) == [1, 0.5, 0]


def test_where_there_are_no_replicas_all_are_alike() -> None:
    assert term(PLAIN, []) == [0, 0, 0]


def test_pods_of_other_workloads_are_no_neighbours() -> None:
    assert term(PLAIN, [make_pod().owner("Job", "other").on("n1"), make_pod().on("n1")]) == [0, 0, 0]


def test_replicas_that_are_going_are_no_neighbours() -> None:
    assert term(PLAIN, [replica("n1").deleting(), replica("n2")]) == [0, 1, 0]


def test_only_feasible_nodes_set_the_scale() -> None:
    there = [replica("n1"), replica("n1"), replica("n1"), replica("n2")]
    assert term(PLAIN, there, [False, True, True])[1:] == [1, 0]


def zoned() -> list[NodeBuilder]:
    return [make_node("a1").zone("a"), make_node("a2").zone("a"), make_node("b1").zone("b"), make_node("none")]


def test_a_neighbour_on_the_node_weighs_twice_one_in_the_zone() -> None:
    assert term(zoned(), [replica("a1")]) == pytest.approx([1, 1 / 3, 0, 0])


def test_zones_with_more_replicas_cost_more() -> None:
    found = term(zoned(), [replica("a1"), replica("a2"), replica("b1")])
    assert found == pytest.approx([1, 1, 2 / 3 + 1 / 6, 0])


def test_one_zone_is_no_choice() -> None:
    nodes = [make_node("a1").zone("a"), make_node("a2").zone("a")]
    assert term(nodes, [replica("a1")]) == [1, 0]


def test_replicas_on_a_node_that_is_gone_do_not_count() -> None:
    cache = make_cache(PLAIN, [replica("n1"), replica("n2")])
    cache.drop_node("n1")
    assert spreading_term(cache.view, replica().info(), cache.view.live).tolist() == [0, 1, 0]
