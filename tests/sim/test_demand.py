"""What is put on a node is demanded there while it runs; nothing is lost between what is carried and what is not."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings

from plimsoll.sim.demand import Demand
from plimsoll.sim.world import STEP_S, Owner, World
from tests.sim.worlds import CAPACITY, make_replica, make_world

HORIZON_S = 7200.0
times = st.floats(0, HORIZON_S, allow_nan=False)
lives = st.tuples(times, st.floats(1, 4000), st.integers(0, 2), st.sampled_from(Owner))


def world_of(pods: list[tuple[float, float, int, Owner]], *, background: float = 0.3) -> World:
    wave = np.abs(np.sin(np.arange(31))) * np.array([0.2, 0.1, 0.4, 0.3])[:, None]
    replicas = [make_replica(at_s, lifetime_s=life_s, owner=owner) for at_s, life_s, _, owner in pods]
    return make_world(background, pods=replicas, curves=wave[None])


def put(demand: Demand, pods: list[tuple[float, float, int, Owner]]) -> None:
    for pod, (at_s, life_s, node, _) in enumerate(pods):
        demand.put(pod, node, started_s=at_s, ends_s=at_s + life_s)


@settings(deadline=None)
@given(st.lists(lives, max_size=5))
def test_what_is_carried_and_what_is_not_make_up_the_demand(pods):
    world = world_of(pods)
    demand = Demand(world)
    put(demand, pods)
    carried = demand.carried(0, world.steps)
    unserved = np.maximum(demand.amount - world.capacity[:, :, None], 0)
    np.testing.assert_allclose(carried + unserved, demand.amount, rtol=1e-12)


@settings(deadline=None)
@given(st.lists(lives, min_size=1, max_size=5))
def test_what_is_put_and_taken_again_leaves_nothing(pods):
    world = world_of(pods)
    demand = Demand(world)
    put(demand, pods)
    for pod, (at_s, life_s, node, _) in enumerate(pods):
        demand.take(pod, node, started_s=at_s, from_s=at_s, ends_s=at_s + life_s)
    np.testing.assert_allclose(demand.amount / world.capacity[:, :, None], 0.3, atol=1e-9)


@settings(deadline=None)
@given(lives, st.floats(0, 1))
def test_what_is_taken_early_was_demanded_until_then_only(life, part):
    world = world_of([life], background=0.0)
    at_s, life_s, node, _ = life
    until_s = at_s + part * life_s
    short, taken = Demand(world), Demand(world)
    short.put(0, node, started_s=at_s, ends_s=until_s)
    taken.put(0, node, started_s=at_s, ends_s=at_s + life_s)
    taken.take(0, node, started_s=at_s, from_s=until_s, ends_s=at_s + life_s)
    np.testing.assert_allclose(taken.amount, short.amount, atol=1e-9)


@settings(deadline=None)
@given(st.lists(lives, max_size=4), st.lists(times, min_size=1, max_size=6))
def test_sums_of_what_was_carried_are_those_of_the_steps_whenever_they_are_asked_for(pods, moments):
    world = world_of(pods)
    demand = Demand(world)
    put(demand, pods)
    for moment_s in sorted(moments):
        found = demand.carried_until(np.full(3, moment_s))
        whole = int(moment_s / STEP_S)
        steps = demand.carried(0, world.steps)
        part = steps[:, :, min(whole, world.steps - 1)] * (moment_s - whole * STEP_S if whole < world.steps else 0)
        np.testing.assert_allclose(found, steps[:, :, :whole].sum(axis=2) * STEP_S + part, rtol=1e-9, atol=1e-6)


def test_what_comes_later_does_not_change_what_was_carried():
    world = make_world(0.2, pods=[make_replica(lifetime_s=3600.0)], curves=((0.5,) * 4,))
    demand = Demand(world)
    before = demand.carried_until(np.full(3, 1000.0))
    demand.put(0, 1, started_s=1000.0, ends_s=4600.0)
    np.testing.assert_array_equal(demand.carried_until(np.full(3, 1000.0)), before)
    grown = demand.carried_until(np.full(3, 1300.0)) - before
    first_step_s = np.ceil(1000.0 / STEP_S) * STEP_S
    np.testing.assert_allclose(grown[:, 0], CAPACITY * 0.2 * 300)
    np.testing.assert_allclose(grown[:, 1], CAPACITY * (0.2 * 300 + 0.5 * (1300 - first_step_s)))


def test_a_job_begins_at_its_own_begin_and_a_service_is_where_its_app_is():
    rising = np.repeat(np.arange(31)[None] / 100, 4, axis=0)[None]
    pods = [make_replica(owner=owner, lag_s=600.0) for owner in (Owner.JOB, Owner.SERVICE)]
    world = make_world(pods=pods, curves=rising)
    job, service = (world.load(pod, from_step=240, until_step=241, started_s=3600.0)[0, 0] for pod in (0, 1))
    assert job == CAPACITY[0] * 0.02, "600 s into its curve"
    assert service == CAPACITY[0] * 0.16, "an hour after the start of the world, 600 s behind its app"
