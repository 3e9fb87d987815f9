"""What PostFilter adds to the sentence of a pod that fits nowhere, letter for letter as kube-scheduler 1.36.4."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.cluster.cache import Cache
from plimsoll.policy.compiled import OnOverload
from plimsoll.reporting.fit import fit_message
from plimsoll.scheduling.decide import Caches, decide
from plimsoll.scheduling.decision import Decision
from plimsoll.scheduling.preemption.post_filter import PostFilter
from tests.builders import NOW_S, PodBuilder, make_load, make_policy, make_readings
from tests.scheduling.preempting import HIGH, LARGE, LOW, MEDIUM, MIDDLE, SMALL, cluster, node, pod, post_filter

NOT_HELPFUL = "Preemption is not helpful for scheduling"
NO_VICTIMS = "No preemption victims found for incoming pod"
HUGE = 9


def test_nodes_that_preemption_cannot_help_are_counted() -> None:
    nodes = [node("a"), node("b"), node("c").cordoned(), node("d").taint("gpu"), node("e").cordoned()]
    running = [pod("p1", HIGH, LARGE, on="a"), pod("p2", HIGH, LARGE, on="b")]
    assert post_filter(cluster(nodes, running), pod("p", HIGH, LARGE)) == PostFilter(
        f"no new claims to deallocate, preemption: 0/5 nodes are available: 2 {NO_VICTIMS}, 3 {NOT_HELPFUL}.", ""
    )


def test_what_is_short_even_without_the_victims_is_named() -> None:
    running = [pod("p1", HIGH, LARGE, on="a"), pod("p2", LOW, SMALL, on="a"), pod("p3", HIGH, LARGE, on="b")]
    found = post_filter(cluster([node("a"), node("b")], running), pod("p", HIGH, LARGE))
    assert found.message == (
        "no new claims to deallocate, preemption: 0/2 nodes are available: "
        f"1 Insufficient cpu, 1 Insufficient memory, 1 {NO_VICTIMS}."
    )


def test_a_pod_too_large_for_the_empty_node_gets_nobody_evicted() -> None:
    found = post_filter(cluster([node("a")], [pod("p1", LOW, SMALL, on="a")]), pod("p", HIGH, HUGE))
    assert found.message == f"no new claims to deallocate, preemption: 0/1 nodes are available: 1 {NOT_HELPFUL}."


def test_a_pod_that_must_not_preempt_says_so() -> None:
    incoming = pod("p", HIGH, LARGE).spec(preemptionPolicy="Never")
    found = post_filter(cluster([node("a")], [pod("p1", LOW, LARGE, on="a")]), incoming)
    assert found == PostFilter("no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.")


def _giving_way(name: str, on: str, *, size: int = LARGE) -> PodBuilder:
    condition = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
    return pod(name, LOW, size, on=on).deleting().status(conditions=[condition])


def _nominated(*running: PodBuilder, cordoned: bool = False) -> Cache:
    first = node("a").cordoned() if cordoned else node("a")
    cache = cluster([first, node("b")], [*running, pod("p2", HIGH, LARGE, on="b")])
    cache.nominate(pod("p", HIGH, LARGE).info(), "a")
    return cache


def test_a_pod_whose_victims_are_terminating_waits() -> None:
    found = post_filter(_nominated(_giving_way("p1", "a")), pod("p", HIGH, LARGE))
    assert found.message == (
        "no new claims to deallocate, preemption: not eligible due to a terminating pod on the nominated node."
    )
    assert found.nominated_node is None


@pytest.mark.parametrize(
    "running",
    [
        pytest.param(pod("p1", LOW, LARGE, on="a").deleting(), id="terminating for another reason"),
        pytest.param(
            pod("p1", LOW, LARGE, on="a").status(
                conditions=[{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]
            ),
            id="marked and not terminating",
        ),
    ],
)
def test_other_pods_of_the_nominated_node_make_nobody_wait(running: PodBuilder) -> None:
    assert post_filter(_nominated(running), pod("p", HIGH, LARGE)).nominated_node == "a"


def test_a_pod_whose_nominated_node_is_hopeless_may_preempt_again() -> None:
    cache = _nominated(_giving_way("p1", "a"), pod("p3", LOW, MEDIUM, on="b"), cordoned=True)
    cache.drop_pod(pod("p2", HIGH).info().uid)
    cache.put_pod(pod("p4", LOW, MEDIUM, on="b").info())
    assert post_filter(cache, pod("p", HIGH, LARGE)).nominated_node == "b"


def test_a_pod_whose_nominated_node_is_gone_may_preempt_again() -> None:
    cache = _nominated(_giving_way("p1", "a"))
    cache.drop_node("a")
    found = post_filter(cache, pod("p", HIGH, LARGE))
    assert found == PostFilter(f"no new claims to deallocate, preemption: 0/1 nodes are available: 1 {NO_VICTIMS}.", "")


def test_a_problem_of_the_pod_as_a_whole_leaves_preemption_out() -> None:
    """DynamicResources' PostFilter breaks where its PreFilter was never asked, and silences preemption."""
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}
    other = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b"]}]}
    both = {"matchFields": [*term["matchFields"], *other["matchFields"]]}
    incoming = pod("p", HIGH, LARGE).required_node_affinity(both)
    assert post_filter(cluster([node("a")], [pod("p1", LOW, LARGE, on="a")]), incoming) == PostFilter("not found")


def _decide(cache: Cache, incoming: PodBuilder, policy: object = None, readings: object = None) -> Decision:
    chosen = policy or make_policy()
    return decide(
        view=cache.view,
        load=make_load(cache, chosen, readings),  # type: ignore[arg-type]
        policy=chosen,  # type: ignore[arg-type]
        pod=incoming.info(),
        now_s=NOW_S,
        rng=np.random.default_rng(1),
        caches=Caches(),
    )


def test_the_whole_sentence_of_a_pod_that_preemption_cannot_help() -> None:
    running = [pod("p1", HIGH, LARGE, on="a")]
    decision = _decide(cluster([node("a"), node("b").cordoned()], running), pod("p", HIGH, LARGE))
    assert fit_message(decision) == (
        "0/2 nodes are available: 1 Insufficient cpu, 1 Insufficient memory, 1 node(s) were unschedulable. "
        f"no new claims to deallocate, preemption: 0/2 nodes are available: 1 {NO_VICTIMS}, 1 {NOT_HELPFUL}."
    )
    assert decision.nominated_node == ""


def test_where_preemption_helps_the_sentence_does_not_tell_of_it() -> None:
    decision = _decide(cluster([node("a")], [pod("p1", LOW, LARGE, on="a")]), pod("p", HIGH, LARGE))
    assert fit_message(decision) == "0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory."
    assert (decision.nominated_node, [victim.name for victim in decision.victims]) == ("a", ["p1"])


@pytest.mark.parametrize(
    ("on_overload", "node_name"),
    [
        pytest.param(OnOverload.LEAST_LOADED, "hot", id="LeastLoaded ignores limits"),
        pytest.param(OnOverload.WAIT, "cool", id="Wait respects them"),
    ],
)
def test_limits_of_the_load_and_preemption(on_overload: OnOverload, node_name: str) -> None:
    """On the hot node the less important pod runs."""
    running = [pod("p1", LOW, LARGE, on="hot"), pod("p2", MIDDLE, LARGE, on="cool")]
    policy = make_policy(limits={"cpu": 0.8}, weights={"cpu": 1}, on_overload=on_overload)
    readings = make_readings({"cpu": {"hot": 0.95, "cool": 0.1}})
    decision = _decide(cluster([node("hot"), node("cool")], running), pod("p", HIGH, MEDIUM + SMALL), policy, readings)
    assert decision.nominated_node == node_name


def test_under_wait_nobody_is_evicted_for_a_place_above_the_limits() -> None:
    policy = make_policy(limits={"cpu": 0.8}, weights={"cpu": 1}, on_overload=OnOverload.WAIT)
    readings = make_readings({"cpu": {"hot": 0.95}})
    decision = _decide(
        cluster([node("hot")], [pod("p1", LOW, LARGE, on="hot")]), pod("p", HIGH, LARGE), policy, readings
    )
    assert decision.victims == ()
    assert decision.after.endswith(
        "preemption: 0/1 nodes are available: 1 node(s) were above the scheduling policy's load limit."
    )
