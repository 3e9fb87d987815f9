"""The coverage breaker: a metric by which too few nodes are measured is set aside for everyone.

Otherwise two scraped nodes out of fifty would win or lose everything by being the only ones that are known.
"""

from __future__ import annotations

import numpy as np

from plimsoll.cluster.snapshot import Bools, Snapshot
from plimsoll.load.readings import Floats

_ENOUGH = 0.5
# What is believed by half is worth more than nothing: where samples come late from everywhere, all are old at times.
_FRESH_ENOUGH = 0.5


def fresh_enough(confidence: Floats) -> Bools:
    """[..], whether a sample that is believed so far counts as one at all."""
    enough: Bools = confidence >= _FRESH_ENOUGH
    return enough


def too_few(selected: Bools, young: Bools, known: Bools) -> str:
    """A sentence where under half of the policy's nodes have fresh readings of a metric; "" where enough have.

    Args:
        selected: [N], live nodes that the policy may use.
        young: [N], nodes that cannot have readings yet; they are left out, unless they have.
        known: [N], by the metric, ``fresh_enough``.
    """
    judged = selected & (~young | known)
    total, fresh = int(judged.sum()), int((judged & known).sum())
    if total == 0 or fresh >= _ENOUGH * total:
        return ""
    return f"only {fresh} of {total} nodes have fresh metrics"


def created_s(view: Snapshot) -> Floats:
    """[N], seconds since the epoch; -inf in free rows."""
    return np.array([-np.inf if node is None else node.created_s for node in view.nodes])
