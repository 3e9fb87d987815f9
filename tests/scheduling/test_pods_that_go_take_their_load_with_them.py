"""A window goes on showing pods that are gone; the scheduler knows that they are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plimsoll.cluster.times import timestamp
from plimsoll.load.metric_load import MetricLoad
from plimsoll.load.workload_use import Use, Uses, WorkloadUse
from plimsoll.policy.compiled import Placement, PrometheusSource
from tests.builders import NOW_S, PodBuilder, make_node, make_pod, make_policy, make_readings
from tests.scheduling.conftest import World

LOAD_ALONE = Placement(load=1, requests=0, spreading=0, preferences=0)
POLICY = make_policy(
    "p", weights={"networkReceive": 1}, placement=LOAD_ALONE, source=PrometheusSource("http://prometheus:9090")
)


def busy(name: str = "busy", *, started_s: float | None = NOW_S - 5000) -> PodBuilder:
    """It receives half of what the node can."""
    built = make_pod(name).on("n1").annotate("plimsoll.dev/network-receive", "62500k")
    return built if started_s is None else built.started(timestamp(started_s))


@pytest.fixture
def two(world: World) -> World:
    world.nodes(make_node("n1"), make_node("n2"))
    world.policies(POLICY)
    return world


def of(world: World) -> MetricLoad:
    return world.scheduler._loads.of(POLICY, now_s=world.now_s).metrics[0]


def loads(world: World) -> list[float]:
    return [round(load, 6) for load in of(world).measured().tolist()]


def measure(world: World, n1: float) -> None:
    world.readings("p", {"networkReceive": {"n1": n1, "n2": 0.2}})


def test_a_node_whose_pod_has_gone_is_free_at_once(two: World) -> None:
    two.assigned(busy())
    measure(two, 0.5)
    assert (loads(two), two.probe(make_pod()).node) == ([0.5, 0.2], "n2")
    two.assigned_goes(busy())
    assert (loads(two), two.probe(make_pod()).node) == ([0.0, 0.2], "n1")


def test_it_stays_so_while_the_window_forgets_the_pod(two: World) -> None:
    two.assigned(busy())
    measure(two, 0.5)
    two.assigned_goes(busy())
    for left in (0.4, 0.25, 0.1, 0.0):
        two.now_s = NOW_S + 300 * (0.5 - left) / 0.5
        measure(two, left)
        assert loads(two) == [0.0, 0.2]


def test_a_pod_that_is_done_is_gone_even_before_it_is_deleted_and_goes_once(two: World) -> None:
    two.assigned(busy())
    measure(two, 0.5)
    two.assigned(busy().phase("Succeeded"))
    assert loads(two) == [0.0, 0.2]
    two.assigned_goes(busy())
    assert loads(two) == [0.0, 0.2]
    measure(two, 0.5)
    assert loads(two) == [0.0, 0.2]


def test_when_a_pod_ran_is_read_off_its_last_state(two: World) -> None:
    """Its start and its end may come in one event."""
    two.assigned(busy(started_s=None))
    two.passes(300)
    measure(two, 0.5)
    two.assigned(busy(started_s=NOW_S).phase("Failed"))
    assert loads(two) == [0.0, 0.2]


def test_a_pod_that_was_done_before_we_came_is_no_departure(two: World) -> None:
    measure(two, 0.5)
    two.assigned(busy().phase("Succeeded"))
    assert loads(two) == [0.5, 0.2]


def test_a_pod_that_never_ran_leaves_no_trace(two: World) -> None:
    measure(two, 0.1)
    before = of(two).in_flight.tolist()
    decision = two.decide(busy(started_s=None).on(""))
    assert of(two).in_flight.tolist() != before
    two.bind_failed(busy(), retry=False)
    assert decision.node != ""
    assert of(two).in_flight.tolist() == before
    measure(two, 0.1)
    assert of(two).in_flight.tolist() == before


def test_nor_does_one_that_was_deleted_before_it_started(two: World) -> None:
    measure(two, 0.1)
    two.assigned(busy(started_s=None))
    two.assigned_goes(busy())
    assert (loads(two), of(two).in_flight.tolist()) == ([0.1, 0.2], [[0.0, 0.0]])


def test_a_restart_counts_the_pods_that_are_there_as_before(two: World) -> None:
    pods = [busy(f"p{i}", started_s=NOW_S - 100 * i) for i in range(4)]
    two.assigned(*pods)
    measure(two, 0.5)
    again = World()
    again.nodes(make_node("n1"), make_node("n2"))
    again.policies(POLICY)
    again.assigned(*reversed(pods))
    measure(again, 0.5)
    assert of(again).in_flight.tolist() == of(two).in_flight.tolist() != [[0.0, 0.0]]


def test_departed_pods_are_forgotten_in_time(two: World) -> None:
    ledger = two.scheduler._loads._ledger
    two.assigned(busy())
    two.assigned_goes(busy())
    assert len(ledger) == 1
    two.passes(600 + 900 - 1)
    measure(two, 0.1)
    assert len(ledger) == 1
    two.passes(1)
    measure(two, 0.1)
    assert len(ledger) == 0


def test_even_where_no_source_ever_answers(world: World) -> None:
    world.nodes(make_node("n1"))
    for i in range(3000):
        world.passes(10)
        world.assigned(busy(f"p{i}", started_s=world.now_s))
        world.assigned_goes(busy(f"p{i}"))
    assert len(world.scheduler._loads._ledger) <= 1100


def test_all_policies_learn_what_workloads_use_from_one_refresh(two: World) -> None:
    other = make_policy("other", weights={"networkReceive": 1}, priority=-1)
    two.policies(POLICY, other)
    web = make_pod().owner("Job", "web").info()
    for minute in (0, 3):
        readings = make_readings({"networkReceive": {"n1": 0.1, "n2": 0.2}}, taken_at_s=NOW_S + 60 * minute)
        use = WorkloadUse(NOW_S + 60 * minute, {"networkReceive": Uses.of({web.workload: Use(1, 8e6, 64e12)})})
        two.scheduler.readings_taken("p", replace(readings, use=use), now_s=NOW_S + 60 * minute)
    two.readings("other", {"networkReceive": {"n1": 0.1, "n2": 0.2}})
    load = two.scheduler._loads.of(other, now_s=two.now_s)
    assert load.metrics[0].expected(web) == pytest.approx(8e6)
