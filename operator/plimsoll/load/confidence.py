"""How far a sample is believed, by its age."""

from __future__ import annotations

import numpy as np

from plimsoll.load.readings import Floats

_FRESH_INTERVALS = 3
# Sources scrape every 15 to 60 s; a policy that refreshes faster gets no fresher samples.
_LEAST_INTERVAL_S = 30.0
_HALF_LIFE_S = 150.0
MISSING_AFTER_S = 600.0


def confidence(age_s: Floats, *, interval_s: float) -> Floats:
    """[..], 1 up to three refresh intervals, then halved every 150 s, 0 beyond ten minutes and where age is NaN.

    Interpreting load by its age is Dahlin's remedy against the herd that follows stale information.
    """
    fresh_s = _FRESH_INTERVALS * max(interval_s, _LEAST_INTERVAL_S)
    faded = np.exp2(-np.maximum(age_s - fresh_s, 0.0) / _HALF_LIFE_S)
    believed: Floats = np.where(age_s > max(MISSING_AFTER_S, fresh_s), 0.0, faded)
    return np.nan_to_num(believed, nan=0.0)
