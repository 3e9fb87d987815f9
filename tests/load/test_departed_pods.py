"""What a window still shows of pods that are gone is subtracted, as what it does not show yet is added."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from plimsoll.cluster.times import timestamp
from plimsoll.load.entry import Entry
from plimsoll.load.ledger import Ledger
from plimsoll.load.stays import stays_on
from plimsoll.load.unseen import unseen
from tests.builders import NOW_S, make_cache, make_load, make_node, make_pod, make_policy, make_readings

WINDOW_S = 300.0
times = st.floats(min_value=-2000, max_value=2000)
windows = st.floats(min_value=1, max_value=3600)


def share(*, started: float | None, ended: float | None, sampled: float, window_s: float = WINDOW_S) -> float:
    """Of the pod's load, to be added to what was measured; times in seconds from some moment on."""
    at = [None if time is None else NOW_S + time for time in (started, ended)]
    of = stays_on([(Entry(make_pod("p").info(), NOW_S - 5000, *at), 0)])
    found = unseen(of, sampled_at_s=np.array([NOW_S + sampled]), window_s=np.array([[window_s]]))
    return float(found[0, 0])


@pytest.mark.parametrize(
    ("ended", "sampled", "window_s", "want"),
    [
        pytest.param(0, 0, 300, -1.0, id="all of the window has seen it"),
        pytest.param(0, 75, 300, -0.75, id="a quarter has passed without it"),
        pytest.param(0, 300, 300, 0.0, id="the window has forgotten it"),
        pytest.param(0, 900, 300, 0.0, id="and for long"),
        pytest.param(0, -100, 300, -1.0, id="sampled before it ended: what is in there is there no more"),
        pytest.param(-900, -800, 300, -0.2 / 3, id="half of the window is from before its start"),
        pytest.param(0, -1, 0, -1.0, id="an instant value from before its end"),
        pytest.param(0, 0, 0, 0.0, id="an instant value forgets it at once"),
        pytest.param(0, float("nan"), 300, 0.0, id="what is not measured contains nothing"),
    ],
)
def test_what_a_window_still_shows_is_subtracted(ended: float, sampled: float, window_s: float, want: float) -> None:
    started = -920.0 if ended < 0 else -1000.0
    assert share(started=started, ended=ended, sampled=sampled, window_s=window_s) == pytest.approx(want)


@settings(max_examples=80, deadline=None)
@given(times, st.floats(min_value=0, max_value=4000), times, windows)
def test_a_departure_mirrors_an_arrival(started: float, ran_s: float, sampled: float, window_s: float) -> None:
    """What a mean contains of a stay is what it contains of one that goes on, less what it would of what came after."""
    ended = started + ran_s
    contained = -share(started=started, ended=ended, sampled=sampled, window_s=window_s)
    from_start, from_end = (
        1 - share(started=begin, ended=None, sampled=sampled, window_s=window_s) for begin in (started, ended)
    )
    assert contained == pytest.approx(from_start - from_end, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(times, times, st.floats(min_value=0, max_value=3600))
def test_a_later_sample_after_its_end_never_shows_more(first: float, second: float, window_s: float) -> None:
    earlier, later = sorted((abs(first), abs(second)))
    shown = [-share(started=-500, ended=0, sampled=sampled, window_s=window_s) for sampled in (earlier, later)]
    assert 0.0 <= shown[1] <= shown[0] + 1e-12


# -- the ledger -------------------------------------------------------------------------------------------


def test_a_pod_that_ends_is_kept_until_every_window_has_forgotten_it() -> None:
    ledger, pod = Ledger(), make_pod("p").on("n1").started().info()
    ended = ledger.end(pod, now_s=NOW_S)
    assert ended is not None
    assert (ended.started_s, ended.ended_s) == (pod.started_s, NOW_S)
    ledger.prune(covered_before_s=NOW_S - 1)
    assert list(ledger.entries()) == [ended]
    ledger.prune(covered_before_s=NOW_S)
    assert len(ledger) == 0


def test_a_pod_that_never_ran_leaves_nothing() -> None:
    ledger, pod = Ledger(), make_pod("p").on("n1").info()
    ledger.put(pod, now_s=NOW_S)
    assert ledger.end(pod, now_s=NOW_S + 5) is None
    assert len(ledger) == 0


def test_a_pod_that_is_seen_again_has_not_ended() -> None:
    ledger, pod = Ledger(), make_pod("p").on("n1").started().info()
    ledger.end(pod, now_s=NOW_S)
    assert ledger.put(pod, now_s=NOW_S + 5).ended_s is None


def test_an_idle_pod_that_leaves_does_not_make_its_node_seem_empty() -> None:
    """What it requested it need not have used: without history nothing is subtracted for it."""
    cache = make_cache([make_node("n1")])
    idle = make_pod("idle").cpu("8").on("n1").started(timestamp(NOW_S - 5000)).info()
    load = make_load(cache, make_policy(weights={"cpu": 1}), make_readings({"cpu": {"n1": 0.95}}))
    load.depart(Entry(idle, NOW_S - 5000, NOW_S - 5000, NOW_S), 0)
    assert load.metrics[0].measured().tolist() == [0.95]
