"""What the simulator says that Prometheus would answer is what PromQL makes of the exporters' samples."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from plimsoll.load.queries import Ask, Window
from plimsoll.sim.answers import prometheus_answers
from plimsoll.sim.metrics import MetricsPlane
from plimsoll.sim.scenario import Fault, FaultKind
from plimsoll.sim.world import CPU_AT, MEMORY_AT, RECEIVE_AT, STEP_S, World
from tests.sim.prometheus import Samples, avg_over_time, rate
from tests.sim.worlds import CAPACITY, POLICY, make_fault, make_plane, make_world

# So that counters are far from 0, where rate() extrapolates otherwise.
_LONG_AGO = 1e5
NODES = 4
WAVE = 0.4 + 0.3 * np.sin(np.arange(480) / 9) * np.array([1.0, 0.2, 1.0, 0.5])[:, None]
Value = Callable[[float], float]


def carried(world: World, metric: int) -> Value:
    """A counter of what a node has carried, in the share of a node's capacity times seconds."""
    steps = np.concatenate(([0.0], np.cumsum(WAVE[metric] * STEP_S)))

    def until(at_s: float) -> float:
        return _LONG_AGO + float(np.interp(at_s, np.arange(481) * STEP_S, steps))

    return until


def exported(
    plane: MetricsPlane, node: int, value: Value, fault: Fault | None, until_s: float, *, counter: bool = True
) -> Samples:
    """One node's samples of a series in the last quarter of an hour, as the fault makes them."""
    scrapes = [
        float(plane.scrapes.before(s)[node]) for s in np.arange(max(until_s - 930.0, 15.0), until_s + 15.0, 15.0)
    ]
    return [(s, v) for s in scrapes if (v := _sample(s, value, fault, counter=counter)) is not None]


def _sample(at_s: float, value: Value, fault: Fault | None, *, counter: bool) -> float | None:
    inside = fault is not None and fault.from_s <= at_s < fault.until_s
    if fault is None or not inside:
        return value(at_s) - (_reset_before(at_s, value, fault) if counter else 0.0)
    match fault.kind:
        case FaultKind.DARK:
            return None
        case FaultKind.FROZEN | FaultKind.STUCK:
            return value(fault.from_s)
        case FaultKind.COUNTER_RESET if counter:
            return value(at_s) - _reset_before(at_s, value, fault)
    return value(at_s)


def _reset_before(at_s: float, value: Value, fault: Fault | None) -> float:
    if fault is None or fault.kind is not FaultKind.COUNTER_RESET:
        return 0.0
    resets_s = [s for s in np.arange(fault.from_s, fault.until_s, fault.every_s) if s <= at_s]
    return value(resets_s[-1]) if resets_s else 0.0


def share(idle: float | None, busy: float | None) -> float | None:
    if idle is None or busy is None:
        return None
    return idle / (idle + busy) if idle + busy else math.nan


def answered(plane: MetricsPlane, id_: str, now_s: float) -> dict[str, float]:
    samples = prometheus_answers(plane, POLICY, now_s=now_s).answers[id_]
    return {sample.labels["node"]: sample.value for sample in samples}


KINDS = [None, FaultKind.DARK, FaultKind.FROZEN, FaultKind.STUCK, FaultKind.COUNTER_RESET]
MOMENTS_S = (40.0, 3000.0, 3631.0, 3700.0, 3880.0, 4400.0, 5431.0, 5600.0, 6700.0)


@pytest.mark.parametrize("now_s", MOMENTS_S)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.value if kind else "none")
@pytest.mark.parametrize("window", Window)
def test_rates_and_means_are_those_of_the_samples(kind, now_s, window):
    fault = make_fault(kind, every_s=400.0) if kind else None
    world = make_world(WAVE[:, None], nodes=NODES, faults=(fault,) if fault else ())
    plane = make_plane(world)
    over = {"end_s": now_s, "window_s": window.length_s(POLICY.time_range_s)}
    found = {ask: answered(plane, ask.over(window), now_s) for ask in (Ask.CLOCK, Ask.IDLE, Ask.RECEIVE, Ask.AVAILABLE)}
    busy, traffic = carried(world, CPU_AT), carried(world, RECEIVE_AT)
    # A counter begins anew now and then, and what it counted since the last scrape is lost; where it begins in the
    # window, rate() extrapolates to that moment only.
    close = {"rel": 0.04, "abs": 2e-3} if kind is FaultKind.COUNTER_RESET else {"rel": 1e-6, "abs": 1e-9}
    clock_stands = fault if kind in (FaultKind.DARK, FaultKind.STUCK) else None
    for node, described in enumerate(world.nodes):
        for ask, told, exact in (
            (Ask.CLOCK, exported(plane, node, lambda s: 1.7e9 + s, clock_stands, now_s, counter=False), True),
            (
                Ask.RECEIVE,
                [(s, v * CAPACITY[RECEIVE_AT]) for s, v in exported(plane, node, traffic, fault, now_s)],
                False,
            ),
        ):
            wanted = rate(told, **over)
            got = found[ask].get(described.name)
            scale = CAPACITY[RECEIVE_AT] if ask is Ask.RECEIVE else 1.0
            assert (got is None) == (wanted is None), (ask, node)
            if wanted is not None:
                tolerance = {"rel": 1e-6} if exact else close
                assert got / scale == pytest.approx(wanted / scale, **tolerance), (ask, node)
        not_busy = exported(plane, node, lambda s: _LONG_AGO + s - (busy(s) - _LONG_AGO), fault, now_s)
        wanted = share(rate(not_busy, **over), rate(exported(plane, node, busy, fault, now_s), **over))
        got = found[Ask.IDLE].get(described.name)
        assert (got is None) == (wanted is None), node
        if wanted is not None:
            assert got == pytest.approx(wanted, nan_ok=True, **close), node
        free = exported(plane, node, lambda s: 1 - WAVE[MEMORY_AT][int(s / STEP_S)], fault, now_s, counter=False)
        wanted, got = avg_over_time(free, **over), found[Ask.AVAILABLE].get(described.name)
        assert (got is None) == (wanted is None)
        if wanted is not None:
            # The simulator takes the mean over time between the first and the last scrape.
            assert got / CAPACITY[MEMORY_AT] == pytest.approx(wanted, abs=0.004)


def test_the_old_series_of_a_renamed_device_ends_while_the_clock_goes_on():
    fault = make_fault(FaultKind.RENAMED_DEVICE)
    world = make_world(WAVE[:, None], nodes=NODES, faults=(fault,))
    plane = make_plane(world)
    traffic = carried(world, RECEIVE_AT)
    for now_s in (3700.0, 3880.0, 4000.0, 5500.0, 5800.0):
        found, clock = (answered(plane, ask.over(Window.SHORT), now_s) for ask in (Ask.RECEIVE, Ask.CLOCK))
        assert list(clock.values()) == pytest.approx([1.0] * NODES)
        for node, described in enumerate(world.nodes):
            gone = [
                (s, v) for s, v in exported(plane, node, traffic, None, now_s) if not fault.from_s <= s < fault.until_s
            ]
            wanted, got = rate(gone, end_s=now_s, window_s=300.0), found.get(described.name)
            assert (got is None) == (wanted is None)
            if wanted is not None:
                assert got / CAPACITY[RECEIVE_AT] == pytest.approx(wanted)


def test_in_an_outage_there_is_no_answer_but_a_failure():
    plane = make_plane(make_world(faults=(make_fault(FaultKind.OUTAGE),)))
    answers = prometheus_answers(plane, POLICY, now_s=4000.0)
    assert not answers.answers
    assert "does not answer" in answers.failures[""]
    assert not prometheus_answers(plane, POLICY, now_s=5400.0).failures


@pytest.mark.parametrize("kind", FaultKind, ids=lambda kind: kind.value)
def test_before_the_first_scrape_there_is_no_series(kind):
    plane = make_plane(make_world(faults=(make_fault(kind),)))
    assert not any(prometheus_answers(plane, POLICY, now_s=0.0).answers.values())


def test_of_dark_exporters_instant_values_are_kept_for_ten_minutes():
    plane = make_plane(make_world(faults=(make_fault(FaultKind.DARK),)))
    for id_ in (Ask.LAST_SAMPLE, Ask.TOTAL, Ask.SPEED, Ask.UNAME):
        assert len(answered(plane, id_, 4180.0)) == 3
        assert not answered(plane, id_, 4201.0)
    assert max(answered(plane, Ask.LAST_SAMPLE, 4180.0).values()) <= 3600.0


def test_a_range_with_one_value_that_is_none_has_none():
    plane = make_plane(make_world(0.3, faults=(make_fault(FaultKind.NAN, from_s=3600.0, until_s=3700.0),)))
    for ask in (Ask.RECEIVE, Ask.IDLE, Ask.AVAILABLE):
        assert np.isnan(list(answered(plane, ask.over(Window.SHORT), 3660.0).values())).all()
        assert not np.isnan(list(answered(plane, ask.over(Window.SHORT), 4020.0).values())).any()
        assert np.isnan(list(answered(plane, ask.over(Window.LONG), 4020.0).values())).all()


class TestSkewedClocks:
    def plane(self) -> MetricsPlane:
        return make_plane(
            make_world(WAVE[:, None], nodes=NODES, faults=(make_fault(FaultKind.SKEWED_CLOCK, skew_s=240.0),))
        )

    def test_a_source_whose_clock_is_ahead_answers_for_the_past_as_if_it_were_now(self):
        skewed, true = self.plane(), make_plane(make_world(WAVE[:, None], nodes=NODES))
        now_s = 4240.0
        id_ = Ask.RECEIVE.over(Window.SHORT)
        assert answered(skewed, id_, now_s) == pytest.approx(answered(true, id_, now_s - 240.0))
        assert all(now_s - 15 < s <= now_s for s in answered(skewed, Ask.LAST_SAMPLE, now_s).values())

    def test_of_a_source_whose_clock_is_behind_the_windows_end_is_empty(self):
        plane = self.plane()
        now_s = 5000.0
        assert all(now_s - 255 < s <= now_s - 240 for s in answered(plane, Ask.LAST_SAMPLE, now_s).values())
        assert all(0.1 < share < 0.3 for share in answered(plane, Ask.CLOCK.over(Window.SHORT), now_s).values())

    def test_a_clock_that_was_set_within_the_window_seems_to_run_too_fast(self):
        plane = self.plane()
        soon = answered(plane, Ask.CLOCK.over(Window.SHORT), 4000.0)
        assert all(rate > 1.1 for rate in soon.values())
        later = answered(plane, Ask.CLOCK.over(Window.SHORT), 4240.0)
        assert list(later.values()) == pytest.approx([1.0] * NODES)


def test_only_devices_that_the_policy_asks_for_are_answered():
    plane = make_plane(make_world(0.3))
    other = replace(POLICY, device_name="wlan0")
    answers = prometheus_answers(plane, other, now_s=3600.0).answers
    assert not answers[Ask.RECEIVE.over(Window.SHORT)]
    assert not answers[Ask.SPEED]
    assert answers[Ask.IDLE.over(Window.SHORT)]
