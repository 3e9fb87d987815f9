"""The requests term: the share of allocatable cpu and memory that is requested after placement.

It needs no metric, is known at once, and caps the regret when what is measured misleads.
"""

from __future__ import annotations

import numpy as np

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.resources import CPU, MEMORY
from plimsoll.cluster.snapshot import CPU_COLUMN, MEMORY_COLUMN, Snapshot
from plimsoll.load.readings import Floats


def requests_term(view: Snapshot, pod: PodInfo) -> Floats:
    """[N], mean over cpu and memory, 0..1; a node that offers none of a resource counts as full."""
    shares = [
        _share(view, column, pod.requests.get(name, 0)) for name, column in ((CPU, CPU_COLUMN), (MEMORY, MEMORY_COLUMN))
    ]
    mean: Floats = np.mean(shares, axis=0)
    return mean


def _share(view: Snapshot, column: int, wanted: int) -> Floats:
    offered = view.allocatable[:, column]
    after = view.requested[:, column] + wanted
    share = np.divide(after, offered, out=np.ones(view.size), where=offered > 0)
    return np.clip(share, 0.0, 1.0)
