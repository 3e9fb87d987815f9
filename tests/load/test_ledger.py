from __future__ import annotations

import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from plimsoll.cluster.times import timestamp
from plimsoll.load.entry import Entry
from plimsoll.load.ledger import Ledger
from plimsoll.load.stays import stays_on
from plimsoll.load.unseen import unseen
from tests.builders import NOW_S, PodBuilder, make_pod

WINDOW_S = 300.0
seconds = st.floats(min_value=-1000, max_value=2000)


def entry(*, placed_s: float = NOW_S, started_s: float | None = NOW_S, ended_s: float | None = None) -> Entry:
    return Entry(make_pod("p").info(), placed_s, started_s, ended_s)


def left(started: Entry, *, after_s: float, window_s: float = WINDOW_S) -> float:
    """The share that has to be added to what is measured."""
    sampled_at_s, windows_s = np.array([NOW_S + after_s]), np.array([[window_s]])
    return float(unseen(stays_on([(started, 0)]), sampled_at_s=sampled_at_s, window_s=windows_s)[0, 0])


@pytest.mark.parametrize(
    ("after_s", "window_s", "want"),
    [
        pytest.param(-10, 300, 1.0, id="sampled before it started"),
        pytest.param(0, 300, 1.0, id="sampled when it started"),
        pytest.param(75, 300, 0.75, id="a quarter of the window has seen it"),
        pytest.param(300, 300, 0.0, id="the whole window has"),
        pytest.param(900, 300, 0.0, id="and for long"),
        pytest.param(-1, 0, 1.0, id="an instant value from before"),
        pytest.param(0, 0, 0.0, id="an instant value shows it at once"),
    ],
)
def test_what_a_window_has_not_seen_is_in_flight(after_s: float, window_s: float, want: float) -> None:
    assert left(entry(), after_s=after_s, window_s=window_s) == pytest.approx(want)


def test_what_has_not_started_is_in_flight_until_it_is_given_up() -> None:
    waiting = entry(started_s=None)
    assert [left(waiting, after_s=s) for s in (0, 599, 600, 5000)] == [1.0, 1.0, 0.0, 0.0]


def test_where_nothing_is_sampled_nothing_has_been_seen() -> None:
    assert left(entry(), after_s=math.nan) == 1.0
    assert left(entry(started_s=None), after_s=math.nan) == 1.0


@settings(max_examples=60, deadline=None)
@given(seconds, seconds, st.floats(min_value=0, max_value=3600), st.booleans())
def test_a_later_sample_never_shows_less(first: float, second: float, window_s: float, started: bool) -> None:  # noqa: FBT001
    flying = entry(started_s=NOW_S if started else None)
    earlier, later = sorted((first, second))
    assert (
        0.0 <= left(flying, after_s=later, window_s=window_s) <= left(flying, after_s=earlier, window_s=window_s) <= 1.0
    )


# -- the ledger -------------------------------------------------------------------------------------------


def pod(*, scheduled_s: float | None = None, started_s: float | None = None) -> PodBuilder:
    built = make_pod("p").on("n1")
    if scheduled_s is not None:
        condition = {"type": "PodScheduled", "status": "True", "lastTransitionTime": timestamp(scheduled_s)}
        built.status(conditions=[condition])
    return built if started_s is None else built.status(startTime=timestamp(started_s))


def test_a_pod_is_placed_when_it_is_entered() -> None:
    assert Ledger().put(pod().info(), now_s=NOW_S) == Entry(pod().info(), NOW_S, None)


def test_a_pods_own_times_go_before_the_clock() -> None:
    assert Ledger().put(pod(scheduled_s=NOW_S - 50).info(), now_s=NOW_S).placed_s == NOW_S - 50
    assert Ledger().put(pod(started_s=NOW_S - 40).info(), now_s=NOW_S).placed_s == NOW_S - 40


def test_a_pod_that_starts_keeps_the_time_at_which_it_was_placed() -> None:
    ledger = Ledger()
    ledger.put(pod().info(), now_s=NOW_S)
    started = ledger.put(pod(scheduled_s=NOW_S + 1, started_s=NOW_S + 5).info(), now_s=NOW_S + 6)
    assert (started.placed_s, started.started_s) == (NOW_S, NOW_S + 5)
    assert list(ledger.entries()) == [started]


def test_what_is_released_is_gone() -> None:
    ledger = Ledger()
    ledger.put(pod().info(), now_s=NOW_S)
    ledger.release(pod().info().uid)
    ledger.release(pod().info().uid)
    assert len(ledger) == 0


@pytest.mark.parametrize(
    ("built", "kept"),
    [
        pytest.param(pod(started_s=NOW_S + 1), True, id="started since"),
        pytest.param(pod(started_s=NOW_S), False, id="started before, and covered"),
        pytest.param(pod(scheduled_s=NOW_S - 599), True, id="not started yet"),
        pytest.param(pod(scheduled_s=NOW_S - 600), False, id="never started, and given up"),
    ],
)
def test_what_every_window_has_covered_is_dropped(built: PodBuilder, kept: bool) -> None:  # noqa: FBT001
    ledger = Ledger()
    ledger.put(built.info(), now_s=NOW_S)
    ledger.prune(covered_before_s=NOW_S)
    assert len(ledger) == int(kept)
