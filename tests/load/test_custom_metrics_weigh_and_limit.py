from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from plimsoll.cluster.cache import Cache
from plimsoll.load.entry import Entry
from plimsoll.load.estimate import PolicyLoad
from plimsoll.load.readings import Readings
from plimsoll.load.stays import stays_on
from plimsoll.policy.compiled import Formula, Goal, Metric, Policy
from plimsoll.scores.load import least_loaded, load_term
from tests.builders import make_cache, make_load, make_node, make_pod
from tests.load.answers import NOW_S, Answering, policy_of

NODES = tuple(make_node(f"n{i}") for i in range(1, 5))
# 20 is idle, 120 is full; a pod adds 10.
HOT = Metric("heat", 1, query="heat", min=20.0, max=120.0, limit=90.0, per_pod=10.0)
COLD = Metric("heat", 1, query="heat", goal=Goal.MAXIMIZE, min=20.0, max=120.0, limit=50.0, per_pod=10.0)
POD = make_pod().info()


@pytest.fixture
def cache() -> Cache:
    return make_cache(NODES)


def policy(metric: Metric, **fields: Any) -> Policy:
    return policy_of(metrics=(metric,), **fields)


def measured(of: Policy, values: Mapping[str, float], *, ages_s: Mapping[str, float] | None = None) -> Readings:
    answering = Answering()
    for node, value in values.items():
        answering.target(node, age_s=(ages_s or {}).get(node, 10.0)).answering("heat", value, node=node)
    return answering.read(of, NODES)


def loaded(cache: Cache, metric: Metric, *values: float, entries: list[Entry] | None = None) -> PolicyLoad:
    """By the values of n1, n2, and so on; the others are not measured."""
    of = policy(metric)
    names = [node.info().name for node in NODES]
    return make_load(cache, of, measured(of, dict(zip(names, values, strict=False))), entries or [])


def over(load: PolicyLoad, cache: Cache) -> list[bool]:
    return [bool(refused) for refused in load.over_limits(cache.view, POD)]


# -- what a node carries --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metric", "want"),
    [
        pytest.param(HOT, [0.1, 0.6, 0.8, 1.1], id="it comes on top of what is to be little"),
        pytest.param(COLD, [1.1, 0.6, 0.4, 0.1], id="it is taken from what is to be much"),
        pytest.param(replace(HOT, per_pod=0.0), [0.0, 0.5, 0.7, 1.0], id="of nothing is known nothing"),
    ],
)
def test_a_pod_is_counted_with_what_it_adds(cache: Cache, metric: Metric, want: list[float]) -> None:
    load = loaded(cache, metric, 20.0, 70.0, 90.0, 120.0)
    assert load.projected(cache.view, POD)[0].tolist() == pytest.approx(want)


def test_requests_say_nothing_about_a_custom_metric(cache: Cache) -> None:
    load = loaded(cache, HOT, 20.0, 70.0, 90.0, 120.0)
    huge = make_pod().requests(cpu="16", memory="64Gi").info()
    assert load.projected(cache.view, huge).tolist() == load.projected(cache.view, POD).tolist()


def test_pods_whose_load_does_not_show_yet_are_counted_with_it_too(cache: Cache) -> None:
    flying = [Entry(make_pod(f"f{i}").on("n2").info(), NOW_S - 5, None) for i in range(3)]
    load = loaded(cache, HOT, 20.0, 20.0, 20.0, 20.0, entries=flying)
    assert load.projected(cache.view, None)[0].tolist() == pytest.approx([0.0, 0.3, 0.0, 0.0])


def test_a_node_that_is_not_measured_is_presumed_a_little_worse_than_the_median(cache: Cache) -> None:
    cache.put_pod(make_pod().requests(cpu="15").on("n4").info())
    load = loaded(cache, HOT, 40.0, 60.0, 110.0)
    assert load.projected(cache.view, None)[0, 3] == pytest.approx(0.4 + 0.1)


def test_so_is_a_new_one_since_zero_is_an_end_of_the_scale_and_not_the_absence_of_load() -> None:
    cache = make_cache(NODES[:3])
    cache.put_node(replace(NODES[3].info(), created_s=NOW_S - 1))
    load = loaded(cache, HOT, 40.0, 60.0, 110.0)
    assert load.projected(cache.view, None)[0, 3] == pytest.approx(0.4 + 0.1)


# -- limits ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metric", "want"),
    [
        pytest.param(HOT, [False, False, True, True], id="above it"),
        pytest.param(COLD, [True, True, False, False], id="below it with Maximize"),
        pytest.param(replace(HOT, per_pod=0.0), [False, False, False, True], id="a pod of which nothing is known"),
        pytest.param(replace(HOT, limit=None), [False, False, False, False], id="none is set"),
        pytest.param(replace(HOT, limit=0.0), [True, True, True, True], id="below the scale"),
        pytest.param(replace(HOT, limit=900.0), [False, False, False, False], id="beyond the scale"),
        pytest.param(replace(HOT, min=None, max=None), [False, False, True, True], id="where the scale is estimated"),
        pytest.param(replace(COLD, min=None, max=None), [True, True, False, False], id="and with Maximize"),
        pytest.param(replace(HOT, min=None), [False, False, True, True], id="with max alone"),
    ],
)
def test_a_node_is_refused_where_its_value_with_the_pod_is_beyond_the_limit(
    cache: Cache, metric: Metric, want: list[bool]
) -> None:
    assert over(loaded(cache, metric, 30.0, 50.0, 85.0, 100.0), cache) == want


def test_pods_in_flight_bring_a_node_to_its_limit(cache: Cache) -> None:
    flying = [Entry(make_pod(f"f{i}").on("n1").info(), NOW_S - 5, None) for i in range(4)]
    assert over(loaded(cache, HOT, 45.0, 45.0, 45.0, 45.0, entries=flying), cache) == [True, False, False, False]


def test_a_node_without_the_metric_is_not_refused_by_its_limit(cache: Cache) -> None:
    assert over(loaded(cache, HOT, 100.0, 100.0, 100.0), cache) == [True, True, True, False]


@pytest.mark.parametrize(
    ("metric", "path", "want"),
    [
        pytest.param(
            replace(HOT, per_pod=0.0), [91.0, 86.0, 84.0], [True, True, False], id="5 % of the scale below the limit"
        ),
        pytest.param(replace(COLD, per_pod=0.0), [49.0, 54.0, 56.0], [True, True, False], id="above it with Maximize"),
        pytest.param(
            replace(HOT, per_pod=0.0, min=None, max=None),
            [91.0, 86.0, 85.0],
            [True, True, False],
            id="5 % of the limit where the scale is estimated",
        ),
        pytest.param(
            replace(HOT, per_pod=0.0), [86.0, 91.0, 86.0], [False, True, True], id="only where it was passed before"
        ),
    ],
)
def test_a_limit_that_was_passed_holds_until_the_value_is_clearly_within_it(
    cache: Cache, metric: Metric, path: list[float], want: list[bool]
) -> None:
    of, seen = policy(metric), []
    load = PolicyLoad(of)
    for value in path:
        readings = measured(of, {"n1": value, "n2": 70.0, "n3": 71.0, "n4": 72.0})
        load.refresh(readings, cache.view, stays_on(()), cache.view.live.copy(), now_s=NOW_S)
        seen.append(over(load, cache)[0])
    assert seen == want


def test_of_nodes_that_are_all_over_the_least_loaded_is_told_by_the_distance_to_the_limit(cache: Cache) -> None:
    """A limit at the better end of the scale, or before it, has no ratio to go by."""
    for limit in (20.0, 0.0, -50.0):
        load = loaded(cache, replace(HOT, limit=limit), 100.0, 30.0, 60.0, 90.0)
        worst = least_loaded(load, load.projected(cache.view, POD))
        assert np.argsort(worst).tolist() == [1, 2, 3, 0]


# -- the score --------------------------------------------------------------------------------------------------


def term(load: PolicyLoad, cache: Cache) -> list[float]:
    costs = load_term(load, cache.view, load.projected(cache.view, None), cache.view.live)
    assert costs is not None
    return [round(float(cost), 6) for cost in costs]


def test_the_cost_is_the_way_along_the_scale(cache: Cache) -> None:
    assert term(loaded(cache, HOT, 20.0, 45.0, 70.0, 120.0), cache) == [0.0, 0.25, 0.5, 1.0]
    assert term(loaded(cache, COLD, 20.0, 45.0, 70.0, 120.0), cache) == [1.0, 0.75, 0.5, 0.0]


def test_beyond_the_better_end_nothing_is_gained(cache: Cache) -> None:
    assert term(loaded(cache, HOT, -1000.0, 20.0, 0.0, 70.0), cache) == [0.0, 0.0, 0.0, 0.5]


def test_with_formula_relative_it_stays_on_its_own_scale(cache: Cache) -> None:
    of = policy(HOT, formula=Formula.RELATIVE)
    load = make_load(cache, of, measured(of, {"n1": 20.0, "n2": 45.0, "n3": 70.0, "n4": 45.0}))
    assert term(load, cache) == [0.0, 0.25, 0.5, 0.25]


def test_an_absurd_value_does_not_hide_behind_its_limit(cache: Cache) -> None:
    metric = Metric("heat", 1, query="heat", min=0.0, max=1.0, limit=1e9)
    assert over(loaded(cache, metric, 2e9, 0.5, 0.5, 0.9e9), cache) == [True, False, False, False]


def test_where_all_but_one_are_at_zero_that_one_is_the_worst_and_the_limit_is_kept(cache: Cache) -> None:
    metric = Metric("heat", 1, query="heat", limit=85.0)
    load = loaded(cache, metric, 0.0, 0.0, 0.0, 100.0)
    assert over(load, cache) == [False, False, False, True]
    assert np.argmax(term(load, cache)) == 3


def test_a_changed_limit_is_in_force_with_the_readings_that_are_there(cache: Cache) -> None:
    of = policy(replace(HOT, limit=110.0))
    readings = measured(of, {"n1": 100.0, "n2": 30.0, "n3": 30.0, "n4": 30.0})
    assert not any(over(make_load(cache, of, readings), cache))
    assert over(make_load(cache, policy(HOT), readings), cache) == [True, False, False, False]
