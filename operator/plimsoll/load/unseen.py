"""What a mean over a window does not show of pods in flight, and still shows of pods that are gone.

A pod that has run from s to e is contained in a mean over [t - W, t] with the share
clip((min(t, e) - max(t - W, s)) / W, 0, 1). What of a pod that is there is not contained counts in addition; of one
that is gone, what is contained is subtracted. Trimaran and Koordinator count a pod in full for a fixed time and then
not at all, which counts too little while a mean over five minutes goes up.
"""

from __future__ import annotations

import math

import numpy as np

from plimsoll.load.entry import Entry
from plimsoll.load.ledger import GIVEN_UP_S
from plimsoll.load.readings import Floats
from plimsoll.load.stays import Stays


def unseen(of: Stays, *, sampled_at_s: Floats, window_s: Floats) -> Floats:
    """[K, E], the share -1..1 of each pod's load that has to be added to each window's mean.

    An instant value (window 0) contains a pod as soon as it has started, and as long as it has not ended. A node
    without a sample contains none.

    Args:
        sampled_at_s: [E], of the pod's node; NaN where it has no sample.
        window_s: [K, 1], 0 for instant values.
    """
    sampled = np.where(np.isnan(sampled_at_s), -np.inf, sampled_at_s)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        covered_s = np.minimum(sampled, of.ended_s) - np.maximum(sampled - window_s, of.started_s)
        share = np.clip(covered_s / window_s, 0.0, 1.0)
    instant = (of.started_s <= sampled) & (sampled < of.ended_s)
    stuck = np.isinf(of.started_s) & (sampled >= of.placed_s + GIVEN_UP_S)
    there = np.where(of.gone | stuck, 0.0, 1.0)
    missing: Floats = there - np.where(window_s > 0, share, instant)
    return missing


class Shares:
    """The same line by line; metrics of one exporter were sampled at one time, and what is alike is worked out once."""

    def __init__(self, of: Stays) -> None:
        self._of = of
        self._known: dict[tuple[float, bytes], Floats] = {}

    def line(self, *, shown_until_s: Floats, window_s: float) -> Floats:
        """[E], not to be written.

        Args:
            shown_until_s: [N], of all nodes; NaN where there is no sample.
        """
        key = window_s, shown_until_s.tobytes()
        if key not in self._known:
            at_s = shown_until_s.take(self._of.rows)
            self._known[key] = unseen(self._of, sampled_at_s=at_s, window_s=np.array([[window_s]]))[0]
        return self._known[key]


def unseen_of_one(entry: Entry, *, sampled_at_s: float, window_s: float) -> float:
    """The same of one pod and one window: pods come one by one between refreshes, and arrays of one cost more."""
    sampled = -math.inf if math.isnan(sampled_at_s) else sampled_at_s
    started_s, ended_s = _or_inf(entry.started_s), _or_inf(entry.ended_s)
    stuck = started_s == math.inf and sampled >= entry.placed_s + GIVEN_UP_S
    there = 0.0 if entry.ended_s is not None or stuck else 1.0
    if not window_s > 0:
        return there - float(started_s <= sampled < ended_s)
    covered_s = min(sampled, ended_s) - max(sampled - window_s, started_s)
    return there - min(max(covered_s / window_s, 0.0), 1.0)


def _or_inf(time_s: float | None) -> float:
    return np.inf if time_s is None else time_s
