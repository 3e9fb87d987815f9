from __future__ import annotations

from collections import Counter

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from plimsoll.scheduling.choice import best_rows, choose

costs = st.lists(st.tuples(st.floats(min_value=0, max_value=1), st.booleans()), min_size=1, max_size=40)


def chosen(cost: list[float], feasible: list[bool], times: int = 300) -> Counter[int]:
    rng = np.random.default_rng(7)
    return Counter(choose(np.array(cost), np.array(feasible), rng) for _ in range(times))


def test_nodes_about_as_good_as_the_best_are_taken_alike() -> None:
    found = chosen([0.500, 0.505, 0.5099, 0.52, 0.1], [True, True, True, True, False])
    assert set(found) == {0, 1, 2}
    assert min(found.values()) > 70


def test_the_same_seed_makes_the_same_choice() -> None:
    cost, feasible = np.zeros(50), np.ones(50, dtype=np.bool_)
    first, second = (
        [choose(cost, feasible, rng) for _ in range(20)] for rng in (np.random.default_rng(3), np.random.default_rng(3))
    )
    assert first == second
    assert len(set(first)) > 5


@settings(max_examples=60, deadline=None)
@given(costs.filter(lambda nodes: any(feasible for _, feasible in nodes)))
def test_only_a_feasible_node_near_the_best_is_ever_chosen(nodes: list[tuple[float, bool]]) -> None:
    cost, feasible = np.array([c for c, _ in nodes]), np.array([f for _, f in nodes])
    row = choose(cost, feasible, np.random.default_rng(0))
    assert feasible[row]
    assert cost[row] <= cost[feasible].min() + 0.01


@settings(max_examples=60, deadline=None)
@given(costs)
def test_the_best_ten_come_first_and_in_order(nodes: list[tuple[float, bool]]) -> None:
    cost, feasible = np.array([c for c, _ in nodes]), np.array([f for _, f in nodes])
    kept = best_rows(cost, feasible)
    assert len(kept) == min(10, feasible.sum())
    assert cost[kept].tolist() == pytest.approx(sorted(cost[feasible])[:10])
    assert feasible[kept].all()
    assert len(set(kept.tolist())) == len(kept)
