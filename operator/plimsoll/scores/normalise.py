"""How a term is brought to the scale of the nodes that are compared."""

from __future__ import annotations

import numpy as np

from plimsoll.cluster.snapshot import Bools, Ints
from plimsoll.load.readings import Floats

MAX_SCORE = 100


def share_of_most(values: Ints | Floats, among: Bools) -> Floats:
    """[N], over the largest value among the compared nodes.

    Where none of them has anything there is nothing to choose between: all zeros, not a division by zero.
    """
    most = values[among].max(initial=0.0)
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
