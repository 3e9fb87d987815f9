"""How far a sample is believed, by its age."""

from __future__ import annotations

import numpy as np

from plimsoll.load.readings import Floats

_FRESH_INTERVALS = 3
# Sources scrape every 15 to 60 s; a policy that refreshes faster gets no fresher samples.
_LEAST_INTERVAL_S = 30.0
_HALF_LIFE_S = 150.0
MISSING_AFTER_S = 600.0
# Clocks are this far apart without anybody minding.
CLOCK_SKEW_S = 60.0


def true_age_s(age_s: Floats) -> Floats:
    """[..], 0 or more, NaN stays NaN. A sample from the future is as old as it is ahead: some clock is wrong, nobody
    knows since when, and a wrong clock must not keep a sample fresh for ever.
    """
    return np.where(age_s < -CLOCK_SKEW_S, -age_s, np.maximum(age_s, 0.0))


def believed_for_s(interval_s: float) -> float:
    """The age beyond which no sample is believed."""
    return max(MISSING_AFTER_S, _fresh_s(interval_s))


def _fresh_s(interval_s: float) -> float:
    return _FRESH_INTERVALS * max(interval_s, _LEAST_INTERVAL_S)


def confidence(age_s: Floats, *, interval_s: float) -> Floats:
    """[..], 1 up to three refresh intervals, then halved every 150 s, 0 beyond ten minutes and where age is NaN.

    Interpreting load by its age is Dahlin's remedy against the herd that follows stale information.
    """
    age_s = true_age_s(age_s)
    faded = np.exp2(-np.maximum(age_s - _fresh_s(interval_s), 0.0) / _HALF_LIFE_S)
    return np.where(age_s <= believed_for_s(interval_s), faded, 0.0)
