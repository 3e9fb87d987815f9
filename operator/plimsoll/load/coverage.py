"""The coverage breaker: when too few nodes are measured, metrics are set aside for everyone.

Otherwise two scraped nodes out of fifty would win or lose everything by being the only ones that are known.
"""

from __future__ import annotations

import numpy as np

from plimsoll.cluster.snapshot import Bools, Snapshot
from plimsoll.load.metric_load import States
from plimsoll.load.readings import ReadingState
from plimsoll.policy.compiled import Policy

_ENOUGH = 0.5


def too_few(policy: Policy, view: Snapshot, selected: Bools, state: States, *, now_s: float) -> str:
    """A sentence where under half of the policy's nodes have fresh readings; "" where enough have.

    Nodes younger than two refreshes and a window are left out: they cannot have readings yet.

    Args:
        selected: [N], live nodes that the policy may use.
        state: [N], the worst reading of each node.
    """
    grown_s = now_s - policy.grown_after_s
    created_s = np.array([np.inf if node is None else node.created_s for node in view.nodes])
    judged = selected & ((created_s <= grown_s) | (state == ReadingState.OK))
    total, fresh = int(judged.sum()), int((judged & (state == ReadingState.OK)).sum())
    if total == 0 or fresh >= _ENOUGH * total:
        return ""
    return f"only {fresh} of {total} nodes have fresh metrics"
