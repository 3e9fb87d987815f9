from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from plimsoll.load.confidence import confidence, true_age_s

ages = st.floats(min_value=0, max_value=2000)
intervals = st.floats(min_value=5, max_value=3600)


def of(age_s: float, interval_s: float = 30.0) -> float:
    return float(confidence(np.array([age_s]), interval_s=interval_s)[0])


@pytest.mark.parametrize(
    ("age_s", "interval_s", "want"),
    [
        pytest.param(0, 30, 1.0, id="just sampled"),
        pytest.param(90, 30, 1.0, id="three intervals old"),
        pytest.param(240, 30, 0.5, id="half after another 150 s"),
        pytest.param(390, 30, 0.25, id="and half again"),
        pytest.param(600, 30, 2 ** -(510 / 150), id="ten minutes old, the last to be believed"),
        pytest.param(601, 30, 0.0, id="beyond ten minutes"),
        pytest.param(-60, 30, 1.0, id="from a clock that is a little ahead"),
        pytest.param(-240, 30, 0.5, id="from one that is wrong: as old as it is ahead"),
        pytest.param(-3600, 30, 0.0, id="from one that is an hour ahead"),
        pytest.param(float("nan"), 30, 0.0, id="never sampled"),
        pytest.param(float("inf"), 30, 0.0, id="sampled before all times"),
        pytest.param(90, 5, 1.0, id="refreshing faster than sources scrape makes nothing older"),
        pytest.param(360, 120, 1.0, id="refreshing slowly is no fault of the sample"),
        pytest.param(3600, 1200, 1.0, id="even beyond ten minutes"),
        pytest.param(3601, 1200, 0.0, id="but not beyond three intervals then"),
    ],
)
def test_a_sample_is_believed_by_its_age(age_s: float, interval_s: float, want: float) -> None:
    assert of(age_s, interval_s) == pytest.approx(want)


@settings(max_examples=60, deadline=None)
@given(ages, ages, intervals)
def test_older_is_never_believed_more(first: float, second: float, interval_s: float) -> None:
    younger, older = sorted((first, second))
    assert 0.0 <= of(older, interval_s) <= of(younger, interval_s) <= 1.0


@pytest.mark.parametrize(
    ("age_s", "want"),
    [(0.0, 0.0), (30.0, 30.0), (-60.0, 0.0), (-61.0, 61.0), (float("nan"), float("nan"))],
)
def test_a_sample_from_the_future_is_as_old_as_it_is_ahead(age_s: float, want: float) -> None:
    assert float(true_age_s(np.array(age_s))) == pytest.approx(want, nan_ok=True)
