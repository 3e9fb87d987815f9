"""The metrics plane knows what the nodes carried as of their last scrapes, averaged over those of a window."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given, settings

from plimsoll.sim.demand import Demand
from plimsoll.sim.engine import replay
from plimsoll.sim.metrics import MetricsPlane
from plimsoll.sim.scenario import FaultKind
from plimsoll.sim.world import CPU_AT, MEMORY_AT, METRICS, RECEIVE_AT, STEP_S
from tests.sim.worlds import CAPACITY, make_fault, make_plane, make_replica, make_world, told

NOON_S = 4500.0
# Rises by as much in every step, so that each mean says over which time it was taken.
RISING = np.arange(480) / 1000


def shares(amounts: np.ndarray) -> np.ndarray:
    return amounts / CAPACITY[:, None]


class TestWithoutFaults:
    @settings(deadline=None)
    @given(
        st.floats(0.01, 0.9),
        st.floats(120, 7190),
        st.sampled_from([60.0, 300.0, 900.0]),
        st.sampled_from([10.0, 15.0, 30.0]),
    )
    def test_the_mean_of_a_constant_load_is_the_load(self, share, now_s, window_s, scrape_s):
        plane = make_plane(make_world(share, scrape_s=scrape_s))
        np.testing.assert_allclose(shares(plane.mean(window_s, now_s)), share)
        np.testing.assert_allclose(shares(plane.latest(now_s)), share)

    @settings(deadline=None)
    @given(
        st.floats(0, 7190),
        st.sampled_from([0.0, 60.0, 180.0]),
        st.sampled_from([15.0, 60.0]),
        st.lists(st.floats(0, 5000), max_size=3),
    )
    def test_no_sample_is_from_after_what_is_to_be_seen_or_from_before_the_node(
        self, now_s, publish_s, scrape_s, joins_s
    ):
        world = make_world(publish_s=publish_s, scrape_s=scrape_s, joins_s=joins_s)
        plane = make_plane(world)
        seen_s, sampled_at_s = plane.seen_s(now_s), plane.sampled_at_s(now_s)
        assert now_s - max(publish_s, 1e-9) < seen_s <= now_s
        joined_s = np.array([node.joins_s for node in world.nodes])
        known = ~np.isnan(sampled_at_s)
        assert (sampled_at_s[known] <= seen_s).all()
        assert (sampled_at_s[known] >= joined_s[known]).all()
        assert (seen_s - sampled_at_s[known] < scrape_s + 1e-6).all()
        assert known[joined_s <= seen_s - scrape_s].all()

    @settings(deadline=None)
    @given(st.floats(1000, 7000), st.sampled_from([300.0, 900.0]))
    def test_a_mean_is_taken_from_the_first_to_the_last_scrape_of_the_window(self, now_s, window_s):
        plane = make_plane(make_world(RISING))
        assume(now_s > window_s)
        last_s = plane.sampled_at_s(now_s)
        middle_s = last_s - plane.covered_s(window_s, now_s) / 2
        assert (plane.covered_s(window_s, now_s) > window_s - 2 * 15.0).all()
        np.testing.assert_allclose(shares(plane.mean(window_s, now_s))[0], (middle_s / STEP_S - 0.5) / 1000, atol=5e-4)

    def test_what_is_published_rarely_is_as_old_as_it_was_then(self):
        plane = make_plane(make_world(RISING, publish_s=180.0))
        for now_s in (3600.0, 3660.0, 3779.0):
            np.testing.assert_array_equal(plane.mean(300.0, now_s), plane.mean(300.0, 3600.0))
            np.testing.assert_array_equal(plane.sampled_at_s(now_s), plane.sampled_at_s(3600.0))
        assert (plane.mean(300.0, 3780.0) > plane.mean(300.0, 3779.0)).all()

    def test_a_node_that_joined_late_is_known_from_its_second_scrape_on_by_what_it_carried_since(self):
        plane = make_plane(make_world(np.where(np.arange(480) < 240, 0.0, 0.6), joins_s=(3600.0,)))
        assert np.isnan(plane.mean(300.0, 3600.0)[:, 0]).all()
        assert np.isnan(plane.sampled_at_s(3600.0)[0])
        assert not np.isnan(plane.mean(300.0, 3600.0)[:, 1:]).any()
        soon = plane.mean(300.0, 3660.0)
        assert shares(soon)[:, 0] == pytest.approx(0.6), "it was idle before, but nobody scraped it"
        assert shares(soon)[0, 1] < 0.2
        assert 15.0 <= plane.covered_s(300.0, 3660.0)[0] < 60.0

    def test_nodes_are_scraped_at_moments_of_their_own(self):
        plane = make_plane(make_world(nodes=10))
        assert len(set(plane.sampled_at_s(NOON_S) % 15)) == 10

    def test_no_node_carries_more_than_it_can(self):
        plane = make_plane(make_world(1.7))
        assert shares(plane.mean(300.0, NOON_S)) == pytest.approx(1.0)
        assert shares(plane.latest(NOON_S)) == pytest.approx(1.0)


class TestPods:
    def test_running_pods_are_known_with_what_they_use(self):
        seen = {}

        def look(plane: MetricsPlane, now_s: float) -> None:
            pods = plane.pods()
            use = plane.pod_use(pods, 300.0, now_s) / CAPACITY
            seen[now_s] = (dict(zip(pods.tolist(), use.tolist(), strict=True)), plane.apps(pods).tolist())

        pods = [make_replica(100.0, lifetime_s=900.0), make_replica(700.0, app=1)]
        make, _ = told(look)
        replay(make_world(pods=pods, curves=((0.1, 0.2, 0.3, 0.4), (0.2,) * 4)), make)
        assert seen[90.0] == ({}, [])
        assert np.isnan(list(seen[120.0][0].values())).all(), "started at 130 s"
        assert seen[600.0][0] == {0: pytest.approx([0.1, 0.2, 0.3, 0.4])}
        assert seen[900.0] == ({0: pytest.approx([0.1, 0.2, 0.3, 0.4]), 1: pytest.approx([0.2] * 4)}, [0, 1])
        assert list(seen[1200.0][0]) == [1]

    def test_what_an_overloaded_node_does_not_give_is_not_used(self):
        world = make_world(1.5, pods=[make_replica()], curves=((0.5,) * 4,))
        demand = Demand(world)
        plane = MetricsPlane(world, demand, np.random.default_rng(0))
        demand.put(0, 0, started_s=0.0, ends_s=3600.0)
        plane.started(0, 0, now_s=0.0)
        use = plane.pod_use(plane.pods(), 300.0, 1800.0)[0] / CAPACITY
        assert use == pytest.approx([0.25, 0.5, 0.25, 0.25]), "memory is given, or the pod is killed"

    def test_a_window_that_began_before_the_pod_is_no_reason_to_call_it_light(self):
        world = make_world(pods=[make_replica()], curves=((0.4,) * 4,))
        plane = make_plane(world)
        plane.started(0, 0, now_s=1000.0)
        assert plane.pod_use(plane.pods(), 300.0, 1060.0)[0] / CAPACITY == pytest.approx(0.4)

    def test_the_mean_use_is_that_of_the_load_in_the_window(self):
        rising = np.repeat(np.linspace(0, 0.3, 31)[None], 4, axis=0)[None]
        world = make_world(pods=[make_replica(lifetime_s=7000.0)], curves=rising)
        plane = make_plane(world)
        plane.started(0, 0, now_s=15.0)
        for now_s, window_s in ((3000.0, 300.0), (3105.0, 900.0), (7185.0, 900.0)):
            steps = world.load(
                0, from_step=int((now_s - window_s) / STEP_S), until_step=int(now_s / STEP_S), started_s=15
            )
            use = plane.pod_use(plane.pods(), window_s, now_s)[0]
            np.testing.assert_allclose(use, steps.mean(axis=1), rtol=1e-9)


class TestFaults:
    """One that lasts from 3600 s to 5400 s."""

    def plane(self, kind: FaultKind, background: object = RISING, **fields: object) -> MetricsPlane:
        return make_plane(make_world(background, nodes=4, faults=(make_fault(kind, **fields),)))

    def true(self) -> MetricsPlane:
        return make_plane(make_world(RISING, nodes=4))

    @pytest.mark.parametrize("kind", FaultKind, ids=lambda kind: kind.value)
    def test_before_and_long_after_it_everything_is_as_it_is(self, kind):
        plane, true = self.plane(kind), self.true()
        for now_s in (3590.0, 6400.0):
            np.testing.assert_array_equal(plane.mean(300.0, now_s), true.mean(300.0, now_s))
            np.testing.assert_array_equal(plane.latest(now_s), true.latest(now_s))
            np.testing.assert_array_equal(plane.sampled_at_s(now_s), true.sampled_at_s(now_s))

    def test_half_of_the_nodes_have_it_where_half_are_wanted_and_the_world_decides_which(self):
        one, other = (self.plane(FaultKind.NAN, share=0.5) for _ in range(2))
        broken = np.isnan(one.mean(300.0, NOON_S)[0])
        assert broken.sum() == 2
        np.testing.assert_array_equal(np.isnan(other.mean(300.0, NOON_S)[0]), broken)

    def test_in_an_outage_what_was_told_last_stays_and_ages(self):
        plane = self.plane(FaultKind.OUTAGE)
        assert not plane.answers(NOON_S)
        assert plane.answers(3599.0)
        np.testing.assert_array_equal(plane.mean(300.0, NOON_S), self.true().mean(300.0, 3600.0))
        assert (plane.sampled_at_s(NOON_S) <= 3600.0).all()

    def test_dark_nodes_are_known_until_the_window_has_left_their_last_samples(self):
        plane = self.plane(FaultKind.DARK)
        assert (plane.sampled_at_s(NOON_S) <= 3600.0).all()
        assert np.isnan(plane.latest(3630.0)).all()
        assert not np.isnan(plane.mean(300.0, 3800.0)).any()
        assert np.isnan(plane.mean(300.0, 3901.0)).all()
        assert not np.isnan(plane.mean(300.0, 5460.0)).any()

    def test_no_number_is_told_of_nodes_whose_values_are_none(self):
        plane = self.plane(FaultKind.NAN)
        for told_values in (plane.mean(300.0, NOON_S), plane.latest(NOON_S)):
            assert np.isnan(told_values).all()
        assert (plane.sampled_at_s(NOON_S) > NOON_S - 15).all()

    def test_counters_that_are_reset_lose_what_no_scrape_has_seen(self):
        told_mean = self.plane(FaultKind.COUNTER_RESET, every_s=150.0).mean(300.0, NOON_S)
        lost = 1 - told_mean / self.true().mean(300.0, NOON_S)
        assert lost[[CPU_AT, RECEIVE_AT]] == pytest.approx(0.05), "half a scrape interval in ten"
        assert lost[MEMORY_AT] == pytest.approx(0), "memory is no counter"

    def test_of_a_renamed_device_nothing_is_known(self):
        told_mean = self.plane(FaultKind.RENAMED_DEVICE).mean(300.0, NOON_S)
        unknown = np.isnan(told_mean).all(axis=1)
        assert [name for name, gone in zip(METRICS, unknown, strict=True) if gone] == [
            "networkReceive",
            "networkTransmit",
        ]

    @pytest.mark.parametrize("kind", [FaultKind.FROZEN, FaultKind.STUCK], ids=lambda kind: kind.value)
    def test_frozen_exporters_tell_the_same_as_if_it_were_new(self, kind):
        plane = self.plane(kind)
        np.testing.assert_array_equal(plane.mean(300.0, NOON_S), self.true().mean(300.0, 3600.0))
        assert (plane.sampled_at_s(NOON_S) > NOON_S - 15).all()

    def test_skewed_clocks_are_by_turns_ahead_and_behind(self):
        apart_s = self.plane(FaultKind.SKEWED_CLOCK).sampled_at_s(NOON_S) - self.true().sampled_at_s(NOON_S)
        assert sorted(apart_s) == pytest.approx([-240.0, -240.0, 240.0, 240.0])

    @pytest.mark.parametrize("kind", [FaultKind.DARK, FaultKind.NAN], ids=lambda kind: kind.value)
    def test_of_pods_on_dark_nodes_nothing_is_known(self, kind):
        plane = make_plane(make_world(pods=[make_replica()], faults=(make_fault(kind),)))
        plane.started(0, 0, now_s=1000.0)
        assert not np.isnan(plane.pod_use(plane.pods(), 300.0, 3500.0)).any()
        assert np.isnan(plane.pod_use(plane.pods(), 300.0, 3700.0)).all()
