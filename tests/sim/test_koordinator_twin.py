"""Koordinator's twin gives the numbers of Koordinator's own tests, and estimates what a report cannot show."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.sim.contenders.koordinator import Koordinator, estimate, exceeding, least_used
from plimsoll.sim.demand import Demand
from plimsoll.sim.metrics import MetricsPlane
from plimsoll.sim.scenario import Fault, FaultKind
from plimsoll.sim.world import Owner, Pod
from tests.sim.peers_worlds import GIBI, small_world

BIG_NODE = np.array([[96_000], [512 * GIBI]])


def pod(request: tuple[float, float], limit: tuple[float, float] = (0.0, 0.0)) -> Pod:
    return Pod(0, Owner.JOB, 0.0, 6000.0, 15.0, 0.0, request, limit)


@pytest.mark.parametrize(
    ("request_", "limit", "want"),
    [
        pytest.param((0, 0), (0, 0), [250, 200 * 2**20], id="empty"),
        pytest.param((4, 8 * GIBI), (4, 8 * GIBI), [3400, 6012954214], id="guaranteed"),
        pytest.param((4, 8 * GIBI), (8, 8 * GIBI), [6800, 6012954214], id="burstable"),
        pytest.param((4, 8 * GIBI), (0, 0), [3400, 6012954214], id="only requests"),
    ],
)
def test_a_pod_is_estimated_as_in_upstreams_tests(
    request_: tuple[float, float], limit: tuple[float, float], want: list[int]
) -> None:
    assert estimate(pod(request_, limit)).tolist() == want


@pytest.mark.parametrize(
    ("reported", "assigned", "new", "want"),
    [
        pytest.param((32_000, 10 * GIBI), 0, 1, 72, id="load node"),
        pytest.param((32_000, 10 * GIBI), 1, 1, 63, id="with just assigned pod"),
        pytest.param((0, 0), 0, 1, 90, id="nothing reported"),
        pytest.param((0, 0), 0, 0, 99, id="empty pod"),
    ],
)
def test_the_score_is_that_of_upstreams_tests(reported: tuple[int, int], assigned: int, new: int, want: int) -> None:
    big = estimate(pod((16, 32 * GIBI), (16, 32 * GIBI)))
    used = np.array(reported) + assigned * big + (big if new else estimate(pod((0, 0))))
    assert least_used(used[:, None], BIG_NODE).tolist() == [want]


@pytest.mark.parametrize(
    ("used", "want"),
    [
        pytest.param((62_400, 0), False, id="cpu at 65 percent"),
        pytest.param((62_800, 0), False, id="rounded to 65 percent"),
        pytest.param((63_000, 0), True, id="cpu above it"),
        pytest.param((0, 488 * GIBI), False, id="memory at 95 percent"),
        pytest.param((0, 500 * GIBI), True, id="memory above it"),
    ],
)
def test_the_filter(used: tuple[int, int], want: bool) -> None:  # noqa: FBT001 - a table
    assert exceeding(np.array(used)[:, None], BIG_NODE).tolist() == [want]


def koordinator(*faults: Fault) -> Koordinator:
    world = small_world(unmanaged=0.0, faults=faults)
    world.pods[:] = [pod((2.0, 2 * GIBI), (4.0, 4 * GIBI))] * 3
    plane = MetricsPlane(world, Demand(world), np.random.default_rng(1))
    scheduler = Koordinator(world, plane, np.random.default_rng(2))
    scheduler.node_joined(0, now_s=0.0)
    return scheduler


def refresh(scheduler: Koordinator, *, from_s: float = 0.0, until_s: float) -> None:
    for now_s in np.arange(from_s, until_s + 1, 30.0):
        scheduler.refreshed(now_s=float(now_s))


def points(scheduler: Koordinator, now_s: float) -> int:
    """What LoadAwareScheduling alone gives to the first node."""
    fit = np.zeros(len(scheduler.live), dtype=np.bool_)
    fit[0] = True
    replica = scheduler.world.pods[2]
    return int((scheduler.score(replica, fit, now_s=now_s) - scheduler.by_requests(replica))[0])


def place(scheduler: Koordinator, which: int, now_s: float) -> None:
    scheduler.arrived(which, now_s=now_s)
    assert [tuple(p) for p in scheduler.place(now_s=now_s)] == [(which, 0)]


def test_an_assigned_pod_counts_by_its_estimate_at_once_and_while_reports_do_not_show_it() -> None:
    scheduler = koordinator()
    refresh(scheduler, until_s=600.0)
    # 3.4 of 16 cores and 2.8 of 32 GiB: 78 and 91.
    assert points(scheduler, 600.0) == 84
    place(scheduler, 0, 605.0)
    assert points(scheduler, 606.0) == 69
    refresh(scheduler, from_s=630.0, until_s=720.0)
    assert points(scheduler, 720.0) == 69


def test_a_pod_that_is_reported_counts_by_its_use() -> None:
    scheduler = koordinator()
    refresh(scheduler, until_s=600.0)
    place(scheduler, 0, 605.0)
    scheduler.plane.started(0, 0, now_s=606.0)
    refresh(scheduler, from_s=630.0, until_s=720.0)
    # Nothing was put on the node here: the report shows none of it.
    assert points(scheduler, 720.0) == 84


def test_an_assigned_pod_that_ends_counts_no_more() -> None:
    scheduler = koordinator()
    refresh(scheduler, until_s=600.0)
    place(scheduler, 0, 605.0)
    scheduler.ended(0, now_s=607.0)
    assert points(scheduler, 608.0) == 84


@pytest.mark.parametrize("kind", [FaultKind.OUTAGE, FaultKind.DARK, FaultKind.NAN])
def test_a_report_that_is_older_than_180_s_scores_0_and_passes_the_filter(kind: FaultKind) -> None:
    scheduler = koordinator(Fault(kind, from_s=900.0, until_s=1e9))
    refresh(scheduler, until_s=960.0)
    assert points(scheduler, 960.0) > 0
    refresh(scheduler, from_s=990.0, until_s=1200.0)
    assert points(scheduler, 1200.0) == 0
    assert scheduler.passing(scheduler.world.pods[2], scheduler.live, now_s=1200.0)[0]


def test_a_filter_that_leaves_no_node_is_set_aside() -> None:
    scheduler = koordinator()
    refresh(scheduler, until_s=600.0)
    heavy = pod((2.0, GIBI), (48.0, GIBI))
    assert scheduler.passing(heavy, scheduler.live, now_s=600.0).tolist() == scheduler.live.tolist()
