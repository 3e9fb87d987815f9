"""The product reads a world's metrics: as it reads Prometheus' answers, or a shorter way that leads to the same."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from plimsoll.cluster.workload import WorkloadKey
from plimsoll.load.carry_over import carry_over
from plimsoll.load.pod_use import YOUNGEST_S, PodAmount, PodPlace, use_by_workload
from plimsoll.load.pod_use_queries import window_s as pods_window_s
from plimsoll.load.prometheus_readings import readings_from_prometheus
from plimsoll.load.readings import Readings, ReadingState
from plimsoll.policy.compiled import BUILT_IN_METRICS, CPU, MEMORY, NETWORK_RECEIVE, NETWORK_TRANSMIT
from plimsoll.sim.answers import prometheus_answers
from plimsoll.sim.building import build_world
from plimsoll.sim.engine import replay
from plimsoll.sim.metrics import MetricsPlane
from plimsoll.sim.reading_worlds import world_readings
from plimsoll.sim.readings import plane_readings, workload_use
from plimsoll.sim.scenario import FaultKind, Scenario
from plimsoll.sim.world import METRICS, STEP_S, World
from tests.sim.worlds import (
    POLICY,
    at,
    infos,
    make_fault,
    make_plane,
    make_replica,
    make_scenario,
    make_world,
    told,
    trace,
)

NETWORK = {NETWORK_RECEIVE, NETWORK_TRANSMIT}


def shortly(plane: MetricsPlane, now_s: float) -> Readings:
    names = [node.name for node in plane.world.nodes]
    return plane_readings(plane, POLICY, names, now_s=now_s, readings_id=7)


def in_words(plane: MetricsPlane, now_s: float) -> Readings:
    return readings_from_prometheus(
        policy=POLICY,
        nodes=infos(plane.world),
        pods={},
        answers=prometheus_answers(plane, POLICY, now_s=now_s),
        readings_id=7,
    )


def assert_same(one: Readings, other: Readings) -> None:
    assert one.nodes == other.nodes
    assert set(one.metrics) == set(other.metrics)
    assert set(one.failures) == set(other.failures)
    for name, readings in one.metrics.items():
        same = other.metrics[name]
        for column in ("utilisation", "value", "capacity", "sampled_at_s", "state"):
            np.testing.assert_allclose(getattr(readings, column), getattr(same, column), rtol=1e-6, atol=1e-7)
        assert readings.window_s == same.window_s
        for window, of_same in zip(readings.windows, same.windows, strict=True):
            assert window.length_s == of_same.length_s
            np.testing.assert_allclose(window.utilisation, of_same.utilisation, rtol=1e-6, atol=1e-7)


def joining(world: World) -> World:
    world.nodes = (world.nodes[0]._replace(joins_s=3333.0), *world.nodes[1:])
    return world


@pytest.mark.parametrize(
    "scenario",
    [
        make_scenario(refresh_s=90.0),
        make_scenario(refresh_s=90.0, publish_s=180.0, scrape_s=60.0),
        make_scenario(refresh_s=90.0, scrape_s=30.0, network=0.7),
        make_scenario(refresh_s=90.0, nodes=5, hours=2.5, faults=(make_fault(FaultKind.DARK, share=0.6),)),
        make_scenario(refresh_s=90.0, faults=(make_fault(FaultKind.DARK, from_s=20.0, until_s=3000.0),)),
    ],
    ids=["plain", "slow", "busy", "some-dark", "all-dark-at-first"],
)
def test_both_ways_lead_to_the_same_readings(scenario: Scenario):
    compared = []

    def compare(plane: MetricsPlane, now_s: float) -> None:
        assert_same(shortly(plane, now_s), in_words(plane, now_s))
        compared.append(now_s)

    make, _ = told(compare)
    replay(joining(build_world(trace(), scenario, 3)), make)
    assert len(compared) == scenario.hours * 40


@pytest.mark.parametrize("kind", [None, *FaultKind], ids=lambda kind: kind.value if kind else "none")
def test_the_short_way_is_taken_only_where_it_leads_to_the_same(kind):
    faults = (make_fault(kind, share=0.5),) if kind else ()
    plane = make_plane(make_world(0.3, nodes=4, faults=faults))
    for now_s in (300.0, 3500.0, 3630.0, 4500.0, 5000.0, 5500.0, 6000.0, 6290.0, 6400.0, 7000.0):
        read = world_readings(plane, POLICY, infos(plane.world), now_s=now_s, readings_id=7)
        assert_same(read, in_words(plane, now_s))


class TestFaults:
    """What becomes of one that lasts from 3600 s to 5400 s on half of four nodes that carry 30 % all the time."""

    def read(self, kind: FaultKind, now_s: float, **fields: object) -> Readings:
        world = make_world(0.3, nodes=4, faults=(make_fault(kind, share=0.5, **fields),))
        return in_words(make_plane(world), now_s)

    def states(self, readings: Readings, metric: str) -> list[int]:
        return sorted(readings.metrics[metric].state.tolist())

    def utilisations(self, readings: Readings, metric: str) -> list[float]:
        return sorted(readings.metrics[metric].utilisation.tolist())

    def test_nothing_is_read_in_an_outage_and_what_was_read_before_ages(self):
        before, during = self.read(FaultKind.OUTAGE, 3570.0), self.read(FaultKind.OUTAGE, 3800.0)
        assert not during.metrics
        carried = carry_over(before, during, interval_s=POLICY.refresh_interval_s)
        assert self.states(carried, CPU) == [ReadingState.STALE] * 4
        late = carry_over(before, self.read(FaultKind.OUTAGE, 4300.0), interval_s=POLICY.refresh_interval_s)
        assert self.states(late, CPU) == [ReadingState.MISSING] * 4

    def test_dark_nodes_are_stale_and_then_missing(self):
        stale = self.read(FaultKind.DARK, 3800.0)
        assert self.states(stale, CPU) == [ReadingState.STALE] * 2 + [ReadingState.OK] * 2
        assert self.utilisations(stale, CPU) == pytest.approx([0.3] * 4)
        missing = self.read(FaultKind.DARK, 4300.0)
        assert self.states(missing, CPU) == [ReadingState.MISSING] * 2 + [ReadingState.OK] * 2

    def test_nan_is_missing(self):
        readings = self.read(FaultKind.NAN, 4500.0)
        for metric in BUILT_IN_METRICS:
            assert self.states(readings, metric) == [ReadingState.MISSING] * 2 + [ReadingState.OK] * 2
        assert readings.oddities.counts["NotFinite"] > 0

    def test_counters_that_are_reset_are_a_little_off(self):
        readings = self.read(FaultKind.COUNTER_RESET, 4500.0, every_s=180.0)
        received = self.utilisations(readings, NETWORK_RECEIVE)
        assert received == [pytest.approx(0.28, abs=0.025)] * 2 + [pytest.approx(0.3)] * 2
        assert received[1] < 0.2999
        assert self.utilisations(readings, CPU) == pytest.approx([0.3] * 4), "idle and busy time lose the same share"
        assert self.utilisations(readings, MEMORY) == pytest.approx([0.3] * 4)

    def test_a_renamed_device_seems_idler_and_idler_until_it_is_gone(self):
        soon = self.utilisations(self.read(FaultKind.RENAMED_DEVICE, 3900.0), NETWORK_RECEIVE)
        assert soon == [pytest.approx(0.2, abs=0.02)] * 2 + [pytest.approx(0.3)] * 2
        gone = self.read(FaultKind.RENAMED_DEVICE, 4600.0)
        assert self.states(gone, NETWORK_RECEIVE) == [ReadingState.MISSING] * 2 + [ReadingState.OK] * 2
        assert self.states(gone, CPU) == [ReadingState.OK] * 4

    def test_frozen_counters_look_like_an_idle_network_while_the_cpu_is_missing(self):
        readings = self.read(FaultKind.FROZEN, 4600.0)
        assert self.utilisations(readings, NETWORK_RECEIVE) == pytest.approx([0, 0, 0.3, 0.3])
        assert self.states(readings, CPU) == [ReadingState.MISSING] * 2 + [ReadingState.OK] * 2
        assert readings.oddities.counts["NotFinite"] == 2
        assert self.utilisations(readings, MEMORY) == pytest.approx([0.3] * 4)

    def test_of_the_cpu_the_mean_of_before_the_freeze_counts_while_a_window_has_seen_it(self):
        readings = self.read(FaultKind.FROZEN, 4300.0)
        assert self.states(readings, CPU) == [ReadingState.OK] * 4
        assert self.utilisations(readings, CPU) == pytest.approx([0.3] * 4)
        short = readings.metrics[CPU].windows[0].utilisation
        assert np.isnan(short).sum() == 2, "the shorter window is frozen as a whole"

    def test_of_an_exporter_whose_clock_stands_as_well_no_rate_is_believed(self):
        readings = self.read(FaultKind.STUCK, 4600.0)
        for metric in (CPU, *NETWORK):
            assert self.states(readings, metric) == [ReadingState.MISSING] * 2 + [ReadingState.OK] * 2
        assert self.utilisations(readings, MEMORY) == pytest.approx([0.3] * 4)

    def test_skewed_clocks_make_samples_seem_fresh_or_old(self):
        ahead, behind = self.read(FaultKind.SKEWED_CLOCK, 4480.0), self.read(FaultKind.SKEWED_CLOCK, 5000.0)
        assert self.states(ahead, MEMORY) == [ReadingState.OK] * 4
        assert self.states(behind, MEMORY) == [ReadingState.STALE] * 4
        assert self.states(ahead, CPU) == [ReadingState.OK] * 4, "only the longer window has seen the clocks being set"
        assert self.utilisations(ahead, CPU) == pytest.approx([0.3] * 4)

    def test_while_clocks_are_set_no_rate_of_those_nodes_is_believed(self):
        readings = self.read(FaultKind.SKEWED_CLOCK, 4000.0)
        assert self.states(readings, CPU) == [ReadingState.MISSING] * 2 + [ReadingState.OK] * 2
        assert self.states(readings, MEMORY) == [ReadingState.OK] * 4


class TestUseByWorkload:
    KEYS = tuple(WorkloadKey(f"default/ReplicaSet/app-{app}") for app in range(3))

    def looks(self, look: Callable[[MetricsPlane, float], None], **fields: object) -> None:
        # Whole steps, in which the demand on nodes is told, and on no node more than it has.
        pods = [make_replica(45.0 * i, app=i % 3, lag_s=30.0 * i, lifetime_s=2010.0) for i in range(20)]
        shares = np.abs(np.sin(np.arange(3 * 4 * 31))).reshape(3, 4, 31) / 20
        make, _ = told(look)
        replay(make_world(0.2, pods=pods, curves=shares, **fields), make)

    def amount(self, plane: MetricsPlane, pod: int, metric: str, started_s: float, now_s: float) -> PodAmount:
        """What Prometheus has of the pod: over the window it counts nothing of before its start."""
        window_s = 0.0 if metric == MEMORY else pods_window_s(POLICY.time_range_s)
        steps = max(1, int(window_s / STEP_S))
        end = int(now_s / STEP_S)
        begin = max(end - steps, int(started_s / STEP_S))
        load = plane.world.load(pod, from_step=begin, until_step=end, started_s=started_s)[at(metric)]
        return PodAmount(str(pod), float(load.sum()) / steps, now_s, window_s)

    def test_it_is_what_the_product_makes_of_the_pods_one_by_one(self):
        compared, young = set(), set()

        def look(plane: MetricsPlane, now_s: float) -> None:
            found = workload_use(plane, POLICY, self.KEYS, now_s=now_s).by_metric
            pods = plane.pods()
            places = {
                str(pod): PodPlace(self.KEYS[app], float(started_s))
                for pod, app, started_s in zip(pods, plane.apps(pods), plane.pods_started_s(pods), strict=True)
            }
            for metric in METRICS:
                amounts = [self.amount(plane, pod, metric, places[str(pod)].started_s, now_s) for pod in pods.tolist()]
                wanted = use_by_workload(metric, amounts, pods=places)
                got = found.get(metric, {})
                assert set(got) == set(wanted)
                for key, used in got.items():
                    assert used == pytest.approx(wanted[key])
                    compared.add((key, used.pods))
            window_s = pods_window_s(POLICY.time_range_s)
            young.update(age_s for age_s in now_s - plane.pods_started_s(pods) if YOUNGEST_S <= age_s < window_s)

        self.looks(look)
        assert {pods for _, pods in compared} > {1, 2, 3, 4}
        assert len(young) > 5, "the window began before they did"

    def test_pods_that_nobody_measures_are_left_out_and_not_taken_for_idle(self):
        seen: dict[float, dict[str, object]] = {}

        def look(plane: MetricsPlane, now_s: float) -> None:
            seen[now_s] = dict(workload_use(plane, POLICY, self.KEYS, now_s=now_s).by_metric)

        self.looks(look, faults=(make_fault(FaultKind.DARK, from_s=600.0, until_s=1200.0),))
        assert set(seen[570.0]) == set(METRICS)
        assert seen[630.0] == {}
        assert set(seen[1230.0]) == set(METRICS)
        assert seen[0.0] == {}, "nothing runs yet"
