"""The strategy Pack: below the target fuller is better, above it a node is judged as by Spread.

The shape is that of Trimaran's TargetLoadPacking (scheduler-plugins, pkg/trimaran/targetloadpacking): the score rises
up to the target and falls beyond it. Ours differs in three points. A node is above the target when its fullest metric
is, whatever the others say. Between the two branches is a gap, so that a node above the target is worse than an empty
one also where another term of the score speaks for it. And what is not measured does not count as filled: a node is
never packed for being out of sight.
"""

from __future__ import annotations

import numpy as np

from plimsoll.load.readings import Floats
from plimsoll.scores.normalise import weighted_mean

# What a node costs that is empty, and one just above the target.
EMPTY, ABOVE = 0.4, 0.7
# Sums of shares that make up the target exactly are not above it.
_ROUNDING = 1e-9


def packed(shares: Floats, weights: Floats, spread: Floats, target: float, *, seen: Floats | None = None) -> Floats:
    """[N], 0..1: 0 exactly at the target, 0.4 at an empty node, 0.7..1 above the target.

    Args:
        shares: [M, N], how full a node is with the pod on it, by metric or resource; at least one.
        weights: [M], above 0; of no account for whether a node is above the target.
        spread: [N], 0..1, the cost by which the strategy Spread would judge.
        target: 0..1.
        seen: [M, N], what of the shares was measured, as far as that is believed; None: all.
    """
    below = shares.max(axis=0) <= target + _ROUNDING
    filled = np.clip(_fullness(shares if seen is None else seen, weights) / target, 0.0, 1.0)
    return np.where(below, EMPTY * (1 - filled), ABOVE + (1 - ABOVE) * spread)


def _fullness(shares: Floats, weights: Floats) -> Floats:
    """[N], half by the fullest metric, half by the weighted mean: of two nodes whose fullest metric is as full, the
    one that is filled evenly has less left over that no pod can use.
    """
    fullness: Floats = 0.5 * shares.max(axis=0) + 0.5 * weighted_mean(shares, weights)
    return fullness
