"""Crane's twin: its formulas by hand, its late hot value, and what it makes of values that are none."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest

from plimsoll.sim.contenders.crane import Crane, dynamic_score, hot_value, overloaded
from plimsoll.sim.demand import Demand
from plimsoll.sim.metrics import MetricsPlane
from plimsoll.sim.scenario import Fault, FaultKind
from plimsoll.sim.world import Floats
from tests.sim.peers_worlds import small_world

NAN = float("nan")


def usage(*, cpu: tuple[float, float, float], memory: tuple[float, float, float]) -> Floats:
    """[A, 2, 1], of 5 minutes, an hour and a day."""
    return np.array([[[c], [m]] for c, m in zip(cpu, memory, strict=True)])


@pytest.mark.parametrize(
    ("cpu", "memory", "hot", "want"),
    [
        pytest.param((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0, 100, id="idle"),
        pytest.param((1.0, 1.0, 1.0), (1.0, 1.0, 1.0), 0, 0, id="full"),
        # Free 0.5, 0.4, 0.3 by 0.2, 0.3, 0.5 is 37 for cpu; 0.9, 0.8, 0.8 is 82 for memory: 59.5.
        pytest.param((0.5, 0.6, 0.7), (0.1, 0.2, 0.2), 0, 59, id="the weighted mean of what is free"),
        pytest.param((0.5, 0.6, 0.7), (0.1, 0.2, 0.2), 2, 39, id="less ten for each point of the hot value"),
        pytest.param((0.5, 0.6, 0.7), (0.1, 0.2, 0.2), 9, 0, id="not below zero"),
        pytest.param((0.0, 0.0, NAN), (0.0, 0.0, NAN), 0, 50, id="what is not annotated scores 0 with its full weight"),
        pytest.param((NAN, NAN, NAN), (NAN, NAN, NAN), 0, 0, id="nothing annotated"),
    ],
)
def test_the_score(cpu: tuple[float, float, float], memory: tuple[float, float, float], hot: int, want: int) -> None:
    assert dynamic_score(usage(cpu=cpu, memory=memory), np.array([hot])).tolist() == [want]


@pytest.mark.parametrize(
    ("cpu", "memory", "want"),
    [
        pytest.param((0.65, 0.75, 1.0), (0.65, 0.75, 1.0), False, id="at the limits, and the day has none"),
        pytest.param((0.66, 0.1, 0.1), (0.1, 0.1, 0.1), True, id="cpu over 5 minutes"),
        pytest.param((0.1, 0.1, 0.1), (0.1, 0.76, 0.1), True, id="memory over an hour"),
        pytest.param((NAN, NAN, NAN), (NAN, NAN, NAN), False, id="what is not annotated passes"),
    ],
)
def test_the_filter(
    cpu: tuple[float, float, float],
    memory: tuple[float, float, float],
    want: bool,  # noqa: FBT001 - a table
) -> None:
    assert overloaded(usage(cpu=cpu, memory=memory)).tolist() == [want]


def test_the_hot_value_counts_five_minutes_by_fives_and_the_last_by_twos_and_drops_remainders() -> None:
    bound = deque([(100.0, 1)] * 50 + [(200.0, 0)] * 4 + [(200.0, 1)] * 10 + [(390.0, 1)] * 5)
    assert hot_value(bound, 400.0, 3).tolist() == [0, 15 // 5 + 5 // 2, 0]
    assert len(bound) == 4 + 10 + 5


def crane(*faults: Fault) -> Crane:
    world = small_world(faults=faults, unmanaged=1.0)
    plane = MetricsPlane(world, Demand(world), np.random.default_rng(1))
    scheduler = Crane(world, plane, np.random.default_rng(2))
    for node in range(len(world.nodes)):
        scheduler.node_joined(node, now_s=0.0)
    return scheduler


def refresh(scheduler: Crane, *, from_s: float = 0.0, until_s: float) -> None:
    for now_s in np.arange(from_s, until_s + 1, 30.0):
        scheduler.refreshed(now_s=float(now_s))


def points(scheduler: Crane, now_s: float) -> list[int]:
    """[N], what Dynamic alone gives."""
    fit = np.ones(len(scheduler.live), dtype=np.bool_)
    replica = scheduler.world.pods[0]
    others = scheduler.by_requests(replica) + scheduler.by_spread(replica, fit)
    dynamic: list[int] = ((scheduler.score(replica, fit, now_s=now_s) - others) // 3).tolist()
    return dynamic


def test_a_burst_is_hot_only_from_the_next_time_at_which_loads_are_annotated() -> None:
    scheduler = crane()
    refresh(scheduler, until_s=600.0)
    calm = points(scheduler, 600.0)
    for pod in range(20):
        scheduler.placed(pod, 0, now_s=605.0)
    assert points(scheduler, 610.0) == calm
    refresh(scheduler, from_s=630.0, until_s=780.0)
    assert points(scheduler, 780.0)[0] <= calm[0] - 35
    assert points(scheduler, 780.0)[1] > calm[1] - 35


def test_a_value_that_is_no_number_makes_a_node_idle() -> None:
    begin_s = 11000.0
    scheduler = crane(Fault(FaultKind.NAN, from_s=begin_s, until_s=1e9, share=0.01))
    refresh(scheduler, until_s=begin_s)
    before = np.array(points(scheduler, begin_s))
    refresh(scheduler, from_s=11010.0, until_s=11400.0)
    broken = scheduler.plane.faults.at(FaultKind.NAN, 11400.0)
    # The 5 minutes of both count for 20 of 100 points, now as if nothing ran.
    gained = np.array(points(scheduler, 11400.0)) - before
    assert gained[broken].min() > 0
    assert gained[broken].min() > gained[~broken].max()


@pytest.mark.parametrize(
    ("age_s", "want"),
    [pytest.param(400.0, True, id="kept while it is valid"), pytest.param(2e4, False, id="0 when all has expired")],
)
def test_what_was_annotated_before_an_outage_is(age_s: float, want: bool) -> None:  # noqa: FBT001 - a table
    scheduler = crane(Fault(FaultKind.OUTAGE, from_s=600.0, until_s=1e9))
    refresh(scheduler, until_s=900.0)
    found = points(scheduler, 600.0 + age_s)
    assert all((point > 0) == want for point in found)
    fit = np.ones(len(scheduler.live), dtype=np.bool_)
    if not want:
        assert scheduler.passing(scheduler.world.pods[0], fit, now_s=600.0 + age_s).all()
