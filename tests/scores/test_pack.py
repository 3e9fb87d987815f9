from __future__ import annotations

from collections.abc import Sequence

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from plimsoll.cluster.cache import Cache
from plimsoll.policy.compiled import Formula
from plimsoll.scores.load import load_term
from plimsoll.scores.pack import ABOVE, EMPTY, packed
from plimsoll.scores.requests import requests_term
from tests.builders import NOW_S, make_cache, make_load, make_node, make_pod, make_policy, make_readings

TARGET = 0.6


def cost(*shares: float, weights: Sequence[float] = (), target: float = TARGET, seen: float = 1.0) -> float:
    """Of one node whose metrics are so full; what Spread would say is their mean."""
    full = np.array(shares)[:, None]
    weighed = np.array(weights or [1.0] * len(shares))
    spread = np.clip(full.mean(axis=0), 0.0, 1.0)
    return float(packed(full, weighed, spread, target, seen=full * seen)[0])


@pytest.mark.parametrize(
    ("shares", "want"),
    [
        pytest.param([0.0], EMPTY, id="empty"),
        pytest.param([0.3], EMPTY / 2, id="half way to the target"),
        pytest.param([0.6], 0.0, id="at the target"),
        pytest.param([0.1 + 0.2 + 0.3], 0.0, id="at the target, summed up"),
        pytest.param([0.61], ABOVE + (1 - ABOVE) * 0.61, id="just above it"),
        pytest.param([1.0], 1.0, id="full"),
        pytest.param([1.4], 1.0, id="more than full"),
        pytest.param([0.3, 0.6], EMPTY * (1 - 0.525 / 0.6), id="half by the fullest, half by the mean"),
        pytest.param([0.1, 0.7], ABOVE + (1 - ABOVE) * 0.4, id="above by the fullest, whatever the others say"),
    ],
)
def test_the_cost_of_a_node(shares: list[float], want: float) -> None:
    assert cost(*shares) == pytest.approx(want)


def test_of_two_as_full_the_one_that_is_filled_evenly_is_better() -> None:
    assert cost(0.5, 0.4) < cost(0.5, 0.1)


def test_weights_count_below_the_target_and_not_for_being_above_it() -> None:
    assert cost(0.5, 0.1, weights=[3, 1]) < cost(0.5, 0.1, weights=[1, 3])
    assert cost(0.7, 0.0, weights=[1, 100]) > ABOVE


def test_what_is_not_measured_does_not_count_as_filled() -> None:
    assert cost(0.5, seen=0.0) == pytest.approx(EMPTY)
    assert cost(0.3) < cost(0.5, seen=0.5) < cost(0.1)


def test_out_of_sight_a_node_is_still_above_the_target() -> None:
    assert cost(0.9, seen=0.0) == cost(0.9)


shares = st.lists(st.floats(0, 1.5), min_size=2, max_size=2)
targets = st.sampled_from([0.01, 0.3, 0.6, 0.99, 1.0])


@given(full=shares, more=shares, target=targets)
def test_below_the_target_fuller_is_better_and_above_it_worse(
    full: list[float], more: list[float], target: float
) -> None:
    fuller = [a + b for a, b in zip(full, more, strict=True)]
    before, after = cost(*full, target=target), cost(*fuller, target=target)
    if max(fuller) <= target:
        assert after <= before <= EMPTY
    else:
        assert after >= ABOVE - 1e-12 or max(fuller) <= target + 1e-9
        assert after >= before - 1e-12 or max(fuller) <= target + 1e-9


@given(above=shares, below=shares, target=targets)
def test_above_the_target_is_worse_than_empty(above: list[float], below: list[float], target: float) -> None:
    if max(above) > target + 1e-9 and max(below) <= target:
        assert cost(*above, target=target) > cost(*below, target=target)


# -- the terms that are packed ---------------------------------------------------------------------------------


def _cache(*cpu: str) -> Cache:
    """Nodes of 16 cores and 64 GiB, with pods that request so much cpu and as much of the memory."""
    names = [f"n{i}" for i in range(len(cpu))]
    pods = (make_pod().requests(cpu=c, memory=f"{4 * int(c)}Gi").on(name) for name, c in zip(names, cpu, strict=True))
    return make_cache(map(make_node, names), pods)


def test_requests_are_packed_by_the_same_target() -> None:
    pod = make_pod().requests(cpu="1", memory="4Gi").info()
    term = requests_term(_cache("0", "7", "8", "15").view, pod, pack_target=0.5)
    assert term == pytest.approx([EMPTY * (1 - 0.125), 0.0, ABOVE + (1 - ABOVE) * 9 / 16, 1.0])


def test_a_node_that_offers_none_of_a_resource_is_above_every_target() -> None:
    cache = make_cache([make_node("n1").offers(cpu="0")])
    assert requests_term(cache.view, make_pod().info(), pack_target=1.0)[0] > ABOVE


@pytest.mark.parametrize("formula", Formula)
def test_the_target_is_a_share_of_capacity_by_every_formula(formula: Formula) -> None:
    cache = _cache("0", "0", "0")
    policy = make_policy(weights={"cpu": 1}, formula=formula, pack_target=0.5)
    load = make_load(cache, policy, make_readings({"cpu": {"n0": 0.0, "n1": 0.4, "n2": 0.6}}))
    term = load_term(load, cache.view, load.projected(cache.view, None), cache.view.live)
    assert term is not None
    above = {Formula.CAPACITY: 0.6, Formula.RELATIVE: 1.0}[formula]
    assert term == pytest.approx([EMPTY, EMPTY / 5, ABOVE + (1 - ABOVE) * above])


@pytest.mark.parametrize("age_s", [0.0, 100.0, 200.0, 400.0, 599.0, 601.0])
def test_a_node_that_is_lost_sight_of_is_not_packed_for_it(age_s: float) -> None:
    cache = _cache("1", "9")
    policy = make_policy(weights={"cpu": 1}, pack_target=0.8)

    def filled(seen_before_s: float) -> float:
        readings = make_readings({"cpu": {"n0": 0.3, "n1": 0.3}}, age_s=seen_before_s, taken_at_s=NOW_S)
        load = make_load(cache, policy, readings)
        term = load_term(load, cache.view, load.projected(cache.view, None), cache.view.live)
        assert term is not None
        return float(term[1])

    assert filled(age_s) >= filled(0.0)
