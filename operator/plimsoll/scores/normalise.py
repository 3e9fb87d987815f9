"""How a term is brought to the scale of the nodes that are compared."""

from __future__ import annotations

import numpy as np

from plimsoll.cluster.snapshot import Bools, Ints
from plimsoll.load.readings import Floats

MAX_SCORE = 100


def weighted_mean(lines: Floats, weights: Floats) -> Floats:
    """[n], the mean over the lines, [M, n], by their weights, [M].

    Line by line: numpy's own sum adds a single column in another order than many, and would round otherwise.
    """
    total = weights[0] * lines[0]
    for weight, line in zip(weights[1:], lines[1:], strict=True):
        total = total + weight * line
    mean: Floats = total / weights.sum()
    return mean


def share_of_most(values: Ints | Floats, among: Bools) -> Floats:
    """[N], over the largest value among the compared nodes.

    Where none of them has anything there is nothing to choose between: all zeros, not a division by zero.
    """
    most = values[among].max(initial=0.0)
    # Of what is not compared the share may be beyond all numbers.
    with np.errstate(over="ignore"):
        return values / most if most > 0 else np.zeros(len(values))


def percent_of_most(values: Ints, among: Bools, *, reverse: bool = False) -> Ints:
    """[N], kube-scheduler's DefaultNormalizeScore: whole percents of the largest value among the compared nodes."""
    most = int(values[among].max(initial=0))
    share = MAX_SCORE * values // most if most > 0 else np.zeros_like(values)
    return MAX_SCORE - share if reverse else share


def percent_between(values: Ints, among: Bools) -> Ints:
    """[N], whole percents of the way from the least to the largest value among the compared nodes.

    kube-scheduler's InterPodAffinity; all zeros where these are alike.
    """
    compared = values[among]
    if not compared.size or compared.min() == compared.max():
        return np.zeros_like(values)
    least, most = int(compared.min()), int(compared.max())
    share: Ints = (float(MAX_SCORE) * ((values - least) / float(most - least))).astype(np.int64)
    return share
