"""What the defaults of ``placement`` mean: load 8, requests 2, spreading 3, preferences 6."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from plimsoll.cluster.services import Service
from plimsoll.policy.compiled import OnOverload
from plimsoll.scheduling.decision import Outcome
from tests.builders import NodeBuilder, PodBuilder, make_node, make_pod, make_policy
from tests.scheduling.conftest import World

# The node that is wished for carries that much more than the other.
MODERATE = 0.25
HOSTNAME = "kubernetes.io/hostname"
NEAR = {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": "db"}}}


def preferring(kind: str) -> dict[str, Any]:
    weighted = [{"weight": 1, "podAffinityTerm": NEAR}]
    return {kind: {"preferredDuringSchedulingIgnoredDuringExecution": weighted}}


def web() -> PodBuilder:
    return make_pod("p").labels(app="web")


def db(node: str) -> PodBuilder:
    return make_pod().labels(app="db").owner("Job", "db").on(node)


ANYWAY = {"topologyKey": HOSTNAME, "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"}
SPREAD = [ANYWAY | {"labelSelector": {"matchLabels": {"app": "db"}}}]
WANTED, OTHER = make_node("wanted"), make_node("other")
WISHES = [
    pytest.param(web().prefer_nodes(1, tier="a"), WANTED.label("tier", "a"), OTHER, [], id="preferred nodes"),
    pytest.param(web(), WANTED, make_node("other").taint("x", effect="PreferNoSchedule"), [], id="a taint that asks"),
    pytest.param(web().spec(affinity=preferring("podAffinity")), WANTED, OTHER, [db("wanted")], id="near a pod"),
    pytest.param(web().spec(affinity=preferring("podAntiAffinity")), WANTED, OTHER, [db("other")], id="far from a pod"),
    pytest.param(
        make_pod("p").labels(app="db"),
        WANTED,
        OTHER,
        [make_pod().owner("Job", "near").spec(affinity=preferring("podAffinity")).on("wanted")],
        id="a pod wants it near",
    ),
    pytest.param(web().spec(topologySpreadConstraints=SPREAD), WANTED, OTHER, [db("other")], id="spread anyway"),
]


def place(world: World, *, wanted: float, other: float, pod: PodBuilder, **policy: Any) -> str:
    world.policies(make_policy("p", weights={"cpu": 1}, **policy))
    world.readings("p", {"cpu": {"wanted": wanted, "other": other}})
    return world.decide(pod).node


@pytest.mark.parametrize(("pod", "wanted", "other", "on_nodes"), WISHES)
def test_a_wish_that_is_written_down_beats_a_moderate_difference_in_load(
    world: World, pod: PodBuilder, wanted: NodeBuilder, other: NodeBuilder, on_nodes: list[PodBuilder]
) -> None:
    world.nodes(wanted, other)
    world.assigned(*on_nodes)
    assert place(world, wanted=0.35 + MODERATE, other=0.35, pod=pod) == "wanted"


@pytest.mark.parametrize(("pod", "wanted", "other", "on_nodes"), WISHES)
def test_even_where_images_and_the_default_spreading_speak_for_another(
    world: World, pod: PodBuilder, wanted: NodeBuilder, other: NodeBuilder, on_nodes: list[PodBuilder]
) -> None:
    image = {"names": ["app:latest"], "sizeBytes": 2**40}
    world.nodes(wanted, deepcopy(other).status(images=[image]))
    selected = make_pod().labels(**labels_of(pod)).owner("Job", "another")
    world.assigned(*on_nodes, *(selected.named(f"s{i}").on("wanted") for i in range(3)))
    serve(world, pod)
    assert place(world, wanted=0.35 + MODERATE, other=0.35, pod=pod) == "wanted"


@pytest.mark.parametrize(("pod", "wanted", "other", "on_nodes"), WISHES)
def test_even_where_all_replicas_are_there_already(
    world: World, pod: PodBuilder, wanted: NodeBuilder, other: NodeBuilder, on_nodes: list[PodBuilder]
) -> None:
    """The spreading term and the default spreading of a service say the same, and do not add up to more than a wish."""
    world.nodes(wanted, other)
    pod = deepcopy(pod).owner("Job", "batch")
    replica = make_pod().labels(**labels_of(pod)).owner("Job", "batch")
    world.assigned(*on_nodes, replica.on("wanted"))
    serve(world, pod)
    assert place(world, wanted=0.35 + MODERATE, other=0.35, pod=pod) == "wanted"


def labels_of(pod: PodBuilder) -> dict[str, str]:
    labels: dict[str, str] = pod.obj()["metadata"]["labels"]
    return labels


def serve(world: World, pod: PodBuilder) -> None:
    world.scheduler.object_seen("Service", Service("default", "all", labels_of(pod)), now_s=world.now_s)


@pytest.mark.parametrize(("pod", "wanted", "other", "on_nodes"), WISHES)
def test_it_never_leads_to_a_node_above_its_limits(
    world: World, pod: PodBuilder, wanted: NodeBuilder, other: NodeBuilder, on_nodes: list[PodBuilder]
) -> None:
    world.nodes(wanted, other)
    world.assigned(*on_nodes)
    limits = {"cpu": 0.6}
    assert place(world, wanted=0.65, other=0.55, pod=pod, limits=limits) == "other"
    world.nodes(make_node("other").cordoned())
    world.policies(make_policy("p", weights={"cpu": 1}, limits=limits, on_overload=OnOverload.WAIT))
    world.readings("p", {"cpu": {"wanted": 0.65, "other": 0.55}})
    assert world.decide(pod.named("q")).outcome is Outcome.UNSCHEDULABLE


def test_it_is_a_wish_and_not_a_requirement(world: World) -> None:
    world.nodes(make_node("wanted").label("tier", "a"), make_node("other"))
    assert place(world, wanted=0.95, other=0.05, pod=web().prefer_nodes(1, tier="a")) == "other"


@pytest.mark.parametrize("more_load", [0.1, MODERATE])
def test_what_nobody_wrote_decides_only_between_nodes_that_are_about_alike(world: World, more_load: float) -> None:
    image = {"names": ["app:latest"], "sizeBytes": 2**40}
    world.nodes(make_node("wanted").status(images=[image]), make_node("other"))
    chosen = place(world, wanted=0.35 + more_load, other=0.35, pod=web())
    assert chosen == ("wanted" if more_load < MODERATE else "other")


def test_decisions_say_what_each_plugin_gave(world: World) -> None:
    world.nodes(make_node("n1").label("tier", "a"), make_node("n2").label("tier", "b"), make_node("n3"))
    decision = world.decide(web().prefer_nodes(3, tier="a").prefer_nodes(1, tier="b"))
    assert {node.node: node.preferences for node in decision.best} == {
        "n1": {"NodeAffinity": 100},
        "n2": {"NodeAffinity": 33},
        "n3": {"NodeAffinity": 0},
    }
