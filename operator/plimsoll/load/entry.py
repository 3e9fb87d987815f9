"""One pod in flight, or departed."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.cluster.pod import PodInfo


@dataclass(frozen=True, slots=True)
class Entry:
    """As the ledger knows it.

    Attributes:
        placed_s: when it came to the node, seconds since the epoch.
        started_s: when it started to run; None: not yet.
        ended_s: when it ended; None: not yet.
    """

    pod: PodInfo
    placed_s: float
    started_s: float | None
    ended_s: float | None = None
