"""A replay brings every pod from its arrival to its end, and nothing else changes what nodes are asked to carry."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.sim.engine import Outcome, replay
from plimsoll.sim.world import STEP_S, Owner, World
from tests.sim.worlds import CAPACITY, make_replica, make_world, told

RISING = np.repeat(np.linspace(0, 0.3, 31)[None], 4, axis=0)[None]


def replayed(world: World) -> Outcome:
    make, _ = told()
    return replay(world, make)


def test_a_pod_arrives_is_placed_starts_and_ends_in_this_order():
    world = make_world(pods=[make_replica(10.0 * i, ready_s=20.0 + i, lifetime_s=600.0 + i) for i in range(12)])
    make, made = told()
    outcome = replay(world, make)
    for pod, replica in enumerate(world.pods):
        lived = [(what, now_s) for what, of, now_s in made[0].events if of == pod]
        assert lived == [
            ("arrived", replica.arrives_s),
            ("placed", replica.arrives_s),
            ("started", replica.arrives_s + replica.ready_s),
            ("ended", replica.arrives_s + replica.ready_s + replica.lifetime_s),
        ]
        assert outcome.placed_s[pod] == replica.arrives_s
        assert outcome.ended_s[pod] - outcome.started_s[pod] == pytest.approx(replica.lifetime_s)


def test_what_outlives_the_world_does_not_end_in_it():
    outcome = replayed(make_world(pods=[make_replica(6000.0, lifetime_s=9000.0)]))
    assert outcome.started_s == [6030.0]
    assert np.isnan(outcome.ended_s[0])


def test_metrics_are_refreshed_all_the_time():
    at_s: list[float] = []
    make, _ = told(lambda _plane, now_s: at_s.append(now_s))
    replay(make_world(hours=1.0, refresh_s=45.0), make)
    assert at_s == list(np.arange(0, 3600, 45.0))


@pytest.mark.parametrize("owner", Owner, ids=lambda owner: owner.value)
def test_nodes_are_asked_for_what_their_pods_demand_and_nothing_else(owner):
    pods = [make_replica(77.0 * i, lifetime_s=500.0 * (1 + i % 4), owner=owner, lag_s=100.0 * i) for i in range(9)]
    world = make_world(0.1, pods=pods, curves=RISING, drains_s=(1500.0,))
    outcome = replayed(world)
    expected = world.background.copy()
    for pod, node in enumerate(outcome.node):
        started_s, ended_s = outcome.started_s[pod], outcome.ended_s[pod]
        if np.isnan(started_s):
            continue
        steps = [int(np.ceil(s / STEP_S)) for s in (started_s, ended_s)]
        expected[:, node, steps[0] : steps[1]] += outcome.world.load(
            pod, from_step=steps[0], until_step=steps[1], started_s=started_s
        )
    np.testing.assert_allclose(outcome.demand, expected, atol=1e-6)


class TestDrains:
    def drained(self, owner: Owner = Owner.SERVICE) -> Outcome:
        pods = [make_replica(60.0 * i, lifetime_s=3000.0, owner=owner, lag_s=60.0) for i in range(8)]
        return replayed(make_world(pods=pods, curves=RISING, drains_s=(1200.0, 1800.0)))

    def test_nothing_is_placed_on_a_node_after_it_was_drained(self):
        outcome = self.drained()
        for node, described in enumerate(outcome.world.nodes):
            placed_s = [s for s, on in zip(outcome.placed_s, outcome.node, strict=True) if on == node]
            assert placed_s, "every node had some pod"
            assert max(placed_s) < described.drains_s

    def test_nothing_runs_there_any_more(self):
        outcome = self.drained()
        share = outcome.demand[:, 0] / CAPACITY[:, None]
        assert share[:, int(1200 / STEP_S) :].max() == pytest.approx(0, abs=1e-9)
        assert share[:, : int(1200 / STEP_S)].max() > 0.1

    def test_the_pods_come_anew_for_the_rest_of_their_lives(self):
        outcome = self.drained()
        assert len(outcome.node) == len(outcome.world.pods) > 8
        ran = np.array(outcome.ended_s) - np.array(outcome.started_s)
        assert np.nansum(ran) == pytest.approx(8 * 3000.0)

    def test_a_pod_that_comes_anew_is_known_by_the_one_that_arrived(self):
        pods = [make_replica(60.0 * i, request=(i + 1.0, 0.0)) for i in range(4)]
        outcome = replayed(make_world(nodes=3, pods=pods, curves=RISING, drains_s=(1200.0, 1230.0)))
        assert outcome.origin[:4] == [0, 1, 2, 3]
        assert sorted(outcome.origin[4:]) == [0, 0, 1, 3], "the first one was evicted twice"
        requests = [pod.request for pod in outcome.world.pods]
        assert [requests[pod] for pod in outcome.origin] == requests

    def test_a_job_goes_on_where_it_was_in_its_load(self):
        pod = make_replica(lifetime_s=3000.0, owner=Owner.JOB)
        world = make_world(nodes=2, pods=[pod], curves=RISING, drains_s=(1230.0,))
        outcome = replayed(world)
        assert outcome.node == [0, 1]
        at_rest = outcome.demand[0].sum(axis=0)[[int(1215 / STEP_S), int(1275 / STEP_S)]]
        assert at_rest == pytest.approx([CAPACITY[0] * 0.03, CAPACITY[0] * 0.04]), "300 s are one slot of its load"

    def test_a_pod_that_had_not_started_has_all_of_its_life_before_it(self):
        outcome = replayed(make_world(nodes=2, pods=[make_replica(1190.0, ready_s=60.0)], drains_s=(1200.0,)))
        assert outcome.node == [0, 1]
        assert np.isnan(outcome.started_s[0])
        assert outcome.ended_s[1] - outcome.started_s[1] == 1800.0


def test_the_world_is_left_as_it_was_built():
    world = make_world(pods=[make_replica()], drains_s=(300.0,))
    before = list(world.pods)
    outcome = replayed(world)
    assert world.pods == before
    assert len(outcome.world.pods) == 2
