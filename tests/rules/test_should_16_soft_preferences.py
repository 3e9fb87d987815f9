from __future__ import annotations

from typing import Any

import pytest

from tests.builders import NodeBuilder, PodBuilder, make_node, make_pod, make_policy
from tests.rules.asking import HOST, cluster, fits, term
from tests.scheduling.conftest import World

Json = dict[str, Any]


def db(node: str) -> PodBuilder:
    return make_pod(f"db-{node}").labels(app="db").owner("Job", "db").on(node)


def web() -> PodBuilder:
    return make_pod("web").owner("Job", "web")


def wished(pod: PodBuilder, *there: PodBuilder, first: NodeBuilder | None = None) -> World:
    """Two nodes, of which the wish is for ``second``; it is the more loaded one, a little."""
    world = cluster(first or make_node("first"), make_node("second").label("tier", "a"), pods=there)
    world.policies(make_policy("p", weights={"cpu": 1}))
    world.readings("p", {"cpu": {"first": 0.3, "second": 0.4}})
    return world


SPREAD = {"matchLabels": {"app": "db"}}
WISHES = [
    pytest.param(web().prefer_nodes(1, tier="a"), [], id="preferred node affinity"),
    pytest.param(web().prefer_together(1, term(HOST, app="db")), [db("second")], id="preferred pod affinity"),
    pytest.param(web().prefer_apart(1, term(HOST, app="db")), [db("first")], id="preferred pod anti-affinity"),
    pytest.param(
        make_pod("web").labels(app="db").spread_over(HOST, SPREAD, whenUnsatisfiable="ScheduleAnyway"),
        [db("first")],
        id="ScheduleAnyway",
    ),
    pytest.param(
        web().labels(app="db"),
        [make_pod("there").owner("Job", "x").prefer_together(1, term(HOST, app="db")).on("second")],
        id="the preference of a pod that is there",
    ),
]


@pytest.mark.parametrize(("pod", "there"), WISHES)
def test_a_wish_decides_between_nodes_that_both_fit(pod: PodBuilder, there: list[PodBuilder]) -> None:
    world = wished(pod, *there)
    assert fits(world, pod) == {"first", "second"}
    assert world.decide(pod).node == "second"


def test_a_taint_that_asks_pods_to_stay_away_is_heeded() -> None:
    world = wished(web(), first=make_node("first").taint("x", effect="PreferNoSchedule"))
    assert world.decide(web()).node == "second"


def test_without_a_wish_the_load_decides() -> None:
    assert wished(web()).decide(web()).node == "first"


def test_a_wish_gives_way_to_a_node_above_its_limit() -> None:
    pod = web().prefer_nodes(100, tier="a")
    world = wished(pod)
    world.policies(make_policy("p", weights={"cpu": 1}, limits={"cpu": 0.35}))
    world.readings("p", {"cpu": {"first": 0.3, "second": 0.4}})
    assert world.decide(pod).node == "first"


def test_pods_of_a_service_are_spread_without_being_asked() -> None:
    service = {
        "kind": "Service",
        "metadata": {"namespace": "default", "name": "db"},
        "spec": {"selector": {"app": "db"}},
    }
    pod = make_pod("db").labels(app="db")
    world = cluster(make_node("first"), make_node("second"), pods=[db("first")], objects=[service])
    scores = world.scheduler.judge(pod.info(), now_s=world.now_s).preferences["PodTopologySpread"]
    assert scores["first"] < scores["second"]
