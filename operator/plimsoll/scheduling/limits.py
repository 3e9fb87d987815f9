"""The policy's load limits, applied to what the other filters leave."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Bools, Snapshot
from plimsoll.filters import load_limits
from plimsoll.filters.interface import Refusal
from plimsoll.load.estimate import PolicyLoad
from plimsoll.policy.compiled import OnMissing


@dataclass(frozen=True, slots=True)
class Limited:
    """Attributes:
    rows: [N], what is left.
    over: [N], nodes that only a limit keeps out.
    refusals: for the explanation.
    """

    rows: Bools
    over: Bools
    refusals: tuple[Refusal, ...]


def within_limits(view: Snapshot, load: PolicyLoad, pod: PodInfo, fit: Bools, above: Bools) -> Limited:
    """Nothing is refused where metrics are set aside, nor to critical and DaemonSet pods.

    Args:
        above: [N], where a limit would be passed.
    """
    never = np.zeros(view.size, dtype=np.bool_)
    if not load.counts or pod.exempt_from_limits:
        return Limited(fit, never, ())
    blind = never
    if load.policy.on_missing is OnMissing.EXCLUDE:
        blind = fit & ~load.known(view)
    over = fit & ~blind & above
    refusals = [
        Refusal(load_limits.NAME, reason, rows, resolvable=never)
        for reason, rows in ((load_limits.NO_READINGS, blind), (load_limits.ABOVE, over))
        if rows.any()
    ]
    return Limited(fit & ~blind & ~over, over, tuple(refusals))
