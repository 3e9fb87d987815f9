"""While readings stand still, pods that are placed one after another still spread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from plimsoll.policy.compiled import Formula, InFlight, Placement
from tests.builders import PodBuilder, make_node, make_pod, make_policy
from tests.scheduling.conftest import World

NODES = [f"n{i}" for i in range(10)]
# The only net is what is in flight.
LOAD_ALONE = Placement(load=8, requests=0, spreading=0, preferences=0)


def placed(world: World, pods: list[PodBuilder]) -> Counter[str]:
    found = Counter(dict.fromkeys(NODES, 0))
    found.update(world.places(pod) for pod in pods)
    return found


@pytest.fixture
def idle_one(world: World) -> World:
    """Nine nodes that carry half of what they can, and one that carries nothing."""
    world.nodes(*(make_node(name) for name in NODES))
    for name in NODES[1:]:
        world.assigned(make_pod(f"there-{name}").requests(cpu="8", memory="32Gi").on(name).started())
    return world


@pytest.mark.parametrize("formula", Formula)
def test_pods_in_flight_fill_the_idlest_node_only_until_it_is_as_busy_as_the_rest(
    idle_one: World, formula: Formula
) -> None:
    idle_one.policies(make_policy("p", weights={"cpu": 1}, formula=formula, placement=LOAD_ALONE))
    idle_one.readings("p", {"cpu": {name: 0.5 if name != "n0" else 0.0 for name in NODES}})
    ratio = 0.5 * 16 * 9 / (8 * 9)
    room = int(0.5 * 16 / ratio)
    found = placed(idle_one, [make_pod().cpu("1") for _ in range(room + 20)])
    assert room - 1 <= found["n0"] <= room + 3
    assert max(found[name] for name in NODES[1:]) <= 4


def test_without_counting_what_is_in_flight_they_would_all_go_there(idle_one: World) -> None:
    policy = make_policy("p", weights={"cpu": 1}, in_flight=InFlight.IGNORE, placement=LOAD_ALONE)
    idle_one.policies(policy)
    idle_one.readings("p", {"cpu": {name: 0.5 if name != "n0" else 0.0 for name in NODES}})
    assert placed(idle_one, [make_pod().cpu("1") for _ in range(14)])["n0"] == 14


def test_network_that_pods_announce_is_in_flight_too(world: World) -> None:
    world.nodes(*(make_node(name) for name in NODES))
    world.policies(make_policy("p", weights={"networkReceive": 1}, placement=LOAD_ALONE))
    world.readings("p", {"networkReceive": dict.fromkeys(NODES, 0.1)})
    pods = [make_pod().annotate("plimsoll.dev/network-receive", "10M") for _ in range(30)]
    assert set(placed(world, pods).values()) == {3}


def test_replicas_spread_even_where_nothing_is_expected_of_them(world: World) -> None:
    world.nodes(*(make_node(name) for name in NODES))
    world.policies(make_policy("p", weights={"networkReceive": 1}))
    world.readings("p", {"networkReceive": {name: 0.02 * i for i, name in enumerate(NODES)}})
    found = placed(world, [make_pod().owner("ReplicaSet", "web") for _ in range(30)])
    assert max(found.values()) <= 6
    assert min(found.values()) >= 1


def test_bare_requests_spread_without_any_metric(world: World) -> None:
    world.nodes(*(make_node(name) for name in NODES))
    found = placed(world, [make_pod().cpu(f"{1000 + i}m").memory("4Gi") for i in range(50)])
    assert max(found.values()) - min(found.values()) <= 1


def test_a_failed_bind_takes_its_load_back(idle_one: World) -> None:
    idle_one.policies(make_policy("p", weights={"cpu": 1}, placement=LOAD_ALONE))
    idle_one.readings("p", {"cpu": {name: 0.5 if name != "n0" else 0.0 for name in NODES}})
    for i in range(30):
        pod = make_pod(f"unlucky-{i}").cpu("4")
        assert idle_one.decide(pod).node == "n0"
        idle_one.bind_failed(pod, retry=False)


def test_a_pod_that_goes_takes_its_load_along(idle_one: World) -> None:
    idle_one.policies(make_policy("p", weights={"cpu": 1}, placement=LOAD_ALONE))
    idle_one.readings("p", {"cpu": {name: 0.5 if name != "n0" else 0.0 for name in NODES}})
    for i in range(30):
        pod = make_pod(f"short-{i}").cpu("4")
        assert idle_one.places(pod) == "n0"
        idle_one.assigned(pod.on("n0"))
        idle_one.assigned_goes(pod)


def test_pods_of_other_schedulers_are_in_flight_as_well(idle_one: World) -> None:
    idle_one.policies(make_policy("p", weights={"cpu": 1}, placement=LOAD_ALONE))
    idle_one.readings("p", {"cpu": {name: 0.5 if name != "n0" else 0.0 for name in NODES}})
    idle_one.assigned(*(make_pod().cpu("1").spec(schedulerName="default-scheduler").on("n0") for _ in range(12)))
    assert idle_one.decide(make_pod().cpu("1")).node != "n0"


ROLLOUTS = {
    "of a Deployment with requests": lambda: make_pod().owner("ReplicaSet", "web").requests(cpu="100m", memory="128Mi"),
    "of a Deployment that requests nothing": lambda: make_pod().owner("ReplicaSet", "web"),
    "of a Job": lambda: make_pod().owner("Job", "work").requests(cpu="100m", memory="128Mi"),
    "of bare pods": lambda: make_pod().requests(cpu="100m", memory="128Mi"),
    "of pods that request much": lambda: make_pod().owner("ReplicaSet", "web").requests(cpu="2", memory="4Gi"),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("replica", ROLLOUTS.values(), ids=ROLLOUTS)
def test_a_hundred_replicas_inside_one_scrape_interval_go_everywhere(
    replica: Callable[[], PodBuilder], seed: int
) -> None:
    world, names = World(seed=seed), [f"node-{i}" for i in range(30)]
    world.nodes(*(make_node(name) for name in names))
    world.policies(make_policy("p", weights={"cpu": 1, "memory": 1, "networkReceive": 1}))
    world.readings("p", {metric: dict.fromkeys(names, 0.3) for metric in ("cpu", "memory", "networkReceive")})
    found = Counter(world.places(replica()) for _ in range(100))
    assert max(found.values()) <= 6
    assert len(found) == len(names)
