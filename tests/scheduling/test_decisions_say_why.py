from __future__ import annotations

import pytest

from plimsoll.scheduling.decision import Outcome, Rejection
from tests.builders import NOW_S, PodBuilder, make_node, make_pod, make_policy
from tests.scheduling.conftest import World


def test_without_nodes_there_is_nothing_to_choose_from(world: World) -> None:
    decision = world.decide(make_pod())
    assert (decision.outcome, decision.problem) == (Outcome.UNSCHEDULABLE, "no nodes available to schedule pods")
    assert (decision.nodes, decision.node, decision.rejections) == (0, "", ())
    assert decision.rejected_by == {"AnyNode"}


def test_after_the_last_node_went_it_is_the_same(world: World) -> None:
    world.nodes(make_node())
    world.node_goes("node-1")
    assert world.decide(make_pod()).problem == "no nodes available to schedule pods"


def test_a_field_that_is_not_supported_is_named_and_no_autoscaler_called(world: World) -> None:
    world.nodes(make_node())
    decision = world.decide(
        make_pod().tolerate(key="cores", operator="Lt", value="3").spec(schedulingGroup={"podGroupName": "g"})
    )
    assert decision.outcome is Outcome.ERROR
    assert decision.problem == (
        "pod uses fields that this scheduler does not support yet: spec.tolerations[0].operator (Lt), spec.schedulingGroup"
    )
    assert decision.node == ""


def test_terms_that_no_node_can_meet_are_a_problem_of_the_pod(world: World) -> None:
    world.nodes(make_node())
    fields = [{"key": "metadata.name", "operator": "In", "values": [name]} for name in ("a", "b")]
    decision = world.decide(make_pod().required_node_affinity({"matchFields": fields}))
    assert (decision.outcome, decision.problem) == (Outcome.UNSCHEDULABLE, "pod affinity terms conflict")
    assert decision.rejected_by == {"NodeAffinity"}


def test_every_refused_node_is_counted_with_examples(world: World) -> None:
    world.nodes(*(make_node(f"n{i}").taint("a") for i in range(12)), make_node("small").offers(cpu="1"))
    decision = world.decide(make_pod().cpu("2"))
    assert decision.outcome is Outcome.UNSCHEDULABLE
    assert decision.rejections == (
        Rejection(
            "TaintToleration",
            "node(s) had untolerated taint(s)",
            12,
            resolvable=False,
            examples=tuple(f"n{i}" for i in range(10)),
        ),
        Rejection("NodeResourcesFit", "Insufficient cpu", 1, resolvable=False, examples=("small",)),
    )
    assert decision.rejected_by == {"TaintToleration", "NodeResourcesFit"}
    assert (decision.nodes, decision.feasible) == (13, 0)


def test_what_removing_pods_could_help_is_told(world: World) -> None:
    world.nodes(make_node().offers(cpu="2"))
    world.assigned(make_pod().cpu("2").on("node-1"))
    assert [r.resolvable for r in world.decide(make_pod().cpu("1")).rejections] == [True]


def test_a_placed_pod_names_node_score_terms_and_those_that_were_refused(world: World) -> None:
    world.nodes(make_node("n1"), make_node("n2"), make_node("n3").cordoned())
    world.assigned(make_pod().requests(cpu="8", memory="32Gi").on("n2"))
    decision = world.decide(make_pod().requests(cpu="4", memory="16Gi"))
    assert (decision.outcome, decision.node, decision.feasible, decision.nodes) == (Outcome.BIND, "n1", 2, 3)
    assert [(n.node, n.terms) for n in decision.best] == [
        ("n1", {"requests": 0.25, "spreading": 0.0}),
        ("n2", {"requests": 0.75, "spreading": 0.0}),
    ]
    # By placement, requests 2 and spreading 3; of preferences there are none.
    assert [n.score for n in decision.best] == [90.0, 70.0]
    assert decision.score == 90.0
    assert decision.runner_up == decision.best[1]
    assert [(r.reason, r.count) for r in decision.rejections] == [("node(s) were unschedulable", 1)]
    assert (decision.policy, decision.rejected_by, decision.overloaded) == ("", frozenset(), False)
    assert (decision.load_set_aside, decision.readings_at_s, decision.decided_at_s) == ("", None, NOW_S)


def test_readings_and_what_would_become_of_them_are_told_in_percent(world: World) -> None:
    world.nodes(make_node("n1"), make_node("n2"))
    world.policies(make_policy("p", weights={"cpu": 1, "memory": 0}, generation=3))
    world.readings("p", {"cpu": {"n1": 0.204, "n2": 0.9}, "memory": {"n1": None, "n2": 0.5}}, age_s=20)
    world.passes(5)
    world.assigned(make_pod().cpu("4").on("n2"))
    decision = world.decide(make_pod().cpu("1600m"))
    assert (decision.policy, decision.policy_generation, decision.node) == ("p", 3, "n1")
    best = decision.best[0]
    assert best.readings == {"cpu": 20, "memory": None}
    assert best.projected["cpu"] == 30
    assert set(best.terms) == {"load", "requests", "spreading"}
    assert best.sampled_at_s == NOW_S - 20
    assert decision.readings_at_s == NOW_S - 20


def test_preferences_are_a_term_where_nodes_differ_in_them(world: World) -> None:
    world.nodes(make_node("n1").label("tier", "a"), make_node("n2").taint("x", effect="PreferNoSchedule"))
    assert world.decide(make_pod()).node == "n1"
    assert world.decide(make_pod().prefer_nodes(5, tier="a")).best[0].terms["preferences"] == 0.0
    world.nodes(make_node("n2"))
    assert "preferences" not in world.decide(make_pod()).best[0].terms


def test_ten_nodes_are_kept_and_the_chosen_one_is_among_them(world: World) -> None:
    world.nodes(*(make_node(f"n{i}") for i in range(40)))
    for _ in range(20):
        decision = world.decide(make_pod().owner("Job", "batch"))
        assert len(decision.best) == 10
        assert decision.node in [n.node for n in decision.best]
        assert decision.feasible == 40
        assert decision.runner_up is not None
        assert decision.runner_up.node != decision.node


def test_a_node_that_is_alone_has_no_runner_up(world: World) -> None:
    world.nodes(make_node())
    assert world.decide(make_pod()).runner_up is None


@pytest.mark.parametrize("pod", [make_pod(), make_pod().spec(resourceClaims=[{"name": "gpu"}])])
def test_decisions_can_be_asked_for_newest_first(world: World, pod: PodBuilder) -> None:
    first = world.decide(pod)
    world.passes(1000)
    second = world.next()
    assert world.scheduler.decisions_of(pod.info().key) == [second, first]
    assert world.scheduler.decisions_of("default/nobody") == []


@pytest.mark.parametrize("pod", [make_pod().cpu("3").priority(1), make_pod().cpu("3").priority(1).port(80)])
def test_a_reason_is_told_once_for_nodes_that_are_full_and_nodes_that_are_kept(world: World, pod: PodBuilder) -> None:
    """A node that is kept for a pod of more importance is short of room by that pod alone."""
    preemptor = make_pod("preemptor").cpu("3").priority(2)
    victim = make_pod("victim").cpu("3").priority(0)
    world.nodes(make_node("kept").allocatable(cpu="4"))
    world.assigned(victim.on("kept"))
    world.decide(preemptor)
    assert world.nominated_to(preemptor) == "kept"
    world.assigned_goes(victim)
    world.nodes(make_node("small").allocatable(cpu="2"))
    judged = world.scheduler.judge(pod.info(), now_s=world.now_s).decision
    (told,) = judged.rejections
    assert (told.reason, told.count) == ("Insufficient cpu", 2)
