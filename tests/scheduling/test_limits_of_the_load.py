from __future__ import annotations

from dataclasses import replace

import pytest

from plimsoll.policy.compiled import OnMissing, OnOverload, Policy
from plimsoll.scheduling.decision import Outcome
from tests.builders import PodBuilder, make_node, make_pod, make_policy
from tests.scheduling.conftest import World

ABOVE = "node(s) were above the scheduling policy's load limit"
BLIND = "node(s) had no fresh metrics for the scheduling policy"


def limited(**fields: object) -> Policy:
    return make_policy("p", weights={"cpu": 1}, limits={"cpu": 0.8}, **fields)


WAIT, LEAST_LOADED = limited(on_overload=OnOverload.WAIT), limited(on_overload=OnOverload.LEAST_LOADED)


@pytest.fixture
def two(world: World) -> World:
    world.nodes(make_node("n1"), make_node("n2"))
    return world


@pytest.mark.parametrize("policy", [WAIT, LEAST_LOADED], ids=["Wait", "LeastLoaded"])
def test_nodes_above_their_limit_are_refused_where_others_are_below(two: World, policy: Policy) -> None:
    two.policies(policy)
    two.readings("p", {"cpu": {"n1": 0.9, "n2": 0.5}})
    decision = two.decide(make_pod())
    assert (decision.node, decision.feasible, decision.overloaded) == ("n2", 1, False)
    assert [(r.plugin, r.reason, r.count, r.resolvable) for r in decision.rejections] == [
        ("SchedulingPolicyLimits", ABOVE, 1, False)
    ]


def test_a_pod_waits_where_all_nodes_are_above(two: World) -> None:
    two.policies(WAIT)
    two.readings("p", {"cpu": {"n1": 0.9, "n2": 0.95}})
    decision = two.decide(make_pod())
    assert (decision.outcome, decision.rejected_by) == (Outcome.UNSCHEDULABLE, {"SchedulingPolicyLimits"})
    two.passes(30)
    two.readings("p", {"cpu": {"n1": 0.9, "n2": 0.5}})
    again = two.next()
    assert again is not None
    assert again.node == "n2"


def test_or_goes_to_the_least_loaded_which_is_told(two: World) -> None:
    two.policies(LEAST_LOADED)
    two.readings("p", {"cpu": {"n1": 0.9, "n2": 0.95}})
    decision = two.decide(make_pod())
    assert (decision.outcome, decision.node, decision.overloaded) == (Outcome.BIND, "n1", True)
    assert decision.feasible == 2
    assert [(r.reason, r.count) for r in decision.rejections] == [(ABOVE, 2)]


def test_the_least_loaded_is_by_limits_not_by_score(two: World) -> None:
    policy = make_policy("p", weights={"memory": 1}, limits={"cpu": 0.8})
    two.policies(policy)
    two.readings("p", {"cpu": {"n1": 0.85, "n2": 0.99}, "memory": {"n1": 0.9, "n2": 0.1}})
    assert two.decide(make_pod()).node == "n1"


def test_least_loaded_does_not_go_past_the_other_filters(two: World) -> None:
    two.policies(LEAST_LOADED)
    two.nodes(make_node("n1").taint("a"))
    two.readings("p", {"cpu": {"n1": 0.85, "n2": 0.95}})
    assert two.decide(make_pod()).node == "n2"
    two.nodes(make_node("n2").cordoned())
    decision = two.decide(make_pod())
    assert decision.outcome is Outcome.UNSCHEDULABLE
    assert decision.rejected_by == {"NodeUnschedulable", "TaintToleration"}


def test_the_pod_itself_may_be_too_much(two: World) -> None:
    two.policies(WAIT)
    two.assigned(*(make_pod().cpu("8").on(name).started() for name in ("n1", "n2")))
    two.readings("p", {"cpu": {"n1": 0.5, "n2": 0.5}})
    assert two.probe(make_pod().cpu("4")).outcome is Outcome.BIND
    assert two.probe(make_pod().cpu("6")).rejected_by == {"SchedulingPolicyLimits"}


@pytest.mark.parametrize(
    "exempt", [make_pod().priority(2_000_000_000), make_pod().owner("DaemonSet", "agent")], ids=["critical", "daemon"]
)
def test_critical_and_daemon_pods_are_exempt(two: World, exempt: PodBuilder) -> None:
    two.policies(limited(on_overload=OnOverload.WAIT, on_missing=OnMissing.EXCLUDE))
    two.readings("p", {"cpu": {"n1": 0.9, "n2": 0.95}})
    decision = two.decide(exempt)
    assert (decision.outcome, decision.overloaded, decision.rejections) == (Outcome.BIND, False, ())


def test_but_not_from_the_policys_node_selector(two: World) -> None:
    two.policies(limited(node_selector={"cpu": "true"}))
    two.readings("p", {"cpu": {"n1": 0.9, "n2": 0.95}})
    assert two.decide(make_pod().owner("DaemonSet", "agent")).rejected_by == {"SchedulingPolicyNodes"}


def test_a_node_without_readings_is_no_overloaded_node(two: World) -> None:
    two.policies(WAIT)
    two.readings("p", {"cpu": {"n1": 0.9, "n2": None}})
    decision = two.decide(make_pod())
    assert decision.node == "n2"


def test_a_policy_may_exclude_nodes_without_fresh_readings(two: World) -> None:
    two.policies(limited(on_missing=OnMissing.EXCLUDE))
    two.readings("p", {"cpu": {"n1": 0.7, "n2": None}})
    decision = two.decide(make_pod())
    assert (decision.node, decision.feasible) == ("n1", 1)
    assert [(r.plugin, r.reason, r.count) for r in decision.rejections] == [("SchedulingPolicyLimits", BLIND, 1)]


def test_least_loaded_takes_no_node_that_is_excluded(two: World) -> None:
    two.policies(limited(on_missing=OnMissing.EXCLUDE))
    two.readings("p", {"cpu": {"n1": 0.9, "n2": None}})
    decision = two.decide(make_pod())
    assert (decision.node, decision.overloaded) == ("n1", True)
    assert {r.reason: r.count for r in decision.rejections} == {BLIND: 1, ABOVE: 1}


def test_nor_one_that_is_measured_in_part(two: World) -> None:
    policy = make_policy("p", weights={"cpu": 1, "memory": 1}, limits={"cpu": 0.8}, on_missing=OnMissing.EXCLUDE)
    two.policies(policy)
    two.readings("p", {"cpu": {"n1": 0.85, "n2": 0.95}, "memory": {"n1": None, "n2": 0.5}})
    decision = two.decide(make_pod())
    assert (decision.node, decision.overloaded, decision.feasible) == ("n2", True, 1)


def test_where_too_few_nodes_are_measured_neither_limits_nor_exclusion_hold(world: World) -> None:
    world.nodes(*(make_node(f"n{i}") for i in range(5)))
    world.policies(limited(on_overload=OnOverload.WAIT, on_missing=OnMissing.EXCLUDE))
    world.readings("p", {"cpu": {"n0": 0.99, "n1": 0.0}})
    decision = world.decide(make_pod())
    assert (decision.outcome, decision.feasible) == (Outcome.BIND, 5)
    assert decision.load_set_aside == "only 2 of 5 nodes have fresh metrics"
    assert set(decision.best[0].terms) == {"expected", "requests", "spreading"}
    assert decision.best[0].readings == {}


def test_before_the_first_readings_limits_do_not_hold(two: World) -> None:
    two.policies(WAIT)
    decision = two.decide(make_pod())
    assert decision.outcome is Outcome.BIND
    assert decision.load_set_aside == "no metric has been answered yet"


def test_a_node_that_passed_its_limit_is_taken_again_only_well_below_it(two: World) -> None:
    two.policies(WAIT)
    feasible = []
    for utilisation in (0.79, 0.81, 0.77, 0.74):
        two.readings("p", {"cpu": {"n1": utilisation, "n2": 0.5}})
        feasible.append(two.probe(make_pod()).feasible)
        two.passes(30)
    assert feasible == [2, 1, 1, 2]


def test_a_policy_that_is_told_again_keeps_its_marks(two: World) -> None:
    two.policies(WAIT)
    for utilisation in (0.81, 0.77):
        two.readings("p", {"cpu": {"n1": utilisation, "n2": 0.5}})
    two.policies(replace(WAIT))
    assert two.probe(make_pod()).feasible == 1
