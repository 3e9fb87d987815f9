from __future__ import annotations

from dataclasses import replace

import pytest

from plimsoll.cluster.selectors import LabelSelector
from plimsoll.cluster.times import timestamp
from plimsoll.policy.compiled import Mode, OnOverload, Placement, PrometheusSource
from plimsoll.scheduling.decision import Outcome
from tests.builders import NOW_S, make_node, make_pod, make_policy
from tests.scheduling.conftest import World

LOAD_ALONE = Placement(load=1, requests=0, spreading=0, preferences=0)
WEB = LabelSelector.parse({"matchLabels": {"app": "web"}})
SHOP = LabelSelector.parse({"matchLabels": {"team": "shop"}})


@pytest.fixture
def two(world: World) -> World:
    world.nodes(make_node("n1"), make_node("n2"))
    return world


# -- which policy places a pod -------------------------------------------------------------------------------


def test_without_policies_the_built_in_default_places(two: World) -> None:
    decision = two.decide(make_pod())
    assert (decision.outcome, decision.policy) == (Outcome.BIND, "")


def test_a_policy_places_the_pods_that_it_selects(two: World) -> None:
    two.policies(make_policy("web", pod_selector=WEB))
    assert two.decide(make_pod().labels(app="web")).policy == "web"
    assert two.decide(make_pod().labels(app="db")).policy == ""


def test_namespaces_are_selected_by_their_labels(two: World) -> None:
    two.policies(make_policy("shop", namespace_selector=SHOP))
    two.scheduler.namespace_seen("a", {"team": "shop"}, now_s=two.now_s)
    two.scheduler.namespace_seen("b", {"team": "bank"}, now_s=two.now_s)
    assert [two.decide(make_pod(namespace=n)).policy for n in ("a", "b", "unseen")] == ["shop", "", ""]
    two.scheduler.namespace_gone("a", now_s=two.now_s)
    assert two.decide(make_pod(namespace="a")).policy == ""


def test_a_policy_that_only_observes_places_nothing(two: World) -> None:
    two.policies(make_policy("p", mode=Mode.OBSERVE, node_selector={"no": "such"}))
    assert two.decide(make_pod()).policy == ""


def test_the_highest_priority_wins(two: World) -> None:
    two.policies(make_policy("low"), make_policy("high", priority=2), make_policy("middle", priority=1))
    assert two.decide(make_pod()).policy == "high"


# -- annotations that name a policy ---------------------------------------------------------------------------


def test_a_pod_waits_for_the_policy_that_it_names(two: World) -> None:
    decision = two.decide(make_pod("web").annotate("plimsoll.dev/policy", "mine"))
    assert (decision.outcome, decision.policy, decision.node) == (Outcome.ERROR, "", "")
    assert '"mine"' in decision.problem
    assert decision.rejected_by == {"SchedulingPolicy"}
    two.passes(60)
    two.policies(make_policy("other"))
    still = two.next()
    assert still is not None
    assert still.outcome is Outcome.ERROR
    two.passes(60)
    two.policies(make_policy("other"), make_policy("mine"))
    placed = two.next()
    assert placed is not None
    assert (placed.outcome, placed.policy) == (Outcome.BIND, "mine")


def test_no_node_or_pod_can_help_it(two: World) -> None:
    two.assigned(make_pod("there").on("n1"))
    two.decide(make_pod("web").annotate("plimsoll.dev/policy", "mine"))
    two.passes(60)
    two.nodes(make_node("n3"))
    two.assigned_goes(make_pod("there"))
    assert two.next() is None


def test_a_named_policy_that_only_observes_is_no_help(two: World) -> None:
    two.policies(make_policy("mine", mode=Mode.OBSERVE))
    assert two.decide(make_pod().annotate("plimsoll.dev/policy", "mine")).outcome is Outcome.ERROR


def test_a_namespace_that_is_labelled_may_let_a_pod_have_the_policy_that_it_names(two: World) -> None:
    two.policies(make_policy("mine", namespace_selector=SHOP))
    pod = make_pod("web", "a").annotate("plimsoll.dev/policy", "mine")
    assert two.decide(pod).outcome is Outcome.ERROR
    two.passes(60)
    two.scheduler.namespace_seen("b", {"team": "shop"}, now_s=two.now_s)
    assert two.next() is None
    two.scheduler.namespace_seen("a", {"team": "shop"}, now_s=two.now_s)
    placed = two.next()
    assert placed is not None
    assert placed.policy == "mine"


# -- changes of policies wake whom they concern -----------------------------------------------------------------


def test_a_changed_policy_wakes_the_pods_that_it_rejected(two: World) -> None:
    policy = make_policy("p", node_selector={"cpu": "true"})
    two.policies(policy)
    assert two.decide(make_pod()).rejected_by == {"SchedulingPolicyNodes"}
    two.passes(60)
    two.policies(replace(policy, node_selector={}, generation=2))
    placed = two.next()
    assert placed is not None
    assert (placed.outcome, placed.policy_generation) == (Outcome.BIND, 2)


def test_a_deleted_policy_lets_its_pods_go(two: World) -> None:
    two.policies(make_policy("p", node_selector={"cpu": "true"}))
    two.decide(make_pod())
    two.passes(60)
    two.policies()
    placed = two.next()
    assert placed is not None
    assert (placed.outcome, placed.policy) == (Outcome.BIND, "")


def test_a_new_policy_wakes_the_pods_that_it_selects_now(two: World) -> None:
    two.nodes(make_node("n1").cordoned(), make_node("n2").cordoned())
    two.decide(make_pod("web").labels(app="web"))
    two.decide(make_pod("db").labels(app="db"))
    two.passes(60)
    two.policies(make_policy("web", pod_selector=WEB))
    tried = two.next()
    assert tried is not None
    assert (tried.pod.name, tried.policy) == ("web", "web")
    assert two.next() is None


def test_policies_that_are_told_again_change_nothing(two: World) -> None:
    policy = make_policy("p", weights={"cpu": 1}, node_selector={"cpu": "true"})
    two.policies(policy)
    two.readings("p", {"cpu": {"n1": 0.1, "n2": 0.2}})
    two.decide(make_pod())
    two.passes(60)
    two.policies(replace(policy))
    assert two.next() is None
    overview = two.scheduler.overview("p", now_s=two.now_s)
    assert overview is not None
    assert overview.readings is not None


# -- changes of policies are in force at once ---------------------------------------------------------------------


def test_a_changed_weight_keeps_the_readings_and_is_in_force_for_the_next_pod(two: World) -> None:
    policy = make_policy("p", weights={"cpu": 1, "memory": 0}, placement=LOAD_ALONE)
    two.policies(policy)
    two.readings("p", {"cpu": {"n1": 0.1, "n2": 0.5}, "memory": {"n1": 0.9, "n2": 0.2}})
    assert two.probe(make_pod()).node == "n1"
    two.passes(5)
    two.policies(make_policy("p", weights={"cpu": 0, "memory": 1}, placement=LOAD_ALONE, generation=2))
    decision = two.probe(make_pod())
    assert (decision.node, decision.readings_at_s, decision.load_set_aside) == ("n2", NOW_S, "")


def test_another_source_has_to_answer_first(two: World) -> None:
    two.policies(make_policy("p", weights={"cpu": 1}))
    two.readings("p", {"cpu": {"n1": 0.1, "n2": 0.5}})
    two.policies(make_policy("p", weights={"cpu": 1}, source=PrometheusSource("http://other")))
    decision = two.decide(make_pod())
    assert (decision.readings_at_s, decision.load_set_aside) == (None, "no metric has been answered yet")


def test_pods_in_flight_stay_in_flight_when_weights_change(two: World) -> None:
    policy = make_policy("p", weights={"cpu": 1}, placement=LOAD_ALONE)
    two.policies(policy)
    two.readings("p", {"cpu": {"n1": 0.0, "n2": 0.1}})
    assert two.places(make_pod().cpu("8")) == "n1"
    two.policies(replace(policy, metrics=make_policy(weights={"cpu": 5}).metrics, generation=2))
    assert two.probe(make_pod()).node == "n2"


def test_a_new_policy_knows_of_pods_that_came_before_it(two: World) -> None:
    assert two.decide(make_pod().cpu("8")).node in {"n1", "n2"}
    busy = next(iter(two.scheduler.pods())).node
    two.policies(make_policy("p", weights={"cpu": 1}, placement=LOAD_ALONE))
    two.readings("p", {"cpu": {"n1": 0.0, "n2": 0.0}})
    assert two.probe(make_pod()).node == ({"n1", "n2"} - {busy}).pop()


def test_a_policy_with_a_longer_window_counts_pods_that_others_have_seen_in_full(two: World) -> None:
    busy = make_pod().annotate("plimsoll.dev/network-receive", "50M").on("n1").started(timestamp(NOW_S - 1000))
    two.assigned(busy)
    for time_range_s, want in ((300.0, {"n1", "n2"}), (3600.0, {"n2"})):
        two.policies(make_policy("p", weights={"networkReceive": 1}, time_range_s=time_range_s, placement=LOAD_ALONE))
        two.readings("p", {"networkReceive": {"n1": 0.1, "n2": 0.1}}, window_s=time_range_s)
        assert {two.probe(make_pod()).node for _ in range(20)} == want


# -- readings -------------------------------------------------------------------------------------------------------


def test_readings_of_a_policy_that_is_not_in_force_are_nothing(two: World) -> None:
    two.readings("nobody", {"cpu": {"n1": 0.1}})
    assert two.decide(make_pod()).policy == ""


def test_readings_of_one_policy_are_not_anothers(two: World) -> None:
    two.policies(
        make_policy("web", weights={"cpu": 1}, pod_selector=WEB, placement=LOAD_ALONE),
        make_policy("rest", weights={"cpu": 1}, placement=LOAD_ALONE, priority=-1),
    )
    two.readings("web", {"cpu": {"n1": 0.9, "n2": 0.1}})
    two.readings("rest", {"cpu": {"n1": 0.1, "n2": 0.9}})
    assert two.probe(make_pod().labels(app="web")).node == "n2"
    assert two.probe(make_pod()).node == "n1"


def test_a_source_that_does_not_answer_makes_readings_older_and_nothing_zero(two: World) -> None:
    two.policies(make_policy("p", weights={"cpu": 1}, placement=LOAD_ALONE))
    two.readings("p", {"cpu": {"n1": 0.9, "n2": 0.2}})
    for _ in range(20):
        two.passes(30)
        two.readings("p", {}, failure="Prometheus did not answer.")
        decision = two.probe(make_pod())
        if two.now_s - NOW_S <= 90:
            assert (decision.node, decision.best[0].readings, decision.load_set_aside) == ("n2", {"cpu": 20}, "")
        assert decision.outcome is Outcome.BIND
        assert not any(node.readings.get("cpu") == 0 for node in decision.best)
    assert decision.load_set_aside != ""
    two.readings("p", {"cpu": {"n1": 0.1, "n2": 0.2}})
    back = two.probe(make_pod())
    assert (back.node, back.load_set_aside) == ("n1", "")


def test_readings_wake_only_pods_of_their_policy(two: World) -> None:
    wait = {"weights": {"cpu": 1}, "limits": {"cpu": 0.5}, "on_overload": OnOverload.WAIT}
    two.policies(make_policy("web", pod_selector=WEB, **wait), make_policy("rest", priority=-1, **wait))
    for name in ("web", "rest"):
        two.readings(name, {"cpu": {"n1": 0.9, "n2": 0.9}})
    two.decide(make_pod("web").labels(app="web"))
    two.decide(make_pod("rest"))
    two.passes(60)
    two.readings("rest", {"cpu": {"n1": 0.1, "n2": 0.9}})
    woken = two.next()
    assert woken is not None
    assert (woken.pod.name, woken.node) == ("rest", "n1")
    assert two.next() is None


def test_a_node_that_comes_between_refreshes_is_judged_by_requests(two: World) -> None:
    two.policies(make_policy("p", weights={"cpu": 1}, placement=LOAD_ALONE))
    two.readings("p", {"cpu": {"n1": 0.9, "n2": 0.95}})
    two.nodes(make_node("n3").metadata(creationTimestamp=timestamp(two.now_s)))
    decision = two.probe(make_pod())
    assert (decision.node, decision.best[0].readings) == ("n3", {"cpu": None})
    two.node_goes("n1")
    assert two.probe(make_pod()).feasible == 2


def test_a_node_that_takes_a_gone_nodes_row_does_not_take_its_readings(two: World) -> None:
    two.policies(make_policy("p", weights={"cpu": 1}, placement=LOAD_ALONE))
    two.readings("p", {"cpu": {"n1": 0.0, "n2": 0.05}})
    two.node_goes("n1")
    two.nodes(make_node("n3"))
    decision = two.probe(make_pod())
    assert decision.node == "n2"
    assert {n.node: n.readings for n in decision.best} == {"n2": {"cpu": 5}, "n3": {"cpu": None}}
