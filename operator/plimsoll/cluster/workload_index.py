"""How many pods of one workload are on which node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from plimsoll.cluster.workload import WorkloadKey

_NONE: Mapping[int, int] = {}


class WorkloadIndex:
    """Pods per row, by workload; terminating pods are left out, as in kube-scheduler's spreading."""

    def __init__(self) -> None:
        self._rows: dict[WorkloadKey, Counter[int]] = {}

    def add(self, row: int, key: WorkloadKey) -> None:
        self._rows.setdefault(key, Counter())[row] += 1

    def remove(self, row: int, key: WorkloadKey) -> None:
        rows = self._rows[key]
        rows[row] -= 1
        if not rows[row]:
            del rows[row]
        if not rows:
            del self._rows[key]

    def counts(self, key: WorkloadKey) -> Mapping[int, int]:
        """Number of pods by row; rows without one are absent."""
        return self._rows.get(key, _NONE)
