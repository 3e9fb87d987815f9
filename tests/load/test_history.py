from __future__ import annotations

import math

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from plimsoll.cluster.workload import WorkloadKey
from plimsoll.load.history import Past, WorkloadHistory
from plimsoll.load.workload_use import Use, Uses, WorkloadUse
from tests.builders import NOW_S

WEB, DB = WorkloadKey("shop/Deployment/web"), WorkloadKey("shop/StatefulSet/db")
HOUR_S = 3600.0


def look(history: WorkloadHistory, at_s: float, *values: float, workload: WorkloadKey = WEB) -> None:
    """At the pods of one workload, each of which uses one of the values."""
    pods, squares = len(values), sum(value * value for value in values)
    use = Use(pods, sum(values) / pods, squares / pods)
    history.observe(WorkloadUse(NOW_S + at_s, {"cpu": Uses.of({workload: use})}))


def known(history: WorkloadHistory, workload: WorkloadKey = WEB) -> Past:
    past = history.of(workload, "cpu")
    assert past is not None
    return past


def test_what_was_never_seen_has_no_past() -> None:
    history = WorkloadHistory()
    look(history, 0, 1.0)
    assert history.of(DB, "cpu") is None
    assert history.of(WEB, "memory") is None
    assert WorkloadHistory().per_pod("cpu") is None


def test_the_first_look_is_only_a_beginning() -> None:
    history = WorkloadHistory()
    look(history, 0, 1.0)
    assert known(history) == (1.0, 0.0, 0.0)
    look(history, 30, 3.0)
    assert known(history) == (3.0, 0.0, 0.5)


def test_what_is_always_the_same_is_its_own_mean() -> None:
    history = WorkloadHistory()
    for minute in range(601):
        look(history, 60.0 * minute, 0.25)
    mean, sd, minutes = known(history)
    assert (mean, minutes) == pytest.approx((0.25, 600.0))
    assert sd == pytest.approx(0.0, abs=1e-6)


def test_two_hours_ago_counts_half() -> None:
    """Four hours of 1, then two hours of 0: of what is remembered, 1 - 1/4 before and 1/2 of it since."""
    history = WorkloadHistory()
    for minute in range(361):
        look(history, 60.0 * minute, 1.0 if minute <= 240 else 0.0)
    before, since = 0.5 * (1 - 2**-2), 1 - 2**-1
    assert known(history).mean == pytest.approx(before / (before + since), abs=0.01)


def test_deviation_is_over_time_and_among_pods() -> None:
    among, over = WorkloadHistory(), WorkloadHistory()
    for minute in range(61):
        look(among, 60.0 * minute, 1.0, 3.0)
        look(over, 60.0 * minute, 1.0 if minute % 2 else 3.0)
    assert known(among).sd == pytest.approx(1.0)
    assert known(over).sd == pytest.approx(1.0, abs=0.01)
    assert known(over).mean == pytest.approx(2.0, abs=0.02)


def test_how_often_one_looks_makes_no_difference() -> None:
    often, seldom = WorkloadHistory(), WorkloadHistory()
    for second in range(0, 7201, 10):
        look(often, second, second / 3600)
        if second % 60 == 0:
            look(seldom, second, second / 3600)
    assert [known(often).minutes, known(seldom).minutes] == pytest.approx([120.0, 120.0])
    assert known(often).mean == pytest.approx(known(seldom).mean, rel=0.02)


def test_what_is_not_newer_is_ignored() -> None:
    """Two policies may ask the same source."""
    history = WorkloadHistory()
    look(history, 0, 1.0)
    look(history, 60, 1.0)
    for at_s in (60, 30, 0):
        look(history, at_s, 100.0)
    assert known(history) == (1.0, 0.0, 1.0)


def test_a_gap_is_not_taken_for_time_that_was_watched() -> None:
    history = WorkloadHistory()
    look(history, 0, 1.0)
    look(history, 3 * HOUR_S, 2.0)
    assert known(history).minutes == 5.0


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0, 1e200])
def test_nonsense_is_not_learnt(value: float) -> None:
    history = WorkloadHistory()
    look(history, 0, 1.0)
    look(history, 30, value)
    look(history, 60, 1.0)
    assert known(history) == (1.0, 0.0, 1.0)


def test_what_a_pod_uses_in_the_mean_is_weighed_by_pods() -> None:
    history = WorkloadHistory()
    for at_s in (0, 60):
        uses = {WEB: Use(3, 1.0, 1.0), DB: Use(1, 5.0, 25.0)}
        history.observe(WorkloadUse(NOW_S + at_s, {"cpu": Uses.of(uses), "memory": Uses.of({})}))
    assert history.per_pod("cpu") == pytest.approx(2.0)
    assert history.per_pod("memory") is None


def test_what_was_not_seen_for_a_day_is_forgotten() -> None:
    history = WorkloadHistory()
    look(history, 0, 1.0)
    look(history, HOUR_S, 1.0, workload=DB)
    history.drop_old(NOW_S + 24 * HOUR_S)
    assert (history.of(WEB, "cpu") is None, history.of(DB, "cpu") is None) == (False, False)
    history.drop_old(NOW_S + 24 * HOUR_S + 601)
    assert (history.of(WEB, "cpu") is None, history.of(DB, "cpu") is None) == (True, False)
    history.drop_old(NOW_S + 49 * HOUR_S)
    assert history.per_pod("cpu") is None


def test_what_is_forgotten_leaves_what_is_known_of_others_as_it_was() -> None:
    history = WorkloadHistory()
    look(history, 0, 1.0)
    for at_s in (25 * HOUR_S, 25 * HOUR_S + 60):
        look(history, at_s, 2.0, 4.0, workload=DB)
    before = known(history, DB)
    history.drop_old(NOW_S + 25 * HOUR_S + 60)
    assert history.of(WEB, "cpu") is None
    assert known(history, DB) == before == (3.0, 1.0, 1.0)
    look(history, 25 * HOUR_S + 60, 7.0)
    assert (known(history), known(history, DB)) == ((7.0, 0.0, 0.0), before)


def test_what_a_wrong_clock_has_seen_does_not_stay_for_ever() -> None:
    history = WorkloadHistory()
    look(history, 1000 * HOUR_S, 9.0)
    history.drop_old(NOW_S)
    look(history, 0, 1.0)
    assert known(history).mean == 1.0


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.floats(-10, 2000), st.lists(st.floats(0, 1e12), min_size=1, max_size=4)), max_size=20))
def test_a_mean_lies_between_what_was_seen(looks: list[tuple[float, list[float]]]) -> None:
    history, at_s, seen = WorkloadHistory(), 0.0, list[float]()
    for passed_s, values in looks:
        at_s += passed_s
        look(history, at_s, *values)
        seen.append(sum(values) / len(values))
    past = history.of(WEB, "cpu")
    assert (past is None) == (not looks)
    if past is not None:
        assert min(seen) * (1 - 1e-9) - 1e-9 <= past.mean <= max(seen) * (1 + 1e-9)
        assert 0.0 <= past.sd < math.inf
        assert past.minutes >= 0.0
