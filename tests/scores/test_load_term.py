from __future__ import annotations

from collections.abc import Mapping

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from plimsoll.cluster.cache import Cache
from plimsoll.load.readings import Floats
from plimsoll.policy.compiled import Formula, Policy
from plimsoll.scores.load import least_loaded, load_term
from tests.builders import make_cache, make_load, make_node, make_pod, make_policy, make_readings

METRICS = ["cpu", "memory", "networkReceive"]


def cost(policy: Policy, utilisation: Mapping[str, Mapping[str, float | None]]) -> dict[str, float] | None:
    """By node, as it stands, no pod in view."""
    cache = _cache(utilisation)
    load = make_load(cache, policy, make_readings(utilisation))
    term = load_term(load, cache.view, load.projected(cache.view, None), cache.view.live)
    return None if term is None else _by_name(cache, term)


def _cache(utilisation: Mapping[str, Mapping[str, float | None]]) -> Cache:
    return make_cache(make_node(name) for name in dict.fromkeys(n for by_node in utilisation.values() for n in by_node))


def _by_name(cache: Cache, term: Floats) -> dict[str, float]:
    return {node.name: float(term[row]) for row, node in cache.view.live_nodes()}


@pytest.mark.parametrize(
    ("weights", "load", "want"),
    [
        pytest.param({"cpu": 1}, {"cpu": 0.4}, 0.4, id="one metric is its utilisation"),
        pytest.param({"cpu": 7}, {"cpu": 0.4}, 0.4, id="whatever its weight"),
        pytest.param({"cpu": 1, "memory": 1}, {"cpu": 0.2, "memory": 0.6}, 0.5, id="half the worse, half the mean"),
        pytest.param(
            {"cpu": 3, "memory": 1}, {"cpu": 0.2, "memory": 0.6}, 0.5 * 0.2 + 0.5 * 0.3, id="weights in both halves"
        ),
        pytest.param(
            {"cpu": 1, "memory": 0}, {"cpu": 0.2, "memory": 0.9}, 0.2, id="a metric without weight has no say"
        ),
        pytest.param({"cpu": 1}, {"cpu": 1.3}, 1.0, id="more than full is full"),
        pytest.param(
            {"cpu": 1, "memory": 1}, {"cpu": 9.0, "memory": 0.0}, 1.0, id="one metric counts for one and a half at most"
        ),
        pytest.param(
            {"cpu": 1, "memory": 3}, {"cpu": 9.0, "memory": 0.0}, 0.5 * 0.5 + 0.5 * 0.375, id="weighed as well"
        ),
        pytest.param({"cpu": 1, "memory": 1}, {"cpu": 0.0, "memory": 0.0}, 0.0, id="an idle node costs nothing"),
    ],
)
def test_capacity(weights: dict[str, float], load: dict[str, float], want: float) -> None:
    found = cost(make_policy(weights=weights), {metric: {"n1": u} for metric, u in load.items()})
    assert found is not None
    assert found["n1"] == pytest.approx(want)


def test_a_policy_that_only_limits_has_no_load_term() -> None:
    assert cost(make_policy(limits={"cpu": 0.9}), {"cpu": {"n1": 0.5}}) is None


def test_a_metric_that_is_not_answered_leaves_the_others_their_weight() -> None:
    found = cost(make_policy(weights={"cpu": 1, "memory": 5}), {"cpu": {"n1": 0.4}})
    assert found == {"n1": pytest.approx(0.4)}


# -- Relative, as the two classic plugins meant it ---------------------------------------------------------


def relative(*, weights: Mapping[str, float], max_memory_bytes: int | None = None) -> Policy:
    return make_policy(weights=weights, formula=Formula.RELATIVE, max_memory_bytes=max_memory_bytes)


def scores(policy: Policy, utilisation: Mapping[str, Mapping[str, float | None]]) -> dict[str, float]:
    found = cost(policy, utilisation)
    assert found is not None
    return {node: round(100 * (1 - c), 6) for node, c in found.items()}


@pytest.mark.parametrize("metric", ["networkReceive", "networkTransmit", "cpu"])
def test_the_busiest_node_scores_0_and_an_idle_one_100(metric: str) -> None:
    found = scores(relative(weights={metric: 1}), {metric: {"busy": 0.08, "half": 0.04, "idle": 0.0}})
    assert found == {"busy": 0, "half": 50, "idle": 100}


@pytest.mark.parametrize("metric", ["networkReceive", "cpu"])
def test_where_no_node_carries_anything_all_score_100(metric: str) -> None:
    assert scores(relative(weights={metric: 1}), {metric: {"n1": 0.0, "n2": 0.0}}) == {"n1": 100, "n2": 100}


@pytest.mark.parametrize("factor", [0.001, 1, 10, 100])
def test_only_the_share_of_the_busiest_matters(factor: float) -> None:
    found = scores(
        relative(weights={"networkReceive": 1}), {"networkReceive": {"n1": 0.09 * factor, "n2": 0.03 * factor}}
    )
    assert found == {"n1": 0, "n2": pytest.approx(100 * 2 / 3)}


def test_the_node_with_the_most_memory_available_scores_100() -> None:
    found = scores(relative(weights={"memory": 1}), {"memory": {"n1": 0.5, "n2": 0.75, "n3": 1.0}})
    assert found == {"n1": 100, "n2": 50, "n3": 0}


@pytest.mark.parametrize(
    ("max_memory_gib", "want"),
    [
        pytest.param(128, {"n1": 50, "n2": 25}, id="more than any node has: full marks for nobody"),
        pytest.param(64, {"n1": 100, "n2": 50}, id="what an empty node has"),
        pytest.param(16, {"n1": 100, "n2": 100}, id="what both have: they are alike"),
    ],
)
def test_max_memory_is_the_available_memory_that_earns_the_full_score(
    max_memory_gib: int, want: dict[str, float]
) -> None:
    policy = relative(weights={"memory": 1}, max_memory_bytes=max_memory_gib * 2**30)
    assert scores(policy, {"memory": {"n1": 0.0, "n2": 0.5}}) == want


def test_where_no_node_has_memory_available_none_is_better() -> None:
    assert scores(relative(weights={"memory": 1}), {"memory": {"n1": 1.0, "n2": 1.0}}) == {"n1": 0, "n2": 0}


def test_relative_is_the_weighted_mean_alone() -> None:
    policy = relative(weights={"networkReceive": 3, "memory": 1})
    utilisation = {"networkReceive": {"n1": 0.5, "n2": 0.0}, "memory": {"n1": 0.0, "n2": 0.5}}
    assert scores(policy, utilisation) == {"n1": 25, "n2": 75 + 25 / 2}


def test_nodes_outside_the_policy_do_not_set_the_scale() -> None:
    cache = make_cache([make_node("in"), make_node("also-in"), make_node("out")])
    load = make_load(
        cache,
        relative(weights={"networkReceive": 1}),
        make_readings({"networkReceive": {"in": 0.1, "also-in": 0.2, "out": 0.9}}),
    )
    selected = np.array([True, True, False])
    term = load_term(load, cache.view, load.projected(cache.view, None), selected)
    assert term is not None
    assert term[:2] == pytest.approx([0.5, 1.0])


@pytest.mark.parametrize("formula", Formula)
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("carried", [0.01, 0.1, 0.5, 0.9])
def test_a_node_is_not_the_best_by_being_unknown(formula: Formula, metric: str, carried: float) -> None:
    """Known nodes that carry what their requests suggest, and one of the same requests that nobody has measured."""
    cpu, memory = str(16 * carried), f"{int(64 * 1024 * carried)}Mi"
    names = ["known-1", "known-2", "known-3", "unknown"]
    cache = make_cache(map(make_node, names), (make_pod().requests(cpu=cpu, memory=memory).on(n) for n in names))
    incoming = make_pod().requests(cpu="6", memory="30Gi").annotate("plimsoll.dev/network-receive", "60M").info()
    measured: dict[str, float | None] = dict.fromkeys(names[:3], carried)
    policy = make_policy(weights={metric: 1}, formula=formula)
    load = make_load(cache, policy, make_readings({metric: {**measured, "unknown": None}}))
    for pod in (None, incoming):
        term = load_term(load, cache.view, load.projected(cache.view, pod), cache.view.live)
        assert term is not None
        assert np.isfinite(term).all()
        assert term[3] >= term[:3].max()


utilisations = st.floats(min_value=0, max_value=1.2)


@settings(max_examples=80, deadline=None)
@given(
    loads=st.lists(st.tuples(utilisations, utilisations, utilisations), min_size=2, max_size=5),
    weights=st.tuples(*(st.integers(min_value=0, max_value=5) for _ in METRICS)).filter(any),
    metric=st.sampled_from(range(3)),
    more=st.floats(min_value=0, max_value=1),
    formula=st.sampled_from(Formula),
)
def test_more_load_never_scores_better(
    loads: list[tuple[float, float, float]], weights: tuple[int, ...], metric: int, more: float, formula: Formula
) -> None:
    policy = make_policy(weights=dict(zip(METRICS, weights, strict=True)), formula=formula)

    def all_costs(first: tuple[float, ...]) -> dict[str, float]:
        nodes = {f"n{i}": load for i, load in enumerate([first, *loads[1:]])}
        found = cost(policy, {m: {name: load[i] for name, load in nodes.items()} for i, m in enumerate(METRICS)})
        assert found is not None
        return found

    heavier = tuple(u + more if i == metric else u for i, u in enumerate(loads[0]))
    before, after = all_costs(loads[0]), all_costs(heavier)
    assert all(0 <= c <= 1 for c in (*before.values(), *after.values()))
    assert after["n0"] >= before["n0"] - 1e-12
    assert all(after[name] <= before[name] + 1e-12 for name in before if name != "n0")


def test_the_least_loaded_is_the_least_far_into_its_limits() -> None:
    cache = make_cache([make_node("n1"), make_node("n2")])
    policy = make_policy(weights={"memory": 1}, limits={"cpu": 0.5, "networkReceive": 0.9})
    readings = {
        "cpu": {"n1": 0.6, "n2": 0.3},
        "networkReceive": {"n1": 0.0, "n2": 0.99},
        "memory": {"n1": 5.0, "n2": 0.0},
    }
    load = make_load(cache, policy, make_readings(readings))
    assert least_loaded(load, load.projected(cache.view, None)) == pytest.approx([0.6 / 0.5, 0.99 / 0.9])
