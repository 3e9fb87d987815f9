"""The shorter window sees sooner, the longer one calmer; each is put right by itself, then the larger counts."""

from __future__ import annotations

import random
from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from plimsoll.cluster.pod import Uid
from plimsoll.load.carry_over import carry_over
from plimsoll.load.entry import Entry
from plimsoll.load.estimate import PolicyLoad
from plimsoll.load.readings import Readings, WindowMean
from plimsoll.load.stays import stays_on
from plimsoll.policy.compiled import CPU, NETWORK_RECEIVE, InFlight
from tests.builders import CAPACITY, NOW_S, make_cache, make_load, make_node, make_pod, make_policy, make_readings
from tests.load.answers import Answering, policy_of

RECEIVING = make_policy(weights={NETWORK_RECEIVE: 1})
SHORT_S, LONG_S = 300.0, 900.0


def seen(short: float | None, long: float | None) -> Readings:
    """By node n1's network, as shares of its capacity."""
    known = [mean for mean in (short, long) if mean is not None]
    readings = make_readings({NETWORK_RECEIVE: {"n1": max(known, default=None)}})
    means = [np.array([np.nan if mean is None else mean]) for mean in (short, long)]
    windows = (WindowMean(SHORT_S, means[0]), WindowMean(LONG_S, means[1]))
    return replace(readings, metrics={NETWORK_RECEIVE: replace(readings.metrics[NETWORK_RECEIVE], windows=windows)})


def pod(share: float, *, started: float | None, ended: float | None = None, name: str = "p") -> Entry:
    """It receives that share of what a node can, and says so; times in seconds from now."""
    told = make_pod(name).on("n1").annotate("plimsoll.dev/network-receive", str(int(share * CAPACITY[NETWORK_RECEIVE])))
    at = [None if time is None else NOW_S + time for time in (started, ended)]
    return Entry(replace(told.info(), uid=Uid(name)), NOW_S - 5000, *at)


def measured(readings: Readings, *entries: Entry) -> float:
    load = make_load(make_cache([make_node("n1")]), RECEIVING, readings, entries)
    return float(load.metrics[0].measured()[0])


def test_without_pods_that_come_or_go_the_larger_mean_counts() -> None:
    assert (measured(seen(0.2, 0.3)), measured(seen(0.4, 0.3))) == (0.3, 0.4)


def test_a_window_that_is_missing_does_not_count() -> None:
    assert (measured(seen(None, 0.3)), measured(seen(0.2, None))) == (0.3, 0.2)
    assert np.isnan(measured(seen(None, None)))


def test_each_window_lacks_what_it_has_not_seen_yet() -> None:
    # Half of the short window and a sixth of the long one have seen the pod; nothing else is there.
    come = pod(0.6, started=-150)
    assert measured(seen(0.3, 0.1), come) == pytest.approx(0.6)


def test_what_a_burst_has_left_in_the_long_window_is_no_load() -> None:
    """Or a node would be avoided for ten minutes after its pods have gone."""
    gone = pod(0.6, started=-2000, ended=-300)
    assert measured(seen(0.0, 0.4), gone) == pytest.approx(0.0, abs=1e-9)
    assert measured(seen(0.0, 0.4)) == 0.4


def test_no_more_is_subtracted_than_was_measured() -> None:
    assert measured(seen(0.1, 0.1), pod(0.6, started=-2000, ended=0)) == 0.0


def test_a_policy_that_ignores_pods_in_flight_ignores_departed_ones_as_well() -> None:
    policy = replace(RECEIVING, in_flight=InFlight.IGNORE)
    entries = [pod(0.6, started=-10), pod(0.2, started=-2000, ended=0, name="gone")]
    load = make_load(make_cache([make_node("n1")]), policy, seen(0.3, 0.2), entries)
    load.depart(pod(0.2, started=-2000, ended=0, name="late"), 0)
    assert load.metrics[0].in_flight.tolist() == [[0.0], [0.0]]
    assert load.metrics[0].measured().tolist() == [0.3]


# -- a story ------------------------------------------------------------------------------------------------

# Share of the node, seconds from now to its start, and how long it ran.
Stay = tuple[float, float, float | None]
STAYS = st.tuples(st.floats(0.01, 0.3), st.floats(-3000, 0), st.none() | st.floats(0, 3000))


@settings(max_examples=60, deadline=None)
@given(st.lists(STAYS, max_size=8), st.floats(0, 0.5), st.floats(0, 120))
def test_both_windows_put_right_tell_the_true_load(story: list[Stay], background: float, age_s: float) -> None:
    """Pods of constant load that come and go as they like, a sample of some age: what is there now is found."""
    entries, now, sampled = [], background, -age_s
    means = dict.fromkeys((SHORT_S, LONG_S), background)
    for i, (asked, started, ran_s) in enumerate(story):
        ended = None if ran_s is None or started + ran_s > 0 else started + ran_s
        share = int(asked * CAPACITY[NETWORK_RECEIVE]) / CAPACITY[NETWORK_RECEIVE]
        entries.append(pod(share, started=started, ended=ended, name=f"p{i}"))
        now += share if ended is None else 0.0
        for window_s in means:
            until = sampled if ended is None else min(sampled, ended)
            means[window_s] += share * np.clip((until - max(sampled - window_s, started)) / window_s, 0.0, 1.0)
    readings = seen(means[SHORT_S], means[LONG_S])
    metric = readings.metrics[NETWORK_RECEIVE]
    readings = replace(readings, metrics={NETWORK_RECEIVE: replace(metric, sampled_at_s=metric.sampled_at_s - age_s)})
    load = make_load(make_cache([make_node("n1")]), RECEIVING, readings, entries)
    right = load.metrics[0].means + load.metrics[0].in_flight / CAPACITY[NETWORK_RECEIVE]
    assert right[:, 0].tolist() == pytest.approx([now, now], abs=1e-6)
    assert load.metrics[0].measured()[0] == pytest.approx(now, abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(st.lists(STAYS, min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_what_goes_leaves_nothing_behind_in_whatever_order(story: list[Stay], order: random.Random) -> None:
    before = make_load(
        make_cache([make_node("n1")]), RECEIVING, seen(0.5, 0.4), [pod(0.123, started=-77, name="there")]
    )
    was = before.metrics[0].in_flight.tolist()
    entries = [pod(share, started=started, name=f"p{i}") for i, (share, started, _) in enumerate(story)]
    for entry in entries:
        before.place(entry, 0)
    order.shuffle(entries)
    for entry in entries:
        before.remove(entry.pod.uid)
    assert before.metrics[0].in_flight.tolist() == was


def test_a_refresh_says_what_was_counted_as_it_came() -> None:
    cache = make_cache([make_node("n1")])
    entries = [pod(0.1, started=-30), pod(0.2, started=-400, name="q"), pod(0.3, started=-900, ended=-20, name="r")]
    one_by_one = PolicyLoad(RECEIVING)
    one_by_one.refresh(seen(0.5, 0.5), cache.view, stays_on(()), cache.view.live, now_s=NOW_S)
    for entry in entries:
        one_by_one.place(entry, 0)
    at_once = make_load(cache, RECEIVING, seen(0.5, 0.5), entries)
    assert one_by_one.metrics[0].in_flight.tolist() == at_once.metrics[0].in_flight.tolist()


# -- where windows come from ----------------------------------------------------------------------------------


def test_prometheus_is_read_window_by_window() -> None:
    answering = Answering().target("node-1", idle=0.9, idle_long=0.5).target("node-2", idle=0.25)
    cpu = answering.read(policy_of(CPU), [make_node("node-1"), make_node("node-2"), make_node("node-3")]).metrics[CPU]
    assert cpu.utilisation[:2].tolist() == [0.5, 0.75]
    assert [window.length_s for window in cpu.windows] == [300.0, 900.0]
    assert cpu.windows[0].utilisation[:2].tolist() == pytest.approx([0.1, 0.75])
    assert np.isnan(cpu.windows[0].utilisation[2])
    assert np.isnan(cpu.windows[1].utilisation[2])


def test_within_a_window_its_own_busiest_device_counts() -> None:
    speed = {"eth0": 125e6, "eth1": 125e6}
    answering = Answering().target(
        "node-1", receive={"eth0": 50e6, "eth1": 25e6}, receive_long={"eth0": 12.5e6, "eth1": 100e6}, speed=speed
    )
    found = answering.read(policy_of(NETWORK_RECEIVE), [make_node("node-1")]).metrics[NETWORK_RECEIVE]
    assert found.utilisation.tolist() == [0.8]
    assert [window.utilisation.tolist() for window in found.windows] == [[0.4], [0.8]]


def test_what_is_odd_is_noted_once_for_both_windows() -> None:
    answering = Answering().target("node-1", receive={"eth0": 50e6}, receive_long={"eth0": 50e6})
    assert answering.read(policy_of(NETWORK_RECEIVE), [make_node("node-1")]).oddities.counts == {"Capacity": 1}


def test_windows_are_carried_over_with_their_nodes() -> None:
    before = seen(0.2, 0.3)
    now = replace(make_readings({}, taken_at_s=NOW_S + 30, failures={"": "no answer"}), nodes=("n2", "n1"))
    carried = carry_over(before, now, interval_s=30).metrics[NETWORK_RECEIVE]
    assert [window.utilisation[1] for window in carried.windows] == [0.2, 0.3]
    assert all(np.isnan(window.utilisation[0]) for window in carried.windows)
