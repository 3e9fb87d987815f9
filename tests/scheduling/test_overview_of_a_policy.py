from __future__ import annotations

import pytest

from plimsoll.cluster.selectors import LabelSelector
from plimsoll.load.readings import ReadingState
from plimsoll.policy.compiled import Metric
from plimsoll.scheduling.overview import PolicyOverview
from tests.builders import NOW_S, PodBuilder, make_node, make_pod, make_policy
from tests.scheduling.conftest import World

WEB = LabelSelector.parse({"matchLabels": {"app": "web"}})


@pytest.fixture
def three(world: World) -> World:
    world.nodes(*(make_node(f"n{i}") for i in range(3)))
    return world


def overview(world: World, policy: str = "p") -> PolicyOverview:
    found = world.scheduler.overview(policy, now_s=world.now_s)
    assert found is not None
    return found


def decided_by(policy: str, pod: PodBuilder) -> PodBuilder:
    return pod.annotate("plimsoll.dev/decision", f'{{"policy":"{policy}","node":"n1"}}')


def test_a_policy_that_is_not_in_force_has_none(three: World) -> None:
    assert three.scheduler.overview("p", now_s=NOW_S) is None


def test_nodes_come_best_first_with_their_readings_and_scores(three: World) -> None:
    three.policies(make_policy("p", weights={"cpu": 1, "memory": 0}))
    three.readings(
        "p", {"cpu": {"n0": 0.5, "n1": 0.1, "n2": 0.3}, "memory": {"n0": 0.25, "n1": 0.25, "n2": None}}, age_s=9
    )
    found = overview(three)
    assert [(n.node, n.score, n.state, n.metrics) for n in found.nodes] == [
        ("n1", pytest.approx(90), ReadingState.OK, {"cpu": 10, "memory": 25}),
        ("n2", pytest.approx(70), ReadingState.MISSING, {"cpu": 30, "memory": None}),
        ("n0", pytest.approx(50), ReadingState.OK, {"cpu": 50, "memory": 25}),
    ]
    assert {n.sampled_at_s for n in found.nodes} == {NOW_S - 9}
    assert (found.taken_at_s, found.load_set_aside) == (NOW_S, "")


def test_a_metric_that_few_nodes_have_is_shown_but_does_not_count(three: World) -> None:
    three.policies(make_policy("p", weights={"cpu": 1, "memory": 1}))
    three.readings("p", {"cpu": {"n0": 0.5, "n1": 0.1, "n2": 0.3}, "memory": {"n0": 0.25, "n1": None, "n2": None}})
    found = overview(three)
    assert (found.load_set_aside, found.metrics_aside) == ("", {"memory": "only 1 of 3 nodes have fresh metrics"})
    assert [(n.node, n.score, n.state, n.metrics) for n in found.nodes] == [
        ("n1", pytest.approx(90), ReadingState.OK, {"cpu": 10, "memory": None}),
        ("n2", pytest.approx(70), ReadingState.OK, {"cpu": 30, "memory": None}),
        ("n0", pytest.approx(50), ReadingState.OK, {"cpu": 50, "memory": 25}),
    ]


def test_a_custom_metric_is_shown_in_percent_of_its_scale_that_the_api_can_hold(three: World) -> None:
    three.policies(make_policy("p", metrics=(Metric("heat", 1, query="heat", min=0.0, max=1.0),)))
    three.readings("p", {"heat": {"n0": 1e12, "n1": -0.5, "n2": 0.25}})
    shown = {n.node: n.metrics["heat"] for n in overview(three).nodes}
    assert (shown["n1"], shown["n2"]) == (-50, 25)
    assert shown["n0"] is not None
    assert 100 < shown["n0"] < 2**31


def test_the_score_has_no_pod_and_no_other_term(three: World) -> None:
    three.policies(make_policy("p", weights={"cpu": 1}))
    three.assigned(make_pod().requests(cpu="16", memory="64Gi").on("n0").started())
    three.readings("p", {"cpu": dict.fromkeys(("n0", "n1", "n2"), 0.4)})
    assert [n.score for n in overview(three).nodes] == pytest.approx([60, 60, 60])


def test_pods_in_flight_show_in_the_score(three: World) -> None:
    three.policies(make_policy("p", weights={"networkReceive": 1}))
    three.readings("p", {"networkReceive": dict.fromkeys(("n0", "n1", "n2"), 0.4)})
    three.assigned(make_pod().annotate("plimsoll.dev/network-receive", "25M").on("n1"))
    assert {n.node: n.score for n in overview(three).nodes} == pytest.approx({"n0": 60, "n1": 40, "n2": 60})


def test_only_the_policys_nodes_are_shown(three: World) -> None:
    three.nodes(make_node("n1").label("cpu", "true"))
    three.policies(make_policy("p", node_selector={"cpu": "true"}))
    assert [n.node for n in overview(three).nodes] == ["n1"]


@pytest.mark.parametrize("metrics", [{}, {"weights": {"cpu": 1}}], ids=["no metrics", "not answered yet"])
def test_without_readings_there_are_no_scores(three: World, metrics: dict[str, dict[str, float]]) -> None:
    three.policies(make_policy("p", **metrics))
    found = overview(three)
    assert [(n.node, n.score) for n in found.nodes] == [("n0", None), ("n1", None), ("n2", None)]
    assert found.readings is None
    assert found.load_set_aside == ("no metric has been answered yet" if metrics else "")


def test_where_metrics_are_set_aside_readings_are_still_shown(three: World) -> None:
    three.policies(make_policy("p", weights={"cpu": 1}))
    three.readings("p", {"cpu": {"n0": 0.5}})
    found = overview(three)
    assert found.load_set_aside == "only 1 of 3 nodes have fresh metrics"
    assert [(n.score, n.metrics) for n in found.nodes] == [(None, {"cpu": u}) for u in (50, None, None)]


def test_a_cluster_without_nodes_has_an_overview(world: World) -> None:
    world.policies(make_policy("p", weights={"cpu": 1}))
    world.readings("p", {"cpu": {}})
    assert list(overview(world).nodes) == []


# -- bound and pending ----------------------------------------------------------------------------------------


def test_bound_are_the_living_pods_whose_decision_names_the_policy(three: World) -> None:
    three.policies(make_policy("p"))
    assert overview(three).bound == 0
    three.places(make_pod("ours"))
    assert overview(three).bound == 1
    three.assigned(make_pod("ours").on("n1"))
    assert overview(three).bound == 1
    three.assigned_goes(make_pod("ours"))
    assert overview(three).bound == 0


def test_after_a_restart_decisions_are_read_from_the_pods(three: World) -> None:
    three.policies(make_policy("p"))
    three.assigned(
        decided_by("p", make_pod().on("n1")),
        decided_by("q", make_pod().on("n1")),
        make_pod().on("n1"),
        make_pod().on("n1").annotate("plimsoll.dev/decision", "not JSON"),
        make_pod().on("n1").annotate("plimsoll.dev/decision", "[1]"),
        make_pod().on("n1").annotate("plimsoll.dev/decision", '{"policy": 7}'),
    )
    assert overview(three).bound == 1


def test_a_pod_that_ended_is_not_bound_any_more(three: World) -> None:
    three.policies(make_policy("p"))
    three.assigned(decided_by("p", make_pod("job").on("n1")))
    three.assigned(decided_by("p", make_pod("job").on("n1").phase("Succeeded")))
    assert overview(three).bound == 0


def test_a_binding_that_failed_is_not_bound(three: World) -> None:
    three.policies(make_policy("p"))
    three.decide(make_pod("web"))
    three.bind_failed(make_pod("web"), retry=False)
    assert overview(three).bound == 0


def test_a_pod_that_somebody_else_bound_elsewhere_is_not_ours(three: World) -> None:
    three.policies(make_policy("p"))
    node = three.decide(make_pod("web")).node
    three.assigned(make_pod("web").on("n0" if node != "n0" else "n1"))
    assert overview(three).bound == 0


def test_pending_are_the_pods_in_the_queue_that_the_policy_selects(three: World) -> None:
    three.policies(make_policy("p", pod_selector=WEB))
    three.pending(
        make_pod().labels(app="web"),
        make_pod().labels(app="web").gated("x"),
        make_pod().labels(app="db"),
        make_pod().annotate("plimsoll.dev/policy", "p"),
    )
    assert overview(three).pending == 3
