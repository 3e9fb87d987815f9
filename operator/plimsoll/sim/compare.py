"""Contenders compared seed by seed: the worlds are the same, so that their luck is."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from plimsoll.sim.measures import Better, Measure
from plimsoll.sim.scorecard import Scorecard

# Of floating-point sums nothing more is to be expected; a tie is a tie.
_NOTHING = 1e-9
_SE_COUNT = 2.0
# What is left out is not left out by chance: with too much of it the rest says nothing of the whole.
_ENOUGH = Fraction(5, 6)


class Verdict(enum.Enum):
    """Beyond two standard errors of the mean difference, or not."""

    BETTER = "better"
    SAME = "same"
    WORSE = "worse"
    UNDECIDED = "undecided"  # too few seeds that can be compared, or a measure that neither way is better


@dataclass(frozen=True, slots=True)
class Mean:
    """Attributes:
    mean: NaN without values.
    se: standard error of the mean; NaN with fewer than two values.
    """

    mean: float
    se: float
    count: int


@dataclass(frozen=True, slots=True)
class Paired:
    """One contender against another by one measure.

    Attributes:
        difference: the one's value minus the other's.
        wins, losses, ties: seeds.
        unlike: seeds that were left out, because not the same pods were placed.
    """

    difference: Mean
    wins: int
    losses: int
    ties: int
    unlike: tuple[int, ...]
    verdict: Verdict


def mean_of(values: Sequence[float]) -> Mean:
    known = np.array([value for value in values if not np.isnan(value)])
    mean = float(known.mean()) if len(known) else float("nan")
    se = float(known.std(ddof=1) / np.sqrt(len(known))) if len(known) > 1 else float("nan")
    return Mean(mean, se, len(known))


def paired(one: Mapping[int, Scorecard], other: Mapping[int, Scorecard], measure: Measure) -> Paired:
    """Over the seeds that both have, and in which both placed the same pods."""
    both = sorted(one.keys() & other.keys())
    unlike = tuple(seed for seed in both if one[seed].unplaced != other[seed].unplaced)
    differences = [
        _difference(one[seed].values[measure.key], other[seed].values[measure.key])
        for seed in both
        if seed not in unlike
    ]
    difference = mean_of(differences)
    sign = -1 if measure.better is Better.HIGHER else 1
    return Paired(
        difference=difference,
        wins=sum(sign * d < 0 for d in differences),
        losses=sum(sign * d > 0 for d in differences),
        ties=sum(d == 0 for d in differences),
        unlike=unlike,
        verdict=_verdict(difference, measure.better) if enough(difference.count, len(both)) else Verdict.UNDECIDED,
    )


def enough(compared: int, seeds: int) -> bool:
    """Whether so many can be compared that they stand for all of them."""
    return compared >= _ENOUGH * seeds


def _difference(one: float, other: float) -> float:
    difference = one - other
    return 0.0 if abs(difference) < _NOTHING else difference


def _verdict(difference: Mean, better: Better) -> Verdict:
    if better is Better.NEITHER or difference.count < 2:
        return Verdict.UNDECIDED
    loss = -difference.mean if better is Better.HIGHER else difference.mean
    if abs(loss) <= _SE_COUNT * difference.se:
        return Verdict.SAME
    return Verdict.WORSE if loss > 0 else Verdict.BETTER
