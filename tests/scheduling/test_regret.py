"""Mode Observe: pods that other schedulers place are judged as they come, and placed by nobody here."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.cluster.selectors import LabelSelector
from plimsoll.cluster.times import timestamp
from plimsoll.cluster.unbound import before_binding
from plimsoll.policy.compiled import Mode, OnMissing, OnOverload, Placement, Policy
from plimsoll.scheduling.observing import Observed
from plimsoll.scheduling.regret import Regret
from tests.builders import PodBuilder, make_node, make_pod, make_policy
from tests.scheduling.conftest import World

WEB = LabelSelector.parse({"matchLabels": {"app": "web"}})
CPU = {"n1": 0.1, "n2": 0.5, "n3": 0.9}


def observing(name: str = "p", **fields: Any) -> Policy:
    return make_policy(name, **{"mode": Mode.OBSERVE, "weights": {"cpu": 1}, **fields})


@pytest.fixture
def three(world: World) -> World:
    """Nodes that carry little, half and much of what they can, and nothing but the load tells them apart."""
    world.nodes(*(make_node(name) for name in CPU))
    world.policies(observing())
    world.readings("p", {"cpu": CPU})
    return world


def default_scheduler(pod: PodBuilder | None = None) -> PodBuilder:
    return (pod or make_pod().cpu("100m")).spec(schedulerName="default-scheduler")


def bound(pod: PodBuilder, node: str, *, at_s: float) -> PodBuilder:
    """As the API server shows it after its Binding, before its kubelet has seen it."""
    scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": timestamp(at_s)}
    return pod.spec(nodeName=node).status(conditions=[scheduled])


def seen(world: World, pod: PodBuilder) -> list[Regret]:
    """As the watch shows it: what the shell does with a pod on a node."""
    info, now_s = pod.info(), world.now_s
    judged: list[Regret] = []
    if world.scheduler.observes(info, now_s=now_s):
        judged = world.scheduler.observe(before_binding(pod.obj()), node=info.node, now_s=now_s)
    world.scheduler.pod_assigned(info, now_s=now_s)
    return judged


def regret(world: World, node: str, pod: PodBuilder | None = None) -> Regret:
    [judged] = seen(world, bound(default_scheduler(pod), node, at_s=world.now_s - 1))
    return judged


def observed(world: World, policy: str = "p") -> Observed | None:
    overview = world.scheduler.overview(policy, now_s=world.now_s)
    assert overview is not None
    return overview.observed


# -- what regret is --------------------------------------------------------------------------------------------


def test_the_best_node_is_nothing_to_regret(three: World) -> None:
    judged = regret(three, "n1")
    assert (judged.node, judged.best, judged.points) == ("n1", "n1", 0)
    assert (judged.feasible, judged.refused) == (3, False)


def test_a_worse_node_is_regretted_by_the_difference_of_the_scores(three: World) -> None:
    judged = regret(three, "n3")
    assert judged.best == "n1"
    assert judged.points == pytest.approx(judged.best_score - judged.score)
    # The load weighs 8 of 13, and nothing else tells the nodes apart.
    assert judged.points == pytest.approx(100 * 8 / 13 * (0.9 - 0.1))


@pytest.mark.parametrize("node", CPU)
def test_the_scores_are_those_of_a_decision_about_the_same_pod(three: World, node: str) -> None:
    pod = make_pod("web").owner("ReplicaSet", "web").cpu("500m")
    three.policies(observing(mode=Mode.ENFORCE))
    three.readings("p", {"cpu": CPU})
    decision = three.probe(pod)
    three.policies(observing())
    judged = regret(three, node, pod)
    scores = {n.node: n.score for n in decision.best}
    assert (judged.score, judged.best_score) == pytest.approx((scores[node], scores[decision.node]), abs=0.01)


def test_each_pod_is_judged_on_the_cluster_without_it_and_with_those_before_it(three: World) -> None:
    first = regret(three, "n1", make_pod().cpu("6"))
    second = regret(three, "n1", make_pod().cpu("6"))
    assert first.points == 0
    assert second.best == "n2"


@pytest.mark.parametrize(
    ("node", "policy"),
    [
        pytest.param(make_node("n3").taint("gpu"), observing(), id="the pod does not tolerate its taint"),
        pytest.param(make_node("n3"), observing(node_selector={"fast": "yes"}), id="it is not one of the policy's"),
        pytest.param(make_node("n3"), observing(limits={"cpu": 0.8}), id="it is above the policy's limit"),
    ],
)
def test_a_node_that_the_policy_refuses_is_compared_all_the_same(three: World, node: Any, policy: Policy) -> None:
    three.nodes(node, *(make_node(name).label("fast", "yes") for name in ("n1", "n2")))
    three.policies(policy)
    three.readings("p", {"cpu": CPU})
    judged = regret(three, "n3")
    assert (judged.refused, judged.feasible, judged.best) == (True, 2, "n1")
    assert judged.points > 40


def test_what_is_refused_may_be_better_and_is_nothing_to_regret(three: World) -> None:
    three.nodes(make_node("n1").taint("gpu"))
    judged = regret(three, "n1")
    assert (judged.refused, judged.best, judged.points) == (True, "n2", 0)
    assert judged.score > judged.best_score


def test_where_the_policy_would_have_placed_it_nowhere_there_is_nothing_to_regret(three: World) -> None:
    three.policies(observing(limits={"cpu": 0.05}, on_overload=OnOverload.WAIT))
    three.readings("p", {"cpu": CPU})
    judged = regret(three, "n3")
    assert (judged.feasible, judged.refused, judged.best, judged.points) == (0, True, "n3", 0)


def test_where_all_are_above_their_limits_the_least_loaded_is_the_best(three: World) -> None:
    three.policies(observing(limits={"cpu": 0.05}))
    three.readings("p", {"cpu": CPU})
    judged = regret(three, "n3")
    assert (judged.feasible, judged.refused, judged.best) == (3, False, "n1")


def test_with_the_strategy_pack_the_fullest_below_the_target_is_the_best(three: World) -> None:
    three.policies(observing(pack_target=0.6))
    three.readings("p", {"cpu": CPU})
    assert regret(three, "n2").points == 0
    assert regret(three, "n1").best == "n2"


def test_owner_and_images_count_as_for_a_pending_pod(three: World) -> None:
    there = {"names": ["registry/big:1"], "sizeBytes": 900 * 2**20}
    three.nodes(make_node("n2").status(images=[there]))
    three.policies(observing(weights={}))
    pod = make_pod().cpu("100m").spec(containers=[{"name": "main", "image": "registry/big:1"}])
    assert regret(three, "n1", pod).best == "n2"


# -- which pods are judged -------------------------------------------------------------------------------------


def test_nothing_is_placed_and_nothing_waits_for_it(three: World) -> None:
    regret(three, "n3")
    assert three.next() is None
    overview = three.scheduler.overview("p", now_s=three.now_s)
    assert overview is not None
    assert (overview.bound, overview.pending) == (0, 0)


def test_a_policy_that_enforces_judges_nobody(three: World) -> None:
    three.policies(observing(mode=Mode.ENFORCE))
    three.readings("p", {"cpu": CPU})
    assert seen(three, bound(default_scheduler(), "n3", at_s=three.now_s)) == []
    assert observed(three) is None


@pytest.mark.parametrize(
    ("pod", "namespace", "judged"),
    [
        pytest.param(make_pod().labels(app="web"), {}, True, id="its labels"),
        pytest.param(make_pod().labels(app="db"), {}, False, id="other labels"),
        pytest.param(make_pod().annotate("plimsoll.dev/policy", "p"), {}, True, id="it names the policy"),
        pytest.param(
            make_pod().labels(app="web").annotate("plimsoll.dev/policy", "q"), {}, True, id="it names another one"
        ),
        pytest.param(make_pod().labels(app="web"), {"team": "b"}, False, id="another namespace"),
        pytest.param(
            make_pod().annotate("plimsoll.dev/policy", "p"), {"team": "b"}, False, id="it cannot be named from there"
        ),
    ],
)
def test_the_policys_selectors_say_which(
    three: World, pod: PodBuilder, namespace: dict[str, str], *, judged: bool
) -> None:
    three.scheduler.namespace_seen("default", {"team": "a", **namespace}, now_s=three.now_s)
    team = LabelSelector.parse({"matchLabels": {"team": "a"}})
    three.policies(observing(pod_selector=WEB, namespace_selector=team))
    three.readings("p", {"cpu": CPU})
    assert bool(seen(three, bound(default_scheduler(pod), "n1", at_s=three.now_s))) is judged


def test_each_policy_that_observes_the_pod_judges_it(three: World) -> None:
    three.policies(observing(), observing("q", weights={"memory": 1}, priority=5), observing("r", pod_selector=WEB))
    three.readings("p", {"cpu": CPU})
    three.readings("q", {"memory": {"n1": 0.9, "n2": 0.5, "n3": 0.1}})
    judged = {r.policy: r.best for r in seen(three, bound(default_scheduler(), "n2", at_s=three.now_s))}
    assert judged == {"p": "n1", "q": "n3"}


@pytest.mark.parametrize(
    "pod",
    [
        pytest.param(default_scheduler().owner("DaemonSet", "agent"), id="of a DaemonSet"),
        pytest.param(default_scheduler().deleting(), id="being deleted"),
        pytest.param(default_scheduler().phase("Succeeded"), id="ended"),
        pytest.param(
            make_pod().annotate("plimsoll.dev/decision", '{"policy":"x"}'), id="placed by another process of ours"
        ),
        pytest.param(
            default_scheduler().spec(resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "gpu"}]),
            id="that cannot be judged",
        ),
    ],
)
def test_of_some_pods_nothing_is_said(three: World, pod: PodBuilder) -> None:
    assert seen(three, bound(pod, "n3", at_s=three.now_s)) == []


def test_a_pod_that_names_us_and_that_somebody_else_bound_is_judged(three: World) -> None:
    three.pending(make_pod("stolen"))
    assert seen(three, bound(make_pod("stolen"), "n3", at_s=three.now_s))
    assert three.next() is None


def test_what_we_placed_ourselves_is_not_judged(three: World) -> None:
    node = three.places(make_pod("ours"))
    assert seen(three, bound(make_pod("ours"), node, at_s=three.now_s)) == []


def test_a_pod_that_was_created_on_its_node_was_placed_by_nobody(three: World) -> None:
    assert seen(three, default_scheduler().spec(nodeName="n3")) == []


@pytest.mark.parametrize(("age_s", "judged"), [(0, True), (59, True), (61, False), (-30, True)])
def test_what_was_placed_long_ago_is_old_news(three: World, age_s: float, *, judged: bool) -> None:
    assert bool(seen(three, bound(default_scheduler(), "n3", at_s=three.now_s - age_s))) is judged


def test_a_pod_is_judged_once(three: World) -> None:
    pod = bound(default_scheduler(make_pod("web")), "n3", at_s=three.now_s)
    assert len(seen(three, pod)) == 1
    assert seen(three, pod.labels(changed="yes")) == []


def test_on_a_node_that_is_not_known_there_is_nothing_to_compare(three: World) -> None:
    assert seen(three, bound(default_scheduler(), "n9", at_s=three.now_s)) == []


def test_until_the_source_has_answered_nothing_is_judged(world: World) -> None:
    world.nodes(*(make_node(name) for name in CPU))
    world.policies(observing())
    assert seen(world, bound(default_scheduler(), "n3", at_s=world.now_s)) == []
    world.readings("p", {"cpu": {}}, failure="away")
    assert len(seen(world, bound(default_scheduler(), "n3", at_s=world.now_s))) == 1


@pytest.mark.parametrize("on_missing", OnMissing)
def test_where_metrics_are_set_aside_requests_decide(three: World, on_missing: OnMissing) -> None:
    three.policies(observing(on_missing=on_missing))
    three.readings("p", {"cpu": {"n1": 0.1}})
    three.assigned(make_pod().cpu("8").on("n1"))
    judged = regret(three, "n1")
    assert judged.best in {"n2", "n3"}
    assert not judged.refused


# -- what is kept of it ----------------------------------------------------------------------------------------


def test_the_status_has_the_mean_and_the_worst(three: World) -> None:
    three.policies(observing(placement=Placement(load=1, requests=0, spreading=0, preferences=0)))
    three.readings("p", {"cpu": CPU})
    for node in ("n1", "n2"):
        regret(three, node)
    worst = regret(three, "n3", make_pod("unlucky").cpu("100m"))
    found = observed(three)
    assert found is not None
    assert (found.count, found.worst) == (3, worst)
    assert found.mean == pytest.approx(100 * (0.0 + 0.4 + 0.8) / 3, abs=2)


def test_only_the_last_thousand_count(three: World) -> None:
    three.policies(observing(weights={}))
    regret(three, "n3", make_pod().requests(cpu="15", memory="60Gi"))
    regret(three, "n3")
    found = observed(three)
    assert found is not None
    before = found.worst.points
    for i in range(1000):
        regret(three, ("n1", "n2")[i % 2], make_pod().cpu("1m"))
    found = observed(three)
    assert found is not None
    assert found.count == 1000
    assert found.worst.points < before


def test_a_changed_spec_begins_anew_and_another_policys_does_not(three: World) -> None:
    regret(three, "n3")
    three.policies(observing(), observing("q"))
    assert observed(three) is not None
    three.policies(observing(generation=2), observing("q"))
    assert observed(three) is None
