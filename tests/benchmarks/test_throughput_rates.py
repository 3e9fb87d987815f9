"""From stamps to figures: rates, lags, waits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.throughput.rates import between, lag_s, of_binds, of_events, of_waits, per_second, percentile

_STAMPS = st.lists(st.floats(0, 1000), min_size=1, max_size=50).map(sorted)


@given(count=st.integers(2, 500), rate=st.floats(1, 1000), began_s=st.floats(0, 1000))
def test_a_steady_stream_has_its_rate_between_any_two_shares(count: int, rate: float, began_s: float):
    stamps_s = [began_s + i / rate for i in range(count)]
    assert between(stamps_s, 0, 1) == pytest.approx(rate, rel=1e-6)
    if count > 10:
        assert between(stamps_s, 0.1, 0.9) == pytest.approx(rate, rel=1e-6)


def test_slow_first_and_last_pods_are_outside_of_10_to_90_percent():
    middle_s = [100 + i / 200 for i in range(80)]
    stamps_s = [*(10.0 * i for i in range(10)), *middle_s, *(200 + 10.0 * i for i in range(11))]
    assert between(stamps_s, 0.1, 0.9) == pytest.approx(80 / (200 - 100))
    assert between(stamps_s, 0, 1) == pytest.approx(100 / 300)


@pytest.mark.parametrize("stamps_s", [[], [1.0], [1.0, 1.0, 1.0]], ids=["none", "one", "all at once"])
def test_what_took_no_time_has_no_rate(stamps_s: list[float]):
    assert between(stamps_s, 0, 1) is None


@pytest.mark.parametrize(
    ("share", "expected"), [(0, 1), (0.01, 1), (0.5, 50), (0.99, 99), (1, 100)], ids=["0", "1", "50", "99", "100"]
)
def test_percentiles_are_of_the_nearest_rank(share: float, expected: int):
    assert percentile(range(100, 0, -1), share) == expected


@given(values=st.lists(st.floats(-1e6, 1e6), min_size=1), share=st.floats(0, 1))
def test_a_percentile_is_one_of_the_values_and_covers_its_share(values: list[float], share: float):
    found = percentile(values, share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values) - 1e-6


def test_there_is_no_percentile_of_nothing():
    assert percentile([], 0.5) is None


@pytest.mark.parametrize(
    ("told_s", "until_s", "expected"),
    [
        ([1.5, 2.25, 3.125], float("inf"), 0.5),
        ([1.5, 2.25], float("inf"), 0.5),
        ([1.5, 2.25], 9.0, 6.0),
        ([], 9.0, 8.0),
    ],
    ids=["all are there", "what may yet come does not count", "what never came does", "none came"],
)
def test_events_are_behind_by_the_largest_lag_of_the_kth_behind_the_kth_bind(told_s, until_s, expected):
    assert lag_s([1.0, 2.0, 3.0], told_s, until_s=until_s) == pytest.approx(expected)


@given(bound_s=_STAMPS)
def test_events_that_come_with_their_binds_are_not_behind(bound_s: list[float]):
    assert lag_s(bound_s, bound_s, until_s=2000.0) == 0


def test_only_the_seconds_that_count_are_counted():
    bound_s = [5.0 + i / 10 for i in range(100)]
    assert of_binds(bound_s, seconds=5)["bound"] == 51
    assert of_binds(bound_s, seconds=0)["bound"] == 100
    assert of_binds(bound_s, seconds=5)["pods_per_s"] == pytest.approx(10)


def test_seconds_in_which_nothing_was_bound_any_more_count():
    bound_s = [5.0 + i / 100 for i in range(100)]
    found = of_binds(bound_s, seconds=60, expected=3000)
    assert found["pods_per_s"] == pytest.approx(99 / 60)
    assert found["pods_per_s_10_90"] == 0, "none between the sixth second and the fifty-fourth"
    assert of_binds(bound_s, seconds=60, expected=100)["pods_per_s"] == pytest.approx(100)


@pytest.mark.parametrize(
    ("seconds", "expected_pods", "rate"),
    [(0, 5, 5 / 10), (4, 5, 3 / 7), (60, 100, 5 / 63)],
    ids=["to the last bind", "to the end of the seconds", "seconds that bound nothing count"],
)
def test_the_rate_from_the_start_counts_what_comes_before_the_first_bind(seconds, expected_pods, rate):
    found = of_binds([5.0, 6.0, 9.0, 11.0, 12.0], seconds=seconds, expected=expected_pods, started_s=2.0)
    assert found["pods_per_s_from_start"] == pytest.approx(rate)


def test_there_is_no_rate_from_the_start_of_one_that_was_warm():
    assert "pods_per_s_from_start" not in of_binds([5.0, 6.0], seconds=0)


def test_nothing_bound_is_no_rate_instead_of_zero():
    assert of_binds([], seconds=0) == {"bound": 0}


def test_how_late_the_last_event_was_is_known_only_where_all_are_there():
    assert of_events([1.0, 2.0], [1.5, 4.0], ended_s=9.0)["last_event_after_last_bind_s"] == 2.0
    found = of_events([1.0, 2.0], [1.5], ended_s=9.0)
    assert "last_event_after_last_bind_s" not in found
    assert found["event_lag_max_s"] == 7.0


def test_an_event_seen_before_its_bind_is_not_before_it():
    assert of_events([1.0, 2.0], [1.0, 1.9], ended_s=9.0)["last_event_after_last_bind_s"] == 0


def test_waits_are_of_pods_that_were_bound():
    found = of_waits({"a": 1.0, "b": 2.0, "never": 3.0}, {"a": 1.5, "b": 2.001, "unknown": 9.0})
    assert found["wait_p50_ms"] == pytest.approx(1.0)
    assert found["wait_p99_ms"] == found["wait_max_ms"] == pytest.approx(500.0)
    assert found["created_per_s"] == pytest.approx(1.0)


def test_a_pod_that_was_not_bound_has_waited_until_the_end():
    sent_s, bound_s = {f"p{i}": 0.0 for i in range(100)}, {f"p{i}": 0.01 for i in range(50)}
    found = of_waits(sent_s, bound_s, ended_s=300.0)
    assert found["wait_p50_ms"] == pytest.approx(10)
    assert found["wait_p99_ms"] == found["wait_max_ms"] == pytest.approx(300_000)


def test_a_bind_after_the_end_counts_until_the_end():
    assert of_waits({"a": 1.0}, {"a": 9.0}, ended_s=5.0)["wait_max_ms"] == pytest.approx(4000)


def test_pods_that_can_have_no_node_wait_for_nothing():
    sent_s = {"stuck": 0.0, "late": 1.0, "fine": 2.0}
    assert of_waits(sent_s, {"late": 1.5, "fine": 2.1}, ended_s=9.0, left=1)["wait_max_ms"] == pytest.approx(500)
    assert of_waits(sent_s, {"fine": 2.1}, ended_s=9.0, left=1)["wait_max_ms"] == pytest.approx(9000)


@given(stamps_s=_STAMPS)
def test_every_bind_is_in_one_second_and_the_last_second_is_not_empty(stamps_s: list[float]):
    counts = per_second(stamps_s, stamps_s[0])
    assert sum(counts) == len(stamps_s)
    assert counts[-1] > 0
