"""Matched terms by topology key and domain (kube-scheduler's ``topologyToMatchedTermCount``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from plimsoll.cluster.row_counts import summed_by_domain
from plimsoll.cluster.snapshot import Bools, Ints, Snapshot


class AffinityTotals:
    """Sums per (key, value) pair; what stands on nodes without the key is in no pair."""

    def __init__(self, view: Snapshot) -> None:
        self._view = view
        self._totals: dict[str, Ints] = {}

    def add(self, key: str, by_domain: Ints) -> None:
        known = self._totals.get(key)
        self._totals[key] = by_domain if known is None else known + by_domain

    def add_rows(self, keys: Iterable[str], counts: Ints) -> None:
        """Pods by row, in each key's domains."""
        for key in keys:
            column = self._view.domains.column(key)
            self.add(key, summed_by_domain(column.ids, counts, column.size))

    def __bool__(self) -> bool:
        """Whether any pair counts something."""
        return any(totals.any() for totals in self._totals.values())

    def rows_in_any(self) -> Bools:
        """[N], nodes in a domain of any key where something counts."""
        rows = np.zeros(self._view.size, dtype=np.bool_)
        for key, totals in self._totals.items():
            rows |= (totals > 0)[self._view.domains.column(key).ids]
        return rows

    def rows_in_all(self) -> Bools:
        """[N], nodes that are, for every key, in a domain where something counts."""
        rows = np.ones(self._view.size, dtype=np.bool_)
        for key, totals in self._totals.items():
            rows &= (totals > 0)[self._view.domains.column(key).ids]
        return rows

    def any_at(self, row: int, changes: Mapping[str, int]) -> bool:
        """``rows_in_any`` at a row, with changes by key of what stands on this node."""
        return any(self._at(key, row) + changes.get(key, 0) > 0 for key in self._keys_of(row, changes))

    def all_at(self, row: int, change: int) -> bool:
        """``rows_in_all`` at a row whose node has all keys, with one change for all of them."""
        return all(self._at(key, row) + change > 0 for key in self._totals)

    def empty_with(self, change: int) -> bool:
        """No pair counts anything, with one change of what stands on a node that has all keys."""
        return all(int(totals.sum()) + change == 0 for totals in self._totals.values())

    def _at(self, key: str, row: int) -> int:
        totals = self._totals.get(key)
        return 0 if totals is None else int(totals[self._view.domains.column(key).ids[row]])

    def _keys_of(self, row: int, changes: Mapping[str, int]) -> Iterable[str]:
        """Keys that the row's node has."""
        keys = dict.fromkeys((*self._totals, *changes))
        return (key for key in keys if self._view.domains.column(key).ids[row])
