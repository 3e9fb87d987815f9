from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from plimsoll.scores.preferences import PreferenceCaches, preferences_term
from tests.builders import NodeBuilder, PodBuilder, make_cache, make_node, make_pod

PREFER = "PreferNoSchedule"


def term(pod: PodBuilder, nodes: Sequence[NodeBuilder], feasible: Sequence[bool] | None = None) -> list[float] | None:
    view = make_cache(nodes).view
    rows = view.live if feasible is None else np.array(feasible)
    found = preferences_term(view, pod.info(), rows, PreferenceCaches())
    return None if found is None else [float(cost) for cost in found]


def tiers(*tiers: str) -> list[NodeBuilder]:
    return [make_node(f"n{i}").label("tier", tier) for i, tier in enumerate(tiers)]


@pytest.mark.parametrize(
    ("pod", "want"),
    [
        pytest.param(make_pod(), None, id="no preference, no term"),
        pytest.param(make_pod().prefer_nodes(10, tier="a"), [0, 1, 1], id="the preferred node costs nothing"),
        pytest.param(
            make_pod().prefer_nodes(30, tier="a").prefer_nodes(10, tier="b"), [0, 2 / 3, 1], id="by the sum of weights"
        ),
        pytest.param(make_pod().prefer_nodes(10, tier="z"), None, id="a preference that no node meets"),
        pytest.param(make_pod().prefer_nodes(0, tier="a"), None, id="a weight of 0 is ignored"),
        pytest.param(
            make_pod().preferred_node_affinity({"weight": 10, "preference": {}}),
            None,
            id="an empty term matches nothing",
        ),
    ],
)
def test_preferred_node_affinity(pod: PodBuilder, want: list[float] | None) -> None:
    assert term(pod, tiers("a", "b", "c")) == (want if want is None else pytest.approx(want))


def test_taints_that_only_ask_are_counted() -> None:
    nodes = [
        make_node("n1").taint("a", effect=PREFER).taint("b", effect=PREFER),
        make_node("n2").taint("a", effect=PREFER),
    ]
    nodes.append(make_node("n3"))
    assert term(make_pod(), nodes) == [1, 0.5, 0]
    assert term(make_pod().tolerate(key="a", operator="Exists"), nodes) == [1, 0, 0]
    assert term(make_pod().tolerate(operator="Exists"), nodes) is None


def test_hard_taints_are_for_the_filter() -> None:
    assert term(make_pod(), [make_node("n1").taint("a"), make_node("n2")]) is None


def test_taints_weigh_three_to_two_against_affinity() -> None:
    nodes = [make_node("n1").label("tier", "a").taint("x", effect=PREFER), make_node("n2")]
    assert term(make_pod().prefer_nodes(1, tier="a"), nodes) == pytest.approx([3 / 5, 2 / 5])


def test_only_feasible_nodes_set_the_scale() -> None:
    pod = make_pod().prefer_nodes(30, tier="a").prefer_nodes(10, tier="b")
    assert term(pod, tiers("a", "b", "c"), [False, True, True]) == [0, 0, 1]


def test_nor_do_taints_of_nodes_that_are_not_feasible() -> None:
    nodes = [
        make_node("n1").taint("a", effect=PREFER).taint("b", effect=PREFER),
        make_node("n2").taint("a", effect=PREFER),
    ]
    nodes.append(make_node("n3"))
    assert term(make_pod(), nodes, [False, True, True]) == [1, 1, 0]


def test_a_node_that_is_alone_is_not_compared() -> None:
    pod = make_pod().prefer_nodes(10, tier="a")
    assert term(pod, tiers("a", "b"), [True, False]) is None
    assert term(pod, tiers("a", "b"), [False, False]) is None


def test_warm_caches_answer_like_cold_ones() -> None:
    cache, warm = make_cache(tiers("a", "b")), PreferenceCaches()
    pods = [make_pod().prefer_nodes(1, tier=tier).info() for tier in ("a", "b", "c")]
    for change in (make_node("n0").label("tier", "c"), make_node("n2").label("tier", "a").taint("x", effect=PREFER)):
        for pod in pods:
            preferences_term(cache.view, pod, cache.view.live, warm)
        cache.put_node(change.info())
        for pod in pods:
            warmly = preferences_term(cache.view, pod, cache.view.live, warm)
            coldly = preferences_term(cache.view, pod, cache.view.live, PreferenceCaches())
            assert np.array_equal(np.array(warmly), np.array(coldly))
