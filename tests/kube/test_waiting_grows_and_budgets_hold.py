from __future__ import annotations

import itertools
import random

from hypothesis import given
from hypothesis import strategies as st

from plimsoll.kube.backoff import Backoff
from plimsoll.kube.rate import TokenBucket


@given(failures=st.integers(0, 10_000), seed=st.integers())
def test_a_delay_is_never_above_its_cap_and_never_nothing(failures: int, seed: int) -> None:
    backoff = Backoff(initial_s=0.2, cap_s=5.0, jitter=0.3, rng=random.Random(seed))
    for _ in range(min(failures, 50)):
        backoff.next_s()
    assert 0.2 <= backoff.next_s() <= 5.0 * 1.3


def test_delays_double_and_begin_anew_after_success() -> None:
    backoff = Backoff(initial_s=1.0, cap_s=5.0, jitter=0.0)
    assert [backoff.next_s() for _ in range(4)] == [1.0, 2.0, 4.0, 5.0]
    backoff.reset()
    assert backoff.next_s() == 1.0


def test_what_the_server_asks_for_is_the_least() -> None:
    backoff = Backoff(initial_s=1.0, jitter=0.0)
    assert backoff.next_s(at_least_s=7.0) == 7.0
    assert backoff.next_s(at_least_s=0.5) == 2.0


def test_an_outage_of_days_does_not_overflow() -> None:
    backoff = Backoff(jitter=0.0)
    assert [backoff.next_s() for _ in range(5000)][-1] == 5.0


def test_each_iteration_is_endless_and_afresh() -> None:
    backoff = Backoff(initial_s=1.0, cap_s=4.0, jitter=0.0)
    assert list(itertools.islice(backoff, 4)) == [1.0, 2.0, 4.0, 4.0]
    assert next(iter(backoff)) == 1.0


@given(
    gaps_s=st.lists(st.floats(0, 3), min_size=1, max_size=60),
    per_s=st.floats(0.5, 50),
    burst=st.integers(1, 20),
)
def test_no_span_of_time_sees_more_than_burst_and_rate_allow(gaps_s: list[float], per_s: float, burst: int) -> None:
    now_s, used_s = 0.0, list[float]()
    bucket = TokenBucket(per_s=per_s, burst=burst, clock=lambda: now_s)
    for gap_s in gaps_s:
        now_s += gap_s
        used_s.append(now_s + bucket.reserve_s())
    assert used_s == sorted(used_s), "turns are given in the order of asking"
    for i, start_s in enumerate(used_s):
        for j in range(i, len(used_s)):
            assert j - i + 1 <= burst + per_s * (used_s[j] - start_s) + 1e-6
