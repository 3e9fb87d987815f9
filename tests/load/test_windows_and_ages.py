from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.load.readings import ReadingState
from plimsoll.load.windows import covered_share, is_partial, states

OK, STALE, MISSING = ReadingState.OK, ReadingState.STALE, ReadingState.MISSING


@pytest.mark.parametrize(
    ("clock_rate", "window_s", "want"),
    [
        pytest.param(1.0, 300, 1.0, id="a full window"),
        pytest.param(1.001, 300, 1.0, id="clocks tick a little fast"),
        pytest.param(0.2, 300, 0.2, id="a minute of five"),
        pytest.param(0.1, 300, 0.1, id="half a minute is enough"),
        pytest.param(0.09, 300, None, id="less is not"),
        pytest.param(0.4, 30, None, id="less than half of a window of half a minute"),
        pytest.param(0.6, 30, 0.6, id="more than half of it"),
        pytest.param(None, 300, None, id="not two samples"),
        pytest.param(math.nan, 300, None, id="a clock that is no number"),
        pytest.param(math.inf, 300, None, id="a clock that is not finite"),
        pytest.param(-1.0, 300, None, id="a clock that runs backwards"),
        pytest.param(0.0, 300, None, id="a clock that stands"),
        pytest.param(25.0, 300, None, id="a clock that was set inside the window"),
    ],
)
def test_the_share_of_a_window_that_samples_cover(
    clock_rate: float | None, window_s: float, want: float | None
) -> None:
    assert covered_share(clock_rate, window_s=window_s) == want


@given(st.floats(), st.floats(30, 3 * 86400))
def test_a_share_never_inflates_a_rate_beyond_what_half_a_minute_justifies(clock: float, window_s: float) -> None:
    share = covered_share(clock, window_s=window_s)
    assert share is None or min(30.0, window_s / 2) / window_s <= share <= 1.0


def test_a_window_counts_as_partial_until_it_is_nearly_full() -> None:
    assert is_partial(np.array([math.nan, 0.5, 0.94, 0.96, 1.0])).tolist() == [True, True, True, False, False]


@pytest.mark.parametrize(
    ("age_s", "refresh_s", "want"),
    [
        pytest.param(0, 30, OK, id="just now"),
        pytest.param(-5, 30, OK, id="from a clock that is a little ahead"),
        pytest.param(90, 30, OK, id="three refreshes"),
        pytest.param(91, 30, STALE, id="more than three"),
        pytest.param(60, 5, OK, id="scraped once a minute, refreshed faster"),
        pytest.param(600, 30, STALE, id="ten minutes"),
        pytest.param(601, 30, MISSING, id="more than ten minutes"),
        pytest.param(math.nan, 30, MISSING, id="no sample"),
    ],
)
def test_a_sample_is_judged_by_its_age(age_s: float, refresh_s: float, want: ReadingState) -> None:
    assert states(np.array([age_s]), refresh_interval_s=refresh_s).tolist() == [want]


@given(st.lists(st.floats(0, 1000), min_size=2))
def test_older_is_never_better(ages_s: list[float]) -> None:
    judged = states(np.array(sorted(ages_s)), refresh_interval_s=30)
    assert (np.diff(judged) <= 0).all()
