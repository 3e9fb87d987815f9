"""When pods arrive, and which of them belong together."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from plimsoll.sim.recorded import Arrival
from plimsoll.sim.world import Floats

# As in recorded clusters: many small rollouts, few large ones.
_SHAPE = 1.3
_LARGEST = 40
_KNOWN = 0.6
# A controller creates a rollout's pods within seconds.
_SPREAD_S = 5.0
_LAST_ARRIVAL = 0.9
_LIFETIME_MEDIAN_S, _LIFETIME_SIGMA = 2.7 * 3600, 1.0
_SHORTEST_S = 600.0
# What follows so soon in a recording belongs to the same burst.
_BURST_GAP_S = 60.0


class Rollout(NamedTuple):
    """Attributes:
    app: numbered by first appearance.
    pods: when each of them arrives, and how long it runs, both in seconds.
    """

    app: int
    pods: tuple[tuple[float, float], ...]


def rollouts(*, pods: int, horizon_s: float, single: bool, rng: np.random.Generator) -> Iterator[Rollout]:
    """Rollouts at random times, with as many pods as are wanted; with ``single`` of one pod each."""
    apps, left = 0, pods
    while left > 0:
        size = 1 if single else min(int(rng.pareto(_SHAPE)) + 1, _LARGEST, left)
        known = apps > 0 and rng.random() < _KNOWN
        app = int(rng.integers(apps)) if known else apps
        apps = max(apps, app + 1)
        begin_s = rng.uniform(0, _LAST_ARRIVAL * horizon_s)
        lifetime_s = max(rng.lognormal(np.log(_LIFETIME_MEDIAN_S), _LIFETIME_SIGMA), _SHORTEST_S)
        yield Rollout(app, tuple((begin_s + rng.uniform(0, _SPREAD_S), lifetime_s) for _ in range(size)))
        left -= size


def recorded_rollouts(
    recorded: Sequence[Arrival], *, pods: int, horizon_s: float, rng: np.random.Generator
) -> Iterator[Rollout]:
    """As many pods as are wanted, from a random moment of a recording on.

    Bursts come as they were recorded, to the second; only the time between them passes faster, and so do the pods'
    lives, so that as many of them are there at once as were then.
    """
    begin = int(rng.integers(max(1, len(recorded) - pods + 1)))
    chosen = recorded[begin : begin + pods]
    recorded_s = np.array([arrival.begins_s for arrival in chosen])
    begins_s, faster = _compressed(recorded_s - recorded_s[0], _LAST_ARRIVAL * horizon_s)
    number: dict[str, int] = {}
    lives_s = [max((arrival.ends_s - arrival.begins_s) / faster, _SHORTEST_S) for arrival in chosen]
    arrivals = zip(chosen, begins_s.tolist(), lives_s, strict=True)
    for app, together in itertools.groupby(arrivals, key=lambda arrival: arrival[0].app):
        lives = tuple((at_s, min(life_s, horizon_s)) for _, at_s, life_s in together)
        yield Rollout(number.setdefault(app, len(number)), lives)


def _compressed(times_s: Floats, within_s: float) -> tuple[Floats, float]:
    """The times, from 0 to ``within_s``, and how many times faster the time passes on the whole."""
    gaps_s = np.diff(times_s)
    in_burst = gaps_s <= _BURST_GAP_S
    between_s = gaps_s[~in_burst].sum()
    left_s = within_s - gaps_s[in_burst].sum()
    if left_s <= 0 or between_s == 0:
        # One burst that lasts all the time: it is squeezed as a whole.
        gaps_s = gaps_s * (within_s / max(times_s[-1], within_s)) if len(gaps_s) else gaps_s
    else:
        gaps_s = np.where(in_burst, gaps_s, gaps_s * (left_s / between_s))
    faster = max(float(times_s[-1]) / within_s, 1.0)
    return np.concatenate(([0.0], np.cumsum(gaps_s))), faster
