from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import InvalidInput
from plimsoll.policy.durations import seconds


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("90s", 90, id="seconds"),
        pytest.param("5m", 300, id="minutes"),
        pytest.param("24h", 86400, id="hours"),
        pytest.param("1h30m15s", 5415, id="all units"),
        pytest.param("30s5m", 330, id="units in any order"),
        pytest.param("1m1m", 120, id="a unit twice"),
        pytest.param("1.5h", 5400, id="a fraction"),
        pytest.param(".5m", 30, id="a fraction without a leading digit"),
        pytest.param("2.m", 120, id="a dot without a fraction"),
        pytest.param("0.1m", 6, id="a fraction that floats cannot hold"),
        pytest.param("0s", 0, id="nothing"),
    ],
)
def test_a_go_duration_is_read_in_whole_seconds(text: str, want: int) -> None:
    assert seconds(text) == want


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("5", id="no unit"),
        pytest.param("m", id="no number"),
        pytest.param("1d", id="days, which Go does not know"),
        pytest.param("100ms", id="milliseconds"),
        pytest.param("-5m", id="negative"),
        pytest.param("5 m", id="a space"),
        pytest.param("5m\n", id="a newline"),
        pytest.param("\u0665m", id="digits of another script"),
        pytest.param("1.2.3s", id="two dots"),
        pytest.param(".s", id="a dot alone"),
    ],
)
def test_what_is_no_duration_is_refused_with_the_mend(text: str) -> None:
    with pytest.raises(InvalidInput, match="write hours, minutes and seconds"):
        seconds(text)


def test_half_a_second_is_refused_with_a_longer_one() -> None:
    with pytest.raises(InvalidInput, match=r"write e\.g\. 31s"):
        seconds("30.5s")


@given(st.integers(0, 10_000), st.integers(0, 10_000), st.integers(0, 10_000))
def test_parts_add_up(hours: int, minutes: int, secs: int) -> None:
    assert seconds(f"{hours}h{minutes}m{secs}s") == hours * 3600 + minutes * 60 + secs
