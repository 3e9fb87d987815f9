from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.load.readings import Readings
from plimsoll.policy.compiled import Placement
from tests.builders import make_node, make_pod, make_policy, make_readings
from tests.scheduling.conftest import World

LOAD_ALONE = Placement(load=1, requests=0, spreading=0, preferences=0)
LOADS = st.lists(st.floats(0, 1.4), min_size=4, max_size=8)
AGES_S = st.sampled_from([0.0, 60.0, 180.0, 300.0, 450.0, 599.0])


_LOST_S = 601.0


def _readings(loads: list[float], *, metric: str, age_s: float) -> Readings:
    """All fresh but the first node, which was last seen so long ago."""
    by_node = {metric: {f"n{i}": load for i, load in enumerate(loads)}}
    fresh, aged = (make_readings(by_node, age_s=age).metrics[metric] for age in (0.0, age_s))
    first = np.arange(len(loads)) == 0
    arrays = {
        name: np.where(first, getattr(aged, name), getattr(fresh, name))
        for name in ("utilisation", "value", "capacity", "sampled_at_s", "state")
    }
    readings = make_readings(by_node)
    return replace(readings, metrics={metric: replace(fresh, **arrays)})


def _scores(loads: list[float], *, metric: str, age_s: float) -> dict[str, float]:
    world = World()
    world.nodes(*(make_node(f"n{i}") for i in range(len(loads))))
    world.policies(make_policy("p", weights={metric: 1}, placement=LOAD_ALONE))
    world.scheduler.readings_taken("p", _readings(loads, metric=metric, age_s=age_s), now_s=world.now_s)
    overview = world.scheduler.overview("p", now_s=world.now_s)
    assert overview is not None
    return {node.node: node.score for node in overview.nodes if node.score is not None}


@pytest.mark.parametrize("metric", ["cpu", "networkReceive"])
@given(loads=LOADS, age_s=AGES_S)
def test_a_sample_that_ages_never_raises_the_score(metric: str, loads: list[float], age_s: float) -> None:
    fresh, faded = (_scores(loads, metric=metric, age_s=age) for age in (0.0, age_s))
    assert faded["n0"] <= fresh["n0"] + 1e-6


@pytest.mark.parametrize("metric", ["cpu", "networkReceive"])
@given(loads=LOADS)
def test_a_node_without_readings_is_worse_than_a_typical_one(metric: str, loads: list[float]) -> None:
    scores = _scores(loads, metric=metric, age_s=_LOST_S)
    others = sorted(score for name, score in scores.items() if name != "n0")
    assert scores["n0"] <= others[len(others) // 2] + 1e-6


def test_one_unmeasured_node_does_not_take_all_pods(world: World) -> None:
    world.nodes(*(make_node(f"n{i}") for i in range(4)))
    world.policies(make_policy("p", weights={"networkReceive": 1}))
    world.readings("p", {"networkReceive": {"n0": None, "n1": 0.3, "n2": 0.35, "n3": 0.4}})
    placed = [world.places(make_pod().owner("Job", f"job-{i}")) for i in range(20)]
    assert placed.count("n0") < 5


def test_a_changed_weight_forgets_no_overload(world: World) -> None:
    world.nodes(make_node("n1"), make_node("n2"))
    world.policies(make_policy("p", weights={"cpu": 1}, limits={"cpu": 0.9}, placement=LOAD_ALONE))
    world.readings("p", {"cpu": {"n1": 0.95, "n2": 0.88}})
    world.readings("p", {"cpu": {"n1": 0.87, "n2": 0.88}})
    assert world.probe(make_pod().cpu("1m")).node == "n2", "n1 is not below the limit by enough yet"
    world.policies(make_policy("p", weights={"cpu": 2}, limits={"cpu": 0.9}, placement=LOAD_ALONE, generation=2))
    assert world.probe(make_pod().cpu("1m")).node == "n2"
