from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.builders import PodBuilder, make_node, make_pod
from tests.rules.asking import HOST, cluster, codes, shown, term
from tests.scheduling.conftest import World
from tests.volume_objects import a_claim, a_class, a_volume, using

Step = Callable[[World], None]


def rejected(world: World, pod: PodBuilder) -> None:
    assert world.decide(pod).node == ""
    world.passes(20)
    assert world.queued() == {"unschedulable": 1}


def node(name: str = "n1", cpu: str = "1") -> Step:
    return lambda world: world.nodes(make_node(name).offers(cpu=cpu))


def comes(pod: PodBuilder) -> Step:
    return lambda world: world.assigned(pod)


def goes(pod: PodBuilder) -> Step:
    return lambda world: world.assigned_goes(pod)


THERE = make_pod("there").cpu("1").port(80).labels(app="x").on("n1")
SMALL = make_pod("small").cpu("0").on("n1")
CASES = [
    pytest.param(make_pod("web").cpu("1"), goes(THERE), goes(SMALL), id="NodeResourcesFit"),
    pytest.param(make_pod("web").port(80), goes(THERE), goes(SMALL), id="NodePorts"),
    pytest.param(make_pod("web").apart(term(HOST, app="x")), goes(THERE), goes(SMALL), id="InterPodAffinity"),
    pytest.param(
        make_pod("web").node_selector(disk="ssd"),
        lambda world: world.nodes(make_node("n1").offers(cpu="1").label("disk", "ssd")),
        lambda world: world.nodes(make_node("n1").offers(cpu="1").label("disk", "hdd")),
        id="NodeAffinity",
    ),
    pytest.param(
        using(make_pod("web"), "data"),
        lambda world: shown(world, a_volume("v"), a_claim("data", volume="v", bound=True)),
        lambda world: shown(world, a_claim("other")),
        id="VolumeRestrictions",
    ),
    pytest.param(
        using(make_pod("web"), "unbound"),
        lambda world: shown(world, a_volume("v"), a_claim("unbound", volume="v", bound=True)),
        lambda world: shown(world, a_claim("other")),
        id="VolumeBinding",
    ),
    pytest.param(
        make_pod("web").tolerate(key="other"),
        lambda world: world.nodes(make_node("n1").offers(cpu="1")),
        lambda world: world.nodes(make_node("n1").offers(cpu="1").taint("t", value="changed")),
        id="TaintToleration",
    ),
    pytest.param(
        make_pod("web").together(term(HOST, app="y")),
        comes(make_pod("y").labels(app="y").on("n1")),
        comes(make_pod("z").labels(app="z").on("n1")),
        id="InterPodAffinity that wants a pod near",
    ),
]


@pytest.mark.parametrize(("pod", "helps", "does_not"), CASES)
def test_only_a_change_that_can_help_costs_an_attempt(pod: PodBuilder, helps: Step, does_not: Step) -> None:
    node = make_node("n1").offers(cpu="1")
    world = cluster(node.taint("t") if pod.info().tolerations else node, pods=[THERE, SMALL])
    shown(world, a_class("now", mode="Immediate"), a_claim("unbound", of_class="now"))
    rejected(world, pod)
    does_not(world)
    assert world.queued() == {"unschedulable": 1}
    helps(world)
    assert world.queued() == {"active": 1}


def test_a_pod_that_is_to_be_spread_waits_for_pods_that_count() -> None:
    world = cluster(make_node("n1"), make_node("n2").offers(pods="0"), pods=[THERE, SMALL])
    rejected(world, make_pod("web").labels(app="x").spread_over(HOST, {"matchLabels": {"app": "x"}}))
    world.assigned_goes(SMALL)
    assert world.queued() == {"unschedulable": 1}
    world.assigned_goes(THERE)
    assert world.queued() == {"active": 1}


def test_a_feature_that_the_node_must_declare() -> None:
    pod = make_pod("web").spec(
        containers=[{"name": "main", "restartPolicyRules": [{"action": "RestartAllContainers"}]}]
    )
    world = cluster(make_node("silent"))
    rejected(world, pod)
    world.nodes(make_node("able").status(declaredFeatures=["RestartAllContainersOnContainerExits"]))
    decision = world.next()
    assert decision is not None
    assert decision.node == "able"


@pytest.mark.parametrize(
    ("pod", "code"),
    [
        pytest.param(make_pod().cpu("1"), "Unschedulable", id="pods in the way"),
        pytest.param(make_pod().cpu("2"), "UnschedulableAndUnresolvable", id="a node that is too small"),
        pytest.param(make_pod().port(80), "Unschedulable", id="a port in use"),
        pytest.param(make_pod().node_selector(a="b"), "UnschedulableAndUnresolvable", id="a label that is not there"),
    ],
)
def test_a_refusal_says_whether_removing_pods_would_help(pod: PodBuilder, code: str) -> None:
    assert codes(cluster(make_node("n1").offers(cpu="1"), pods=[THERE]), pod) == {"n1": code}
