from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.policy.compiled import CPU, MEMORY, NETWORK_RECEIVE, NETWORK_TRANSMIT
from plimsoll.sim.engine import Outcome, replay
from plimsoll.sim.landing import largest_herd, siblings_together
from plimsoll.sim.measures import BY_KEY, MEASURES
from plimsoll.sim.scorecard import CURVE_STEP_S, Scorecard, scorecard
from tests.sim.worlds import at, make_replica, make_world, told

_METRICS = (CPU, MEMORY, NETWORK_RECEIVE, NETWORK_TRANSMIT)


def card_of(background: object = 0.0, **fields: object) -> Scorecard:
    """Of a world without pods: its nodes carry what they are told to."""
    make, _ = told()
    return scorecard(replay(make_world(background, **fields), make))


def shares(steps: int = 480, nodes: int = 2, **by_metric: float | Sequence[float]) -> np.ndarray:
    """[M, N, K] of the given share of capacity, per node where a sequence is given."""
    load = np.zeros((4, nodes, steps))
    for metric, share in by_metric.items():
        load[at(metric)] = np.broadcast_to(np.array(share, dtype=float)[..., None], (nodes, steps))
    return load


def placed(*stays: tuple[int, int, float, float], origin: Sequence[int] = ()) -> Outcome:
    """Args:
    stays: app, node (-1: nowhere), placed and ended, in seconds.
    origin: of each of them; none came anew, if not given.
    """
    world = make_world(pods=[make_replica(app=app) for app, _, _, _ in stays], curves=((0.0,) * 4,) * 9)
    columns = [list(column) for column in zip(*stays, strict=True)]
    _, node, placed_s, ended_s = columns
    return Outcome(
        world,
        world.background,
        origin=list(origin or range(len(stays))),
        node=node,
        placed_s=placed_s,
        started_s=placed_s,
        ended_s=ended_s,
    )


# -- load --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metric", "key"),
    list(zip(_METRICS, ("unserved_cpu", "unserved_memory", "unserved_receive", "unserved_transmit"), strict=True)),
)
def test_unserved_is_the_demand_above_capacity_in_percent_of_all_demand(metric, key):
    card = card_of(shares(**{metric: (1.5, 0.5)}), nodes=2)
    assert card.values[key] == pytest.approx(100 * 0.5 / 2.0)


def test_what_nobody_asks_for_is_not_a_number():
    assert math.isnan(card_of(nodes=2).values["unserved_cpu"])


@pytest.mark.parametrize(
    ("load", "hot"),
    [
        ({CPU: (0.81, 0.1)}, {"hot": 50, "hot_cpu": 50, "hot_memory": 0, "hot_network": 0}),
        ({CPU: (0.79, 0.79)}, {"hot": 0, "hot_cpu": 0}),
        ({CPU: (0.9, 0.0), MEMORY: (0.9, 0.9)}, {"hot": 100, "hot_cpu": 50, "hot_memory": 100}),
        ({NETWORK_RECEIVE: (0.9, 0.0), NETWORK_TRANSMIT: (0.0, 0.9)}, {"hot": 100, "hot_network": 100}),
        ({NETWORK_RECEIVE: (0.5, 0.5), NETWORK_TRANSMIT: (0.5, 0.5)}, {"hot": 0, "hot_network": 0}),
        ({MEMORY: (1.2, 0.9)}, {"over": 50, "over_memory": 50, "over_cpu": 0, "hot": 100}),
    ],
    ids=["one node", "just below", "two resources", "either direction", "directions are not added", "over capacity"],
)
def test_a_node_is_hot_by_whatever_is_above_80_percent(load, hot):
    values = card_of(shares(**load), nodes=2).values
    assert {key: values[key] for key in hot} == pytest.approx(hot)


def test_hot_minutes_are_told_over_time_too():
    load = shares(nodes=2)
    load[at(CPU), 0, :60] = 0.9
    curve = card_of(load, nodes=2).hot_curve
    assert curve == pytest.approx([50.0, *[0.0] * 7])
    assert len(curve) * CURVE_STEP_S == 2 * 3600


@pytest.mark.parametrize(
    "life", [{"joins_s": (3600.0,)}, {"drains_s": (3600.0,)}], ids=["before it joins", "after it is drained"]
)
def test_a_node_counts_only_while_it_is_part_of_the_cluster(life):
    card = card_of(shares(**{CPU: (0.9, 0.0, 0.0)}, nodes=3), nodes=3, **life)
    assert card.values["hot"] == pytest.approx(100 * 1 / 5)
    assert card.values["mean_cpu"] == pytest.approx(90 * 1 / 5)


def test_how_even_nodes_are():
    values = card_of(shares(**{CPU: (0.6, 0.2), MEMORY: 0.3}), nodes=2).values
    assert values["stddev_cpu"] == pytest.approx(20)
    assert values["jain_cpu"] == pytest.approx(0.8**2 / (2 * (0.6**2 + 0.2**2)))
    assert values["stddev_memory"] == pytest.approx(0, abs=1e-6)
    assert values["jain_memory"] == pytest.approx(1)
    assert values["fullest"] == pytest.approx(60)
    assert values["mean_cpu"] == pytest.approx(40)


def test_every_measure_has_a_value_and_every_value_a_measure():
    assert card_of(nodes=2).values.keys() == BY_KEY.keys()
    assert len(BY_KEY) == len(MEASURES)


@given(st.lists(st.floats(0, 3), min_size=2, max_size=6))
def test_shares_are_between_nothing_and_all(load):
    values = card_of(shares(nodes=len(load), **{CPU: load}), nodes=len(load)).values
    percent = [values[m.key] for m in MEASURES if m.key.startswith(("unserved", "hot", "over")) and m.unit == "%"]
    assert all(math.isnan(value) or 0 <= value <= 100 for value in percent)
    assert values["over"] <= values["hot"]
    assert 0 < values["jain_cpu"] <= 1 + 1e-9


# -- pods --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stays", "share"),
    [
        ([(0, 0, 0, 100), (0, 0, 50, 150), (1, 0, 0, 100)], 2 / 3),
        ([(0, 0, 0, 100), (0, 1, 0, 100)], 0),
        ([(0, 0, 0, 100), (0, 0, 100, 200)], 0),
        ([(0, 0, 0, math.nan), (0, 0, 5000, math.nan)], 1),
        ([(0, 0, 0, 1000), (0, 0, 10, 20), (0, 0, 500, 600)], 1),
        ([(0, -1, math.nan, math.nan), (0, 0, 0, 100)], 0),
    ],
    ids=["two of three", "other nodes", "one after the other", "still there", "around both", "never placed"],
)
def test_replicas_are_together_while_they_are_on_one_node(stays, share):
    assert siblings_together(placed(*stays)) == pytest.approx(share)


@pytest.mark.parametrize(
    ("times", "nodes", "share"),
    [
        (range(10), [0] * 9 + [1], 0.9),
        ([*range(10), *range(1000, 1010)], [*range(10), *[3] * 10], 1.0),
        (range(0, 400, 40), [0] * 10, math.nan),
        (range(9), [0] * 9, math.nan),
    ],
    ids=["nine of ten", "the worst burst", "too slow for a burst", "too few for a burst"],
)
def test_a_herd_is_a_burst_that_lands_on_one_node(times, nodes, share):
    herd = largest_herd(np.array(times, dtype=float), np.array(nodes))
    assert herd == pytest.approx(share, nan_ok=True)


def test_a_pod_that_was_never_placed_is_named():
    card = scorecard(placed((0, 0, 10, 100), (0, -1, math.nan, math.nan)))
    assert card.unplaced == (1,)
    assert card.values["unplaced"] == 1
    assert card.values["wait"] == 10


def test_a_pod_that_came_anew_and_found_no_node_is_named_by_the_one_that_was_evicted():
    nowhere = (0, -1, math.nan, math.nan)
    card = scorecard(placed((0, 0, 10, 100), (0, 0, 10, 50), nowhere, nowhere, origin=(0, 1, 2, 1)))
    assert card.unplaced == (1, 2)
    assert card.values["unplaced"] == 2


def test_a_pod_that_was_evicted_and_found_another_node_was_placed():
    card = scorecard(placed((0, 0, 10, 50), (0, 1, 60, 100), origin=(0, 0)))
    assert card.unplaced == ()
