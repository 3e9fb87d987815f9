"""Pods come in rollouts that are made up, or in the bursts of a recording."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from plimsoll.sim.arrivals import recorded_rollouts, rollouts
from plimsoll.sim.recorded import Arrival

HORIZON_S = 36_000.0


def generator(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("single", [False, True], ids=["rollouts", "single"])
def test_there_are_as_many_pods_as_wanted_and_apps_are_numbered_as_they_appear(single):
    found = list(rollouts(pods=500, horizon_s=HORIZON_S, single=single, rng=generator()))
    sizes = [len(rollout.pods) for rollout in found]
    assert sum(sizes) == 500
    assert max(sizes) == 1 if single else 10 < max(sizes) <= 40
    seen = -1
    for rollout in found:
        assert 0 <= rollout.app <= seen + 1
        seen = max(seen, rollout.app)
    assert 0.5 < 1 - (seen + 1) / len(found) < 0.7, "six of ten are of an app that was there before"


def test_the_pods_of_a_rollout_come_within_seconds_and_live_equally_long():
    for rollout in rollouts(pods=300, horizon_s=HORIZON_S, single=False, rng=generator()):
        at_s, lives_s = zip(*rollout.pods, strict=True)
        assert max(at_s) - min(at_s) <= 5
        assert len(set(lives_s)) == 1
        assert lives_s[0] >= 600


gaps = st.lists(st.one_of(st.integers(0, 60), st.integers(61, 20_000)), min_size=1, max_size=40)


def recording(gaps_s: list[int]) -> list[Arrival]:
    begins_s = np.concatenate(([100.0], 100.0 + np.cumsum(gaps_s)))
    return [Arrival(f"app-{i % 3}", float(s), float(s) + 9000.0) for i, s in enumerate(begins_s)]


@settings(deadline=None)
@given(gaps)
def test_what_was_recorded_fits_into_the_time_with_its_bursts_as_they_were(gaps_s):
    found = recorded_rollouts(recording(gaps_s), pods=1000, horizon_s=HORIZON_S, rng=generator())
    at_s = np.array([at for rollout in found for at, _ in rollout.pods])
    assert len(at_s) == len(gaps_s) + 1
    assert at_s[0] == 0
    assert at_s[-1] <= 0.9 * HORIZON_S + 1e-6
    now, then = np.diff(at_s), np.array(gaps_s)
    np.testing.assert_allclose(now[then <= 60], then[then <= 60], atol=1e-6)
    if (then > 60).any():
        assert at_s[-1] == pytest.approx(0.9 * HORIZON_S)
        ratio = now[then > 60] / then[then > 60]
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)


def test_a_burst_that_is_longer_than_the_time_is_squeezed_as_a_whole():
    found = recorded_rollouts(recording([60] * 1200), pods=2000, horizon_s=HORIZON_S, rng=generator())
    at_s = np.array([at for rollout in found for at, _ in rollout.pods])
    assert at_s[-1] == pytest.approx(0.9 * HORIZON_S)
    np.testing.assert_allclose(np.diff(at_s), 0.9 * HORIZON_S / 1200)


def test_the_seed_chooses_from_where_on_the_recording_is_replayed():
    recorded = recording([100 + i for i in range(200)])

    def first(seed: int) -> float:
        found = recorded_rollouts(recorded, pods=20, horizon_s=HORIZON_S, rng=generator(seed))
        times = [at for rollout in found for at, _ in rollout.pods]
        assert len(times) == 20
        return times[1]

    assert first(1) == first(1)
    assert len({first(seed) for seed in range(8)}) > 4


def test_what_outlived_the_recording_outlives_the_replay():
    endless = [Arrival("x", 0.0, np.inf), Arrival("x", 1.0, 2.0)]
    (rollout,) = recorded_rollouts(endless, pods=2, horizon_s=HORIZON_S, rng=generator())
    assert [life_s for _, life_s in rollout.pods] == [HORIZON_S, 600.0]
