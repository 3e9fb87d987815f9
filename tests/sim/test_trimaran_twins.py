"""Trimaran's twins give the points of Trimaran's own tests; the watcher is late and forgets nothing."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.sim.contenders.load_watcher import LoadWatcher, watched
from plimsoll.sim.contenders.trimaran_lvrb import risk_score
from plimsoll.sim.contenders.trimaran_tlp import TargetLoadPacking, packing_score, predicted_milli
from plimsoll.sim.demand import Demand
from plimsoll.sim.metrics import MetricsPlane
from plimsoll.sim.scenario import Fault, FaultKind
from plimsoll.sim.world import Owner, Pod
from tests.sim.peers_worlds import small_world

NAN = float("nan")


@pytest.mark.parametrize(
    ("mean", "deviation", "margin", "sensitivity", "want"),
    [
        pytest.param(0.4, 0.36, 1, 1, 57, id="valid data"),
        pytest.param(-0.4, 0.36, 1, 2, 65, id="negative mean"),
        pytest.param(2.0, 0.36, 1, 2, 20, id="large mean"),
        pytest.param(0.4, -0.36, 1, 2, 75, id="negative deviation"),
        pytest.param(0.4, 1.2, 1, 2, 25, id="large deviation"),
        pytest.param(0.4, 0.36, -1, 1, 75, id="negative margin"),
    ],
)
def test_risk_is_scored_as_upstreams_tests(
    mean: float, deviation: float, margin: float, sensitivity: float, want: int
) -> None:
    found = risk_score(
        np.array([[mean]]), np.array([[deviation]]), np.array([[0.1]]), margin=margin, sensitivity=sensitivity
    )
    assert found.tolist() == [want]


def test_the_worse_resource_counts_the_only_known_one_counts_and_an_unknown_node_scores_the_least() -> None:
    mean = np.array([[0.2, 0.2, NAN], [0.6, NAN, NAN]])
    deviation = np.where(np.isnan(mean), NAN, 0.0)
    assert risk_score(mean, deviation, np.zeros((2, 1))).tolist() == [70, 90, 0]


@pytest.mark.parametrize(
    ("percent", "want"),
    [
        pytest.param(0, 40, id="new node"),
        pytest.param(50, 33, id="hot node"),
        pytest.param(130, 0, id="excess"),
        pytest.param(40, 100, id="at the target"),
        pytest.param(20, 70, id="half way to it"),
        pytest.param(100, 0, id="full"),
        pytest.param(NAN, 0, id="unknown"),
    ],
)
def test_packing_is_scored_as_upstreams_tests(percent: float, want: int) -> None:
    assert packing_score(np.array([percent], dtype=np.float64)).tolist() == [want]


def pod(request_cores: float, limit_cores: float) -> Pod:
    return Pod(0, Owner.JOB, 0.0, 600.0, 15.0, 0.0, (request_cores, 0.0), (limit_cores, 0.0))


@pytest.mark.parametrize(
    ("request_cores", "limit_cores", "want"),
    [
        pytest.param(1.0, 3.0, 3000, id="its limit"),
        pytest.param(1.0, 0.0, 1500, id="or one and a half of its request"),
        pytest.param(0.003, 0.0, 5, id="which is rounded up"),
        pytest.param(0.0, 0.0, 1000, id="or a core"),
    ],
)
def test_a_pod_is_predicted_to_use(request_cores: float, limit_cores: float, want: int) -> None:
    assert predicted_milli(pod(request_cores, limit_cores)) == want


def packing() -> TargetLoadPacking:
    world = small_world(unmanaged=0.0)
    world.pods[:] = [pod(1.0, 2.0), pod(1.0, 2.0)]
    plane = MetricsPlane(world, Demand(world), np.random.default_rng(1))
    scheduler = TargetLoadPacking(world, plane, np.random.default_rng(2))
    scheduler.node_joined(0, now_s=0.0)
    return scheduler


def points_of_second(scheduler: TargetLoadPacking, now_s: float) -> int:
    fit = np.zeros(len(scheduler.live), dtype=np.bool_)
    fit[0] = True
    return int(scheduler.score(scheduler.world.pods[1], fit, now_s=now_s)[0])


def refresh(scheduler: TargetLoadPacking | LoadWatcher, *, until_s: float, from_s: float = 0.0) -> None:
    for now_s in np.arange(from_s, until_s + 1, 30.0):
        if isinstance(scheduler, LoadWatcher):
            scheduler.refreshed(float(now_s))
        else:
            scheduler.refreshed(now_s=float(now_s))


def test_packing_counts_a_bound_pod_by_its_limit_until_a_window_has_ended_60_s_after_it() -> None:
    scheduler = packing()
    refresh(scheduler, until_s=600.0)
    # 2 of 16 cores are 12.5 percent: 60 / 40 * 12.5 + 40.
    assert points_of_second(scheduler, 600.0) == 59
    scheduler.arrived(0, now_s=605.0)
    assert len(list(scheduler.place(now_s=605.0))) == 1
    assert points_of_second(scheduler, 605.0) == 78
    refresh(scheduler, from_s=630.0, until_s=660.0)
    assert points_of_second(scheduler, 660.0) == 78
    refresh(scheduler, from_s=690.0, until_s=750.0)
    assert points_of_second(scheduler, 750.0) == 59


def test_packing_forgets_a_pod_that_ends() -> None:
    scheduler = packing()
    refresh(scheduler, until_s=600.0)
    scheduler.arrived(0, now_s=605.0)
    assert len(list(scheduler.place(now_s=605.0))) == 1
    scheduler.ended(0, now_s=620.0)
    assert points_of_second(scheduler, 620.0) == 59


def watcher(*faults: Fault) -> LoadWatcher:
    world = small_world(faults=faults)
    return LoadWatcher(MetricsPlane(world, Demand(world), np.random.default_rng(1)))


def test_the_plugin_sees_a_fetch_half_a_minute_after_it_was_made() -> None:
    seen = watcher()
    refresh(seen, until_s=600.0)
    assert seen.seen is not None
    assert seen.seen.end_s == 540.0
    refresh(seen, from_s=630.0, until_s=630.0)
    assert seen.seen.end_s == 600.0


def test_mean_and_deviation_are_those_of_what_was_recorded() -> None:
    shares = np.array([[[0.2, NAN]], [[0.4, NAN]]])
    load = watched(shares, 60.0, numbers=np.ones(2, dtype=np.bool_))
    assert load.mean[0, 0] == pytest.approx(0.3)
    assert load.deviation[0, 0] == pytest.approx(0.1)
    assert np.isnan(load.mean[0, 1])


@pytest.mark.parametrize(
    ("kind", "known"),
    [
        pytest.param(FaultKind.OUTAGE, True, id="a source that does not answer leaves the last for ever"),
        pytest.param(FaultKind.DARK, False, id="a node that is not scraped is forgotten with the window"),
        pytest.param(FaultKind.NAN, False, id="no number is no knowledge"),
    ],
)
def test_what_faults_leave(kind: FaultKind, known: bool) -> None:  # noqa: FBT001 - a table
    seen = watcher(Fault(kind, from_s=1800.0, until_s=7200.0))
    refresh(seen, until_s=1800.0)
    before = seen.seen
    assert before is not None
    assert not np.isnan(before.mean).any()
    refresh(seen, from_s=1830.0, until_s=5400.0)
    after = seen.seen
    assert after is not None
    assert np.isnan(after.mean).all() != known
    assert (after.end_s <= 1800.0) == known
