"""The requests term: the share of allocatable cpu and memory that is requested after placement.

It needs no metric, is known at once, and caps the regret when what is measured misleads. With the strategy Pack the
term is packed as the load is, by the same target.
"""

from __future__ import annotations

import numpy as np

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.resources import CPU, MEMORY
from plimsoll.cluster.row_log import ALL, At
from plimsoll.cluster.snapshot import CPU_COLUMN, MEMORY_COLUMN, Snapshot
from plimsoll.load.readings import Floats
from plimsoll.scores.pack import packed

_COLUMNS = np.array([CPU_COLUMN, MEMORY_COLUMN])


def requests_term(view: Snapshot, pod: PodInfo, *, pack_target: float | None = None, at: At = ALL) -> Floats:
    """[n], mean over cpu and memory, 0..1; a node that offers none of a resource counts as full.

    Args:
        pack_target: 0..1, up to which fuller is better; None: emptier is better.
        at: some rows of the Snapshot.
    """
    offered, taken = (of[at].take(_COLUMNS, axis=1).T for of in (view.allocatable, view.requested))
    wanted = np.array([[pod.requests.get(name, 0)] for name in (CPU, MEMORY)], dtype=np.int64)
    shares: Floats = np.divide(taken + wanted, offered, out=np.full(offered.shape, np.inf), where=offered > 0)
    cpu, memory = np.minimum(np.maximum(shares, 0.0), 1.0)
    spread: Floats = (cpu + memory) / 2
    return spread if pack_target is None else packed(shares, np.ones(len(shares)), spread, pack_target)
