"""The requests term: the share of allocatable cpu and memory that is requested after placement.

It needs no metric, is known at once, and caps the regret when what is measured misleads. With the strategy Pack the
term is packed as the load is, by the same target.
"""

from __future__ import annotations

import numpy as np

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.resources import CPU, MEMORY
from plimsoll.cluster.snapshot import CPU_COLUMN, MEMORY_COLUMN, Snapshot
from plimsoll.load.readings import Floats
from plimsoll.scores.pack import packed

_COLUMNS = ((CPU, CPU_COLUMN), (MEMORY, MEMORY_COLUMN))


def requests_term(view: Snapshot, pod: PodInfo, *, pack_target: float | None = None) -> Floats:
    """[N], mean over cpu and memory, 0..1; a node that offers none of a resource counts as full.

    Args:
        pack_target: 0..1, up to which fuller is better; None: emptier is better.
    """
    shares = np.array([_share(view, column, pod.requests.get(name, 0)) for name, column in _COLUMNS])
    spread: Floats = np.clip(shares, 0.0, 1.0).mean(axis=0)
    return spread if pack_target is None else packed(shares, np.ones(len(shares)), spread, pack_target)


def _share(view: Snapshot, column: int, wanted: int) -> Floats:
    offered = view.allocatable[:, column]
    after = view.requested[:, column] + wanted
    share: Floats = np.divide(after, offered, out=np.full(view.size, np.inf), where=offered > 0)
    return share
