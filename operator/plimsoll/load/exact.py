"""Sums that come out the same in whatever order pods come and go.

Amounts are rounded to a grid that is very fine beside what a node offers, and is a power of two: sums of its
multiples are exact as long as they stay below 8192 times the scale, so that whatever is taken away again leaves
nothing behind.
"""

from __future__ import annotations

import math

import numpy as np

from plimsoll.load.readings import Floats

_STEPS = 2.0**40


def scale_of(capacity: Floats) -> float:
    """A power of two about as large as the largest known capacity; 1 where none is known."""
    known = capacity[np.isfinite(capacity) & (capacity > 0)]
    return float(2.0 ** math.floor(math.log2(known.max()))) if len(known) else 1.0


def on_grid(amounts: Floats, scale: float | Floats) -> Floats:
    """The amounts, rounded to a 2**-40 of the scale."""
    step = scale / _STEPS
    rounded: Floats = np.round(amounts / step) * step
    return rounded
