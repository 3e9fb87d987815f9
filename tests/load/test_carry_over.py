from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from plimsoll.load.carry_over import carry_over, same_question
from plimsoll.load.readings import Readings, ReadingState
from plimsoll.policy.compiled import Formula, MetricsServerSource, Policy, PrometheusSource
from tests.builders import NOW_S, make_policy, make_readings

OK, STALE, MISSING = ReadingState.OK, ReadingState.STALE, ReadingState.MISSING
CPU = {"cpu": {"n1": 0.5, "n2": 0.25}}


def failed(after_s: float, *, nodes: tuple[str, ...] = ("n1", "n2")) -> Readings:
    return replace(make_readings({}, taken_at_s=NOW_S + after_s, failures={"": "no answer"}), nodes=nodes)


def over(before: Readings | None, now: Readings) -> Readings:
    return carry_over(before, now, interval_s=30)


def test_the_first_readings_have_nothing_to_lean_on() -> None:
    now = failed(0)
    assert over(None, now) is now


def test_what_is_answered_anew_replaces_what_was() -> None:
    now = make_readings({"cpu": {"n1": 0.1, "n2": 0.2}}, taken_at_s=NOW_S + 30)
    assert over(make_readings(CPU), now) is now


@pytest.mark.parametrize(
    ("after_s", "state"),
    [
        pytest.param(30, OK, id="one missed refresh"),
        pytest.param(90, OK, id="three"),
        pytest.param(91, STALE, id="more"),
        pytest.param(600, STALE, id="up to ten minutes"),
    ],
)
def test_what_is_not_answered_ages_and_does_not_turn_to_zero(after_s: float, state: ReadingState) -> None:
    carried = over(make_readings(CPU), failed(after_s))
    cpu = carried.metrics["cpu"]
    assert cpu.utilisation.tolist() == [0.5, 0.25]
    assert cpu.sampled_at_s.tolist() == [NOW_S, NOW_S]
    assert cpu.state.tolist() == [state, state]
    assert carried.failures == {"": "no answer"}
    assert carried.taken_at_s == NOW_S + after_s


def nothing_but_capacity(carried: Readings) -> bool:
    cpu = carried.metrics["cpu"]
    known = np.array([cpu.utilisation, cpu.value, cpu.sampled_at_s, *(window.utilisation for window in cpu.windows)])
    return bool(np.isnan(known).all() and (cpu.state == MISSING).all() and (cpu.capacity == 16).all())


def test_of_what_nobody_believes_any_more_the_capacity_alone_stays() -> None:
    assert nothing_but_capacity(over(make_readings(CPU), failed(601)))


def test_it_ages_on_from_refresh_to_refresh() -> None:
    readings = make_readings(CPU)
    for after_s in range(30, 601, 30):
        readings = over(readings, failed(after_s))
    assert readings.metrics["cpu"].sampled_at_s.tolist() == [NOW_S, NOW_S]
    assert nothing_but_capacity(over(readings, failed(630)))


def test_only_the_metric_that_failed_is_carried() -> None:
    before = make_readings({"cpu": {"n1": 0.5}, "memory": {"n1": 0.5}})
    now = make_readings({"memory": {"n1": 0.75}}, taken_at_s=NOW_S + 30, failures={"cpu": "no answer"})
    carried = over(before, now)
    assert carried.metrics["memory"] is now.metrics["memory"]
    assert carried.metrics["cpu"].utilisation.tolist() == [0.5]


def test_what_was_missing_stays_missing() -> None:
    carried = over(make_readings({"cpu": {"n1": 0.5, "n2": None}}), failed(30)).metrics["cpu"]
    assert carried.state.tolist() == [OK, MISSING]
    assert np.isnan(carried.utilisation[1])


def test_nodes_that_came_went_or_changed_places_keep_what_is_theirs() -> None:
    carried = over(make_readings(CPU), failed(30, nodes=("n3", "n2", "n1"))).metrics["cpu"]
    assert np.isnan(carried.utilisation[0])
    assert carried.utilisation[1:].tolist() == [0.25, 0.5]
    assert carried.value[1:].tolist() == [4, 8]
    assert carried.capacity[1:].tolist() == [16, 16]
    assert carried.sampled_at_s[1:].tolist() == [NOW_S, NOW_S]
    assert carried.state.tolist() == [MISSING, OK, OK]
    assert carried.state.dtype == np.int8


def test_a_sample_from_the_future_is_not_carried() -> None:
    """It would seem the younger the longer it is."""
    for ahead_s, state in ((60, OK), (61 + 30, MISSING), (500, MISSING)):
        carried = over(make_readings(CPU, age_s=-ahead_s), failed(30)).metrics
        assert [m.state.tolist() for m in carried.values()] == [[state, state]]


# -- may readings of one policy be used for the next? ------------------------------------------------------

POLICY = make_policy(weights={"cpu": 1}, source=PrometheusSource(url="http://one"))


@pytest.mark.parametrize(
    ("after", "want"),
    [
        pytest.param(
            replace(POLICY, metrics=make_policy(weights={"cpu": 9}, limits={"cpu": 0.5}).metrics), True, id="weights"
        ),
        pytest.param(replace(POLICY, formula=Formula.RELATIVE, generation=2), True, id="formula"),
        pytest.param(replace(POLICY, source=PrometheusSource(url="http://two")), False, id="another address"),
        pytest.param(replace(POLICY, source=MetricsServerSource()), False, id="another source"),
        pytest.param(replace(POLICY, source=None), False, id="no source"),
        pytest.param(replace(POLICY, device_name="eth1"), False, id="another device"),
        pytest.param(replace(POLICY, time_range_s=60.0), False, id="another window"),
        pytest.param(replace(POLICY, network_capacity_bytes_s=1), False, id="another capacity"),
    ],
)
def test_readings_outlive_a_change_that_asks_the_same(after: Policy, want: bool) -> None:  # noqa: FBT001
    assert same_question(POLICY, after) is want
