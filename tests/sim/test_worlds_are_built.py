"""A scenario, a trace and a seed make a world: the same for every contender, and never more than the cluster can do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from plimsoll.errors import InvalidInput
from plimsoll.sim.building import build_world
from plimsoll.sim.contenders.chance import Chance
from plimsoll.sim.contenders.kube_scheduler import KubeScheduler
from plimsoll.sim.engine import replay
from plimsoll.sim.recorded import Recorded
from plimsoll.sim.scaling import FULLEST, MOST_OF_A_NODE
from plimsoll.sim.scenario import HOUR_S, Arrivals, Machines, Scenario, Workloads
from plimsoll.sim.scenarios import SCENARIOS
from plimsoll.sim.trace import Trace
from plimsoll.sim.world import Owner, World
from tests.sim.worlds import RECORDED, told, trace

SMALL = {"nodes": 8, "pods": 120, "hours": 5.0}


def small(scenario: Scenario, seed: int = 1) -> World:
    return build_world(trace(), replace(scenario, **SMALL), seed, recorded=RECORDED)


def same(one: World, other: World) -> bool:
    arrays = ("capacity", "curves", "background")
    return (
        one.nodes == other.nodes
        and one.pods == other.pods
        and all(np.array_equal(getattr(one, name), getattr(other, name)) for name in arrays)
    )


every_scenario = pytest.mark.parametrize("name", SCENARIOS)


@every_scenario
def test_the_same_seed_makes_the_same_world_and_another_another(name):
    world = small(SCENARIOS[name])
    assert same(world, small(SCENARIOS[name]))
    assert not same(world, small(SCENARIOS[name], seed=2))


def test_what_a_scenario_is_called_does_not_matter():
    assert same(small(SCENARIOS["services"]), small(replace(SCENARIOS["services"], name="x", title="y")))


def test_false_metrics_are_no_part_of_the_world():
    assert same(small(SCENARIOS["services"]), small(SCENARIOS["dark"]))


def test_a_contender_leaves_the_world_to_the_next_as_it_was():
    scenario = SCENARIOS["drain"]
    world = small(scenario)
    first = replay(world, KubeScheduler)
    replay(world, Chance)
    again = replay(world, KubeScheduler)
    assert same(world, small(scenario))
    assert first.node == again.node
    np.testing.assert_array_equal(first.demand, again.demand)


@every_scenario
@pytest.mark.parametrize("seed", range(3))
def test_all_pods_together_are_never_too_much_for_the_cluster(name, seed):
    """Placed when they arrive, on nodes that are there all the time, before what no pod accounts for."""
    world = small(SCENARIOS[name], seed)
    make, _ = told()
    outcome = replay(world, make)
    stays = [node.joins_s == 0 and np.isinf(node.drains_s) for node in world.nodes]
    fullest = (outcome.demand - world.background).sum(axis=1).max(axis=1) / world.capacity[:, stays].sum(axis=1)
    # It is made to fit by slots, and pods begin and end within them; a drained pod starts twice.
    assert (fullest <= FULLEST * 1.06).all()
    assert fullest.max() > 0.3


@every_scenario
def test_no_pod_is_too_much_for_most_nodes(name):
    world = small(SCENARIOS[name])
    peaks = world.curves.max(axis=2)
    largest = peaks.max(axis=0)[:, None] / world.capacity
    fit = (largest <= MOST_OF_A_NODE + 1e-9).all(axis=0)
    assert fit.mean() >= 0.75
    requests = np.array([pod.request for pod in world.pods])
    assert (requests <= MOST_OF_A_NODE * np.quantile(world.capacity[:2], 0.25, axis=1, method="lower") + 1e-6).all()
    assert (requests >= 0).all()


@every_scenario
def test_pods_come_in_order_within_the_time_and_are_as_many_as_wanted(name):
    pods = small(SCENARIOS[name]).pods
    assert len(pods) == SMALL["pods"]
    arrivals = [pod.arrives_s for pod in pods]
    assert arrivals == sorted(arrivals)
    assert 0 <= arrivals[0] <= arrivals[-1] < SMALL["hours"] * HOUR_S
    assert min(pod.lifetime_s for pod in pods) >= 600


def test_requests_are_an_apps_and_wrong_within_reason():
    world = build_world(trace(), Scenario("s", "", best_effort=0.0, hours=6.0), 1)
    by_app = {}
    for pod in world.pods:
        assert by_app.setdefault(pod.app, pod.request) == pod.request
        assert pod.limit == pytest.approx((3 * pod.request[0], 2 * pod.request[1]))
    cores = np.array([by_app[app][0] for app in sorted(by_app)])
    factor = cores / world.curves[sorted(by_app), 0].mean(axis=1)
    assert 0.8 < np.median(factor) < 1.5
    assert factor.std() > 0.5


def test_owners_are_those_of_the_scenario():
    kinds = {w: {pod.owner for pod in small(replace(SCENARIOS["services"], workloads=w)).pods} for w in Workloads}
    assert kinds == {
        Workloads.SERVICES: {Owner.SERVICE},
        Workloads.JOBS: {Owner.JOB},
        Workloads.MIXED: {Owner.SERVICE, Owner.JOB},
    }


def test_pods_of_best_effort_request_nothing():
    assert {pod.request for pod in small(SCENARIOS["best-effort"]).pods} == {(0.0, 0.0)}


def test_single_pods_come_one_by_one():
    arrivals = np.array([pod.arrives_s for pod in small(SCENARIOS["singles"]).pods])
    together = np.array([pod.arrives_s for pod in small(SCENARIOS["services"]).pods])
    assert (np.diff(arrivals) < 5).mean() < 0.1 < (np.diff(together) < 5).mean()


def test_added_nodes_carry_nothing_before_they_are_there():
    world = build_world(trace(), replace(SCENARIOS["node-added"], hours=6.0, unmanaged=1.0), 1)
    joins_s = [node.joins_s for node in world.nodes]
    assert joins_s[:-3] == [0.0] * 27
    assert joins_s[-3:] == [7200.0, 9000.0, 10800.0]
    steps = int(7200 / 15)
    assert not world.background[:, -3, :steps].any()
    assert world.background[:, -3, steps:].any()


def test_drained_nodes_are_the_first_and_one_after_the_other():
    world = build_world(trace(), replace(SCENARIOS["drain"], hours=6.0), 1)
    assert [node.drains_s for node in world.nodes[:4]] == [7200.0, 9000.0, 10800.0, np.inf]


def test_a_network_that_runs_short_does_so_before_anything_else():
    bound, plain = (small(SCENARIOS[name]).curves.mean(axis=(0, 2)) for name in ("network-bound", "services"))
    assert bound[0] < plain[0]
    assert bound[2] > 2 * plain[2]


class TestRecorded:
    def test_machines_are_some_of_the_recorded_ones_with_a_network_to_match(self):
        nodes = small(SCENARIOS["heterogeneous"]).nodes
        sizes = {(node.cores, node.mem_bytes, node.nic_bytes_s) for node in nodes}
        gib = 2.0**30
        assert sizes == {(8, 32 * gib, 25e6), (32, 128 * gib, 250e6), (96, 384 * gib, 625e6)}

    def test_bursts_come_as_they_were_recorded(self):
        pods = small(SCENARIOS["bursts"]).pods
        gaps = np.diff([pod.arrives_s for pod in pods])
        assert set(np.round(gaps[gaps < 2], 6)) == {1.0}, "a second apart, as in the recording"
        between = gaps[gaps >= 2]
        assert between == pytest.approx(between[0], rel=0.005), "all as much faster"
        assert between[0] < 2990

    def test_lives_are_as_much_shorter_as_the_time_passes_faster(self):
        pods = small(SCENARIOS["bursts"]).pods
        gaps = np.diff([pod.arrives_s for pod in pods])
        faster = 3000 / (gaps[gaps >= 2][0] + 4)
        assert pods[0].lifetime_s == pytest.approx(5000 / faster, rel=0.1)

    @pytest.mark.parametrize(
        ("fields", "what"),
        [({"arrivals": Arrivals.RECORDED}, "arrivals"), ({"machines": Machines.RECORDED}, "machines")],
        ids=["arrivals", "machines"],
    )
    def test_without_the_recording_the_scenario_says_what_it_needs(self, fields, what):
        scenario = Scenario("tides", "", **fields)
        with pytest.raises(InvalidInput, match=f"scenario tides needs the {what} of a recorded cluster"):
            build_world(trace(), scenario, 1, recorded=Recorded())


def test_a_trace_of_one_machine_is_refused():
    one = Trace(trace().use[:, :1], trace().step_s)
    with pytest.raises(InvalidInput, match="one machine only"):
        build_world(one, SCENARIOS["services"], 1)


def test_a_trace_that_is_shorter_than_the_world_begins_anew():
    short = Trace(trace().use[:, :, :20], trace().step_s)
    world = build_world(short, replace(SCENARIOS["services"], **SMALL), 1)
    assert np.isfinite(world.curves).all()
    np.testing.assert_array_equal(world.curves[:, :, :20], world.curves[:, :, 20:40])


def test_scenarios_are_named_as_they_are_called_and_say_what_they_are():
    for name, scenario in SCENARIOS.items():
        assert scenario.name == name
        assert len(scenario.title) > 10
    assert len({scenario.title for scenario in SCENARIOS.values()}) == len(SCENARIOS)
