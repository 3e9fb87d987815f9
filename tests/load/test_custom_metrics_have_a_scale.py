from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from plimsoll.load.custom_scale import Scale, scale_of
from plimsoll.policy.compiled import Goal, Metric

MIN, MAX = Goal.MINIMIZE, Goal.MAXIMIZE
# Their 5th and 95th percentiles are 5 and 95.
HUNDRED = np.arange(101.0)


def metric(goal: Goal = MIN, *, low: float | None = None, high: float | None = None) -> Metric:
    return Metric("m", 1, query="q", goal=goal, min=low, max=high)


def ends(scale: Scale) -> tuple[float, float]:
    return scale.low, scale.low + scale.span


@pytest.mark.parametrize(
    ("goal", "value", "want"),
    [
        pytest.param(MIN, 20.0, 0.0, id="Minimize: min is the better end"),
        pytest.param(MIN, 60.0, 0.5, id="half way"),
        pytest.param(MIN, 100.0, 1.0, id="max is the worse end"),
        pytest.param(MIN, 140.0, 1.5, id="beyond it"),
        pytest.param(MAX, 100.0, 0.0, id="Maximize: max is the better end"),
        pytest.param(MAX, 40.0, 0.75, id="three quarters of the way down"),
        pytest.param(MAX, 20.0, 1.0, id="min is the worse end"),
        pytest.param(MAX, -20.0, 1.5, id="below it"),
    ],
)
def test_between_min_and_max_values_become_shares_of_the_way(goal: Goal, value: float, want: float) -> None:
    scale = scale_of(metric(goal, low=20.0, high=100.0), HUNDRED)
    assert scale.utilisation(value) == pytest.approx(want)
    assert not scale.estimated


@pytest.mark.parametrize(
    ("asked", "values", "want"),
    [
        pytest.param(metric(), HUNDRED, (5, 95), id="no end is known: the 5th to the 95th percentile"),
        pytest.param(metric(MAX), HUNDRED, (5, 95), id="of Maximize too"),
        pytest.param(metric(low=0.0), HUNDRED, (0, 95), id="min replaces its side"),
        pytest.param(metric(high=200.0), HUNDRED, (5, 200), id="max replaces its side"),
        pytest.param(metric(), np.full(9, 50.0), (50, 55), id="nodes all alike: a tenth of the median, from the best"),
        pytest.param(metric(MAX), np.full(9, 50.0), (45, 50), id="of Maximize from above"),
        pytest.param(metric(), np.full(9, -50.0), (-50, -45), id="a negative median has a magnitude as well"),
        pytest.param(metric(high=10.0), np.full(9, 50.0), (5, 10), id="all above max: max stays where it is"),
        pytest.param(metric(low=90.0), np.full(9, 50.0), (90, 95), id="all below min: min stays where it is"),
    ],
)
def test_an_end_that_is_not_given_is_estimated(
    asked: Metric, values: np.ndarray[tuple[int], np.dtype[np.float64]], want: tuple[float, float]
) -> None:
    scale = scale_of(asked, values)
    assert ends(scale) == pytest.approx(want)
    assert scale.estimated


def test_one_odd_node_does_not_stretch_the_scale() -> None:
    calm = scale_of(metric(), HUNDRED)
    odd = scale_of(metric(), np.append(HUNDRED, 1e9))
    assert ends(odd) == pytest.approx(ends(calm), rel=0.02)


@pytest.mark.parametrize("goal", [MIN, MAX])
@pytest.mark.parametrize("values", [np.zeros(0), np.zeros(5), np.zeros(1)], ids=["no node", "all 0", "one node"])
def test_there_is_always_a_span(goal: Goal, values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> None:
    scale = scale_of(metric(goal), values)
    assert scale.span > 0
    assert scale.utilisation(0.0) == pytest.approx(0.0)


VALUE = st.floats(-1e12, 1e12)
BOUND = st.one_of(st.none(), VALUE)
Bounds = tuple[float | None, float | None]


def in_order(bounds: Bounds) -> bool:
    low, high = bounds
    return low is None or high is None or low < high


BOUNDS = st.tuples(BOUND, BOUND).filter(in_order)
GOALS = st.sampled_from([MIN, MAX])


@given(GOALS, BOUNDS, st.lists(VALUE, max_size=30), st.tuples(VALUE, VALUE))
def test_a_worse_value_is_never_a_lower_utilisation(
    goal: Goal, bounds: Bounds, values: list[float], two: tuple[float, float]
) -> None:
    scale = scale_of(metric(goal, low=bounds[0], high=bounds[1]), np.array(values))
    better, worse = sorted(two, reverse=goal is MAX)
    assert np.isfinite([scale.utilisation(better), scale.utilisation(worse)]).all()
    assert scale.utilisation(better) <= scale.utilisation(worse)


@given(GOALS, st.lists(VALUE, min_size=1, max_size=30), st.sampled_from([2.0, 1024.0, 2.0**-10]))
def test_the_unit_of_a_metric_does_not_matter(goal: Goal, values: list[float], factor: float) -> None:
    assume(max(map(abs, values)) > 1e-3)
    one = scale_of(metric(goal), np.array(values))
    other = scale_of(metric(goal), np.array(values) * factor)
    assume(one.span > 1e-6)
    for value in values:
        assert other.utilisation(value * factor) == pytest.approx(one.utilisation(value), rel=1e-6, abs=1e-6)


@given(st.lists(VALUE, min_size=1, max_size=30))
def test_maximize_is_minimize_of_the_negative(values: list[float]) -> None:
    fewer = scale_of(metric(MIN), np.array(values))
    more = scale_of(metric(MAX), -np.array(values))
    for value in values:
        assert more.utilisation(-value) == pytest.approx(fewer.utilisation(value), rel=1e-6, abs=1e-6)
