"""Cases of upstream's TestSelectBestCandidate and TestPostFilter, with their values: nodes as ``(priority, size)``."""

from __future__ import annotations

import pytest

from tests.builders import PodBuilder
from tests.scheduling.preempting import (
    HIGH,
    LARGE,
    LOW,
    MEDIUM,
    MIDDLE,
    NEGATIVE,
    SMALL,
    VERY_HIGH,
    VERY_LARGE,
    budget,
    cluster,
    node,
    pod,
    post_filter,
)

Running = dict[str, list[tuple[int, int]]]


@pytest.mark.parametrize(
    ("priority", "running", "best"),
    [
        pytest.param(
            HIGH,
            {
                "node1": [(MIDDLE, MEDIUM), (MIDDLE, LARGE)],
                "node2": [(MIDDLE, MEDIUM), (LOW, MEDIUM)],
                "node3": [(LOW, MEDIUM), (LOW, MEDIUM)],
            },
            "node3",
            id="lowest priority of the most important victim",
        ),
        pytest.param(
            HIGH,
            {
                "node1": [(MIDDLE, MEDIUM), (MIDDLE, LARGE)],
                "node2": [(MIDDLE, LARGE), (LOW, MEDIUM)],
                "node3": [(MIDDLE, MEDIUM), (MIDDLE, MEDIUM)],
            },
            "node2",
            id="smallest sum of priorities",
        ),
        pytest.param(
            HIGH,
            {
                "node1": [(MIDDLE, SMALL), (NEGATIVE, SMALL), (MIDDLE, SMALL), (NEGATIVE, SMALL)],
                "node2": [(MIDDLE, LARGE), (NEGATIVE, MEDIUM)],
                "node3": [(MIDDLE, MEDIUM), (NEGATIVE, SMALL), (LOW, SMALL)],
            },
            "node2",
            id="fewest victims",
        ),
        pytest.param(
            HIGH,
            {
                "node1": [(MIDDLE, SMALL), (NEGATIVE, SMALL), (NEGATIVE, SMALL)],
                "node2": [(MIDDLE, LARGE), (NEGATIVE, MEDIUM)],
                "node3": [(MIDDLE, MEDIUM), (NEGATIVE, SMALL), (LOW, SMALL)],
            },
            "node2",
            id="two victims of negative priority cost more than one",
        ),
        pytest.param(
            VERY_HIGH,
            {
                "node1": [(MIDDLE, SMALL), (LOW, SMALL), (LOW, SMALL)],
                "node2": [(HIGH, LARGE)],
                "node3": [(MIDDLE, MEDIUM), (LOW, SMALL), (LOW, SMALL), (LOW, MEDIUM)],
                "node4": [(MIDDLE, MEDIUM), (MIDDLE, SMALL), (MIDDLE, SMALL), (NEGATIVE, SMALL)],
            },
            "node1",
            id="each criterion has another favourite",
        ),
    ],
)
def test_which_node_is_cleared(priority: int, running: Running, best: str) -> None:
    pods = [
        pod(f"{name}.{i}", at, size, on=name, started_s=0)
        for name, there in running.items()
        for i, (at, size) in enumerate(there)
    ]
    found = post_filter(cluster([node(name) for name in running], pods), pod("p", priority, VERY_LARGE))
    assert found.nominated_node == best
    assert {victim.node for victim in found.victims} == {best}


@pytest.mark.parametrize(
    ("starts", "best"),
    [
        pytest.param(
            {
                "node1": [(MIDDLE, 2), (MIDDLE, 2)],
                "node2": [(MIDDLE, 3), (MIDDLE, 3)],
                "node3": [(MIDDLE, 1), (MIDDLE, 1)],
            },
            "node2",
            id="one start per node",
        ),
        pytest.param(
            {
                "node1": [(MIDDLE, 4), (MIDDLE, 2)],
                "node2": [(MIDDLE, 5), (MIDDLE, 1)],
                "node3": [(MIDDLE, 3), (MIDDLE, 6)],
            },
            "node3",
            id="the earliest start on each node",
        ),
        pytest.param(
            {"node1": [(LOW, 4), (MIDDLE, 2)], "node2": [(MIDDLE, 6), (LOW, 1)], "node3": [(LOW, 3), (MIDDLE, 5)]},
            "node2",
            id="of the most important victims only",
        ),
    ],
)
def test_pods_that_have_run_for_long_are_spared(starts: dict[str, list[tuple[int, int]]], best: str) -> None:
    pods = [
        pod(f"{name}.{i}", at, MEDIUM, on=name, started_s=started_s)
        for name, there in starts.items()
        for i, (at, started_s) in enumerate(there)
    ]
    found = post_filter(cluster([node(name) for name in starts], pods), pod("p", HIGH, VERY_LARGE))
    assert found.nominated_node == best


def _guarded(name: str, priority: int, on: str) -> PodBuilder:
    return pod(name, priority, SMALL, on=on).labels(guard="violated")


def test_fewer_violated_budgets_go_before_everything_else() -> None:
    running = [_guarded("p1", LOW, "node1"), pod("p2", MIDDLE, SMALL, on="node2")]
    nodes = [node("node1", SMALL), node("node2", SMALL)]
    cache = cluster(nodes, running, [budget(guard="violated")])
    assert post_filter(cache, pod("p", HIGH, SMALL)).nominated_node == "node2"


def test_a_violated_budget_is_no_bar() -> None:
    cache = cluster([node("node1", SMALL)], [_guarded("p1", LOW, "node1")], [budget(guard="violated")])
    assert [victim.name for victim in post_filter(cache, pod("p", HIGH, SMALL)).victims] == ["p1"]


def test_victims_are_told_from_the_most_important_down() -> None:
    running = [pod("c", NEGATIVE, SMALL, on="n"), pod("a", MIDDLE, SMALL, on="n"), pod("b", LOW, SMALL, on="n")]
    found = post_filter(cluster([node("n", LARGE)], running), pod("p", HIGH, LARGE))
    assert [victim.name for victim in found.victims] == ["a", "b", "c"]
