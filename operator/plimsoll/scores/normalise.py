"""How a term is brought to the scale of the nodes that are compared."""

from __future__ import annotations

import numpy as np

from plimsoll.cluster.snapshot import Bools
from plimsoll.load.readings import Floats


def share_of_most(values: Floats, among: Bools) -> Floats:
    """[N], over the largest value among the compared nodes.

    Where none of them has anything there is nothing to choose between: all zeros, not a division by zero.
    """
    most = values[among].max(initial=0.0)
    return values / most if most > 0 else np.zeros_like(values)
