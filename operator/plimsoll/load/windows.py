"""What a window's answer is worth: rates of partly filled windows corrected, samples judged by their true age."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from plimsoll.load.confidence import confidence
from plimsoll.load.readings import Floats, ReadingState

# Less than this says nothing of a mean, except where so short a window was asked for.
_LEAST_COVERED_S = 30.0
# A clock that ran faster was set inside the window: how much of it is covered is not known then.
_FASTEST_CLOCK = 1.1
_FULL = 0.95


def covered_share(clock_rate: float | None, *, window_s: float) -> float | None:
    """The share (0..1] of a window that a target's samples cover; None where too little, or not known.

    Args:
        clock_rate: seconds per second by which the target's clock advanced over the whole window; None where
            there were not two samples.
    """
    rates = np.array([np.nan if clock_rate is None else clock_rate])
    (share,) = covered_shares(rates, window_s=window_s).tolist()
    return None if math.isnan(share) else share


def covered_shares(clock_rate: Floats, *, window_s: float) -> Floats:
    """[..], the same of many; NaN where it is not known."""
    share = np.clip(clock_rate, 0.0, 1.0)
    enough = (clock_rate > 0) & (clock_rate <= _FASTEST_CLOCK)
    return np.where(enough & (share * window_s >= min(_LEAST_COVERED_S, window_s / 2)), share, np.nan)


def is_partial(clock_rate: Floats) -> NDArray[np.bool_]:
    """[..]."""
    partial: NDArray[np.bool_] = ~(clock_rate >= _FULL)
    return partial


def states(age_s: Floats, *, refresh_interval_s: float) -> NDArray[np.int8]:
    """[..], OK while a sample of that age is fully believed, STALE while it is somewhat, then MISSING.

    NaN is MISSING as well.
    """
    believed = confidence(age_s, interval_s=refresh_interval_s)
    state = np.where(believed >= 1, ReadingState.OK, ReadingState.STALE)
    return np.where(believed > 0, state, ReadingState.MISSING).astype(np.int8)
