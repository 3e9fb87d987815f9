"""The strategy Pack: nodes are filled one after another up to the target, and spread over above it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

from plimsoll.cluster.services import Service
from plimsoll.policy.compiled import OnOverload, Policy
from plimsoll.scheduling.decision import Outcome
from tests.builders import PodBuilder, make_node, make_pod, make_policy
from tests.scheduling.conftest import World

NODES = [f"n{i}" for i in range(10)]
TARGET = 0.6


def packing(**fields: object) -> Policy:
    metrics = {"weights": {"cpu": 1, "memory": 1}}
    return make_policy("p", **{**metrics, "pack_target": TARGET, **fields})  # type: ignore[arg-type]


@pytest.fixture
def ten(world: World) -> World:
    world.nodes(*(make_node(name) for name in NODES))
    return world


def carrying(world: World, cpu: dict[str, float], memory: dict[str, float] | None = None) -> None:
    """What is measured; nodes that are not named are idle."""
    idle = dict.fromkeys(NODES, 0.0)
    world.readings("p", {"cpu": {**idle, **cpu}, "memory": {**idle, **(memory or {})}})


def pod(cpu: str = "1", memory: str = "4Gi") -> PodBuilder:
    """By default a sixteenth of a node, of cpu and memory alike."""
    return make_pod().requests(cpu=cpu, memory=memory)


def placed(world: World, pods: Iterable[PodBuilder]) -> Counter[str]:
    return Counter(world.places(p) for p in pods)


@pytest.mark.parametrize("measured", [True, False], ids=["by metrics", "by requests alone"])
def test_nodes_are_filled_to_the_target_one_after_another(ten: World, *, measured: bool) -> None:
    ten.policies(packing() if measured else packing(weights={}))
    if measured:
        carrying(ten, {})
    filled: list[int] = []
    found = Counter[str]()
    for _ in range(40):
        found[ten.places(pod())] += 1
        filled = sorted(found.values(), reverse=True)
        assert all(count == 9 for count in filled[:-1]), "a node is begun when those before it are full"
    assert filled == [9, 9, 9, 9, 4]


def test_replicas_of_one_workload_are_packed_too(ten: World) -> None:
    """Neither the spreading term nor the default spreading of a service's pods keeps them apart."""
    ten.policies(packing())
    carrying(ten, {})
    ten.scheduler.object_seen("Service", Service("default", "web", {"app": "web"}), now_s=ten.now_s)
    web = [pod().named(f"web-{i}").labels(app="web").owner("ReplicaSet", "web") for i in range(9)]
    assert sorted(placed(ten, web).values()) == [9]
    terms = ten.probe(pod().named("web-9").labels(app="web").owner("ReplicaSet", "web")).best[0].terms
    assert terms.keys() == {"load", "requests"}


def test_unless_they_ask_to_be_spread(ten: World) -> None:
    ten.policies(packing())
    carrying(ten, {})
    spread = [
        make_pod(f"web-{i}")
        .labels(app="web")
        .requests(cpu="1", memory="4Gi")
        .spread_over("kubernetes.io/hostname", {"matchLabels": {"app": "web"}}, whenUnsatisfiable="ScheduleAnyway")
        for i in range(9)
    ]
    assert max(placed(ten, spread).values()) == 1


def test_the_fullest_node_below_the_target_comes_first(ten: World) -> None:
    ten.policies(packing())
    carrying(ten, {"n3": 0.3, "n5": 0.45, "n7": 0.8}, {"n3": 0.3, "n5": 0.45, "n7": 0.1})
    assert ten.places(pod()) == "n5"


@pytest.mark.parametrize("full", ["cpu", "memory"])
def test_a_node_is_full_by_whichever_metric_is_at_the_target(ten: World, full: str) -> None:
    ten.policies(packing())
    low, high = dict.fromkeys(NODES[:3], 0.05), dict.fromkeys(NODES[:3], 0.58)
    carrying(ten, *((high, low) if full == "cpu" else (low, high)))
    assert not {*NODES[:3]} & placed(ten, [pod() for _ in range(9)]).keys()


def test_two_bottlenecks_fill_their_nodes_from_both_sides(ten: World) -> None:
    """Pods of much memory join those of much cpu, where both are full at the end."""
    ten.policies(packing(weights={}))
    found = placed(ten, [pod("4", "1Gi"), pod("4", "1Gi"), pod("500m", "17Gi"), pod("500m", "17Gi")])
    assert sorted(found.values()) == [4]


def test_above_the_target_nodes_are_spread_over(ten: World) -> None:
    ten.policies(packing())
    carrying(ten, dict.fromkeys(NODES, 0.6), dict.fromkeys(NODES, 0.6))
    found = placed(ten, [pod() for _ in range(20)])
    assert set(found.values()) == {2}


def test_an_empty_node_is_begun_before_one_goes_above_the_target(ten: World) -> None:
    ten.policies(packing())
    carrying(ten, dict.fromkeys(NODES[1:], 0.59), dict.fromkeys(NODES[1:], 0.1))
    assert ten.places(pod()) == "n0"


def test_limits_hold_below_the_target(ten: World) -> None:
    ten.policies(packing(limits={"cpu": 0.4}))
    carrying(ten, {})
    assert max(placed(ten, [pod() for _ in range(20)]).values()) == 6


@pytest.mark.parametrize("on_overload", OnOverload)
def test_where_all_are_above_their_limit_it_is_as_with_spread(ten: World, on_overload: OnOverload) -> None:
    ten.policies(packing(limits={"cpu": 0.5}, on_overload=on_overload))
    carrying(ten, {**dict.fromkeys(NODES, 0.55), "n4": 0.52})
    decision = ten.decide(pod())
    if on_overload is OnOverload.WAIT:
        assert decision.outcome is Outcome.UNSCHEDULABLE
    else:
        assert (decision.node, decision.overloaded) == ("n4", True)


def test_the_status_shows_the_fullest_node_below_the_target_as_the_best(ten: World) -> None:
    ten.policies(packing(weights={"cpu": 1}))
    ten.readings("p", {"cpu": {**dict.fromkeys(NODES, 0.0), "n1": 0.6, "n2": 0.3, "n3": 0.7}})
    overview = ten.scheduler.overview("p", now_s=ten.now_s)
    assert overview is not None
    scores = [(node.node, round(node.score or 0)) for node in overview.nodes]
    assert scores[:2] == [("n1", 100), ("n2", 80)]
    assert scores[2][1] == 60
    assert scores[-1] == ("n3", 9)
