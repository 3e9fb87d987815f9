"""What nominated pods will take of each node: the room that a pod of no higher priority must leave to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.cluster.resources import PODS
from plimsoll.cluster.snapshot import Ints, Snapshot

# As much as the arrays of the snapshot show at the most.
_MOST = 2**62


class Promised:
    """By row and resource, kept while the same nominations stand.

    Args:
        priority: nominated pods below it do not count.
        names: the resources; ``pods`` counts pods.

    Attributes:
        taken: [N, K].
    """

    def __init__(self, view: Snapshot, priority: int, names: Sequence[str]) -> None:
        self._view, self._priority, self._names = view, priority, names
        self.taken: Ints = np.zeros((view.size, len(names)), dtype=np.int64)
        self._look_at_all()

    def changed(self) -> set[int] | None:
        """Rows to which others are nominated than when it looked last; None: any may be."""
        names = self._view.nominated.changed.since(self._position)
        row_of = self._view.row_of
        return None if names is None else {row_of[name] for name in names if name in row_of}

    def look(self, rows: Iterable[int] | None) -> None:
        """Args:
        rows: all that have changed, and rows that have come to stand for other nodes; None: all.
        """
        if rows is None:
            self._look_at_all()
            return
        self._position = self._view.nominated.changed.position
        for row in rows:
            self.taken[row] = self.on(row)

    def on(self, row: int, *, but: Uid | None = None) -> list[int]:
        """[K], on one row.

        Args:
            but: does not count.
        """
        pods = self._view.nominated.pods_on(self._view.name(row))
        counted = [pod for pod in pods if pod.priority >= self._priority and pod.uid != but]
        return [min(sum(_takes(pod, name) for pod in counted), _MOST) for name in self._names]

    def _look_at_all(self) -> None:
        self._position = self._view.nominated.changed.position
        self.taken[:] = 0
        rows = (self._view.row_of.get(name) for name in self._view.nominated.nodes())
        for row in rows:
            if row is not None:
                self.taken[row] = self.on(row)


def _takes(pod: PodInfo, name: str) -> int:
    return 1 if name == PODS else pod.requests.get(name, 0)
