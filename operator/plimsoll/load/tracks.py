"""Means that decay, of many workloads at once: one metric's part of the history of workloads."""

from __future__ import annotations

import math

import numpy as np

from plimsoll.cluster.snapshot import Bools
from plimsoll.load.directory import NOBODY, Rows
from plimsoll.load.readings import Floats
from plimsoll.load.workload_use import Uses

_HALF_LIFE_S = 2 * 3600.0
# What was not looked at for longer than this is not known to have been the same all the time.
_LONGEST_GAP_S = 300.0
_FIRST_ROWS = 64
# Columns of the table.
_AT_S, _MEAN, _SQUARE, _WEIGHT_S, _MINUTES = range(5)


class Tracks:
    """By row; whoever numbers the rows reserves them first.

    The first look at a workload counts for nothing but a beginning: it stands for no time yet.
    """

    def __init__(self) -> None:
        self._table = _nothing(_FIRST_ROWS)
        # Mean, standard deviation, minutes; and the row of nobody.
        self.pasts: Floats = np.zeros((3, _FIRST_ROWS + 1))

    @property
    def at_s(self) -> Floats:
        """[R], when each was seen last; NaN where never."""
        at_s: Floats = self._table[_AT_S]
        return at_s

    @property
    def known(self) -> Bools:
        """[R]."""
        known: Bools = ~np.isnan(self.at_s)
        return known

    def knows(self, row: int) -> bool:
        return not math.isnan(self._table[_AT_S, row])

    def observe(self, rows: Rows, uses: Uses, *, at_s: float) -> None:
        """Of each workload only what can be, and is newer than what is known."""
        new = np.array([uses.mean, uses.mean_square])
        usable = (uses.pods > 0) & (np.isfinite(new) & (new >= 0.0)).all(axis=0)
        if not usable.all():
            rows, new = rows[usable], new[:, usable]
        before = self._table.take(rows, axis=1)
        passed_s = at_s - before[_AT_S]
        first = np.isnan(passed_s)
        self._begin(rows[first], new[:, first], at_s)
        newer = passed_s > 0
        if newer.all():
            self._follow(rows, before, new, passed_s, at_s)
        else:
            self._follow(rows[newer], before[:, newer], new[:, newer], passed_s[newer], at_s)

    def mean_of(self, rows: Rows, pods: Floats) -> float | None:
        """What a pod uses in the mean, of so many pods of each workload; None where none of them is known."""
        known = (pods > 0) & ~np.isnan(self.at_s[rows])
        weights = np.where(known, pods, 0.0)
        total = float(weights.sum())
        return float(weights @ self.pasts[0, rows]) / total if total else None

    def forget(self, old: Bools) -> None:
        """Args:
        old: [R].
        """
        rows = np.flatnonzero(old)
        self._table[:, rows] = _nothing(1)
        self.pasts[:, rows] = 0.0

    def keep(self, rows: Rows) -> None:
        """These alone, in this order."""
        self._table, self.pasts = self._table[:, rows], self.pasts[:, [*rows, NOBODY]]
        self.reserve(_FIRST_ROWS)

    def put(self, pasts: Floats) -> None:
        """What is known from elsewhere, of the first rows.

        Args:
            pasts: [3, R], mean, standard deviation and minutes.
        """
        rows = pasts.shape[1]
        self.reserve(rows)
        self._table[_AT_S, :rows] = 0.0
        self.pasts[:, :rows] = pasts

    def _begin(self, rows: Rows, new: Floats, at_s: float) -> None:
        if rows.size:
            self._put(rows, at_s, new, np.zeros((2, rows.size)))

    def _follow(self, rows: Rows, before: Floats, new: Floats, passed_s: Floats, at_s: float) -> None:
        stands_for_s = np.minimum(passed_s, _LONGEST_GAP_S)
        weight_s = before[_WEIGHT_S] * np.exp2(-passed_s / _HALF_LIFE_S) + stands_for_s
        share = stands_for_s / weight_s
        mean = (1 - share) * before[_MEAN : _SQUARE + 1] + share * new
        self._put(rows, at_s, mean, np.array([weight_s, before[_MINUTES] + stands_for_s / 60]))

    def _put(self, rows: Rows, at_s: float, means: Floats, weights: Floats) -> None:
        """Args:
        means: [2, W], mean and mean square.
        weights: [2, W], weight in seconds, and minutes.
        """
        mean, square = means
        self._table[:, rows] = np.vstack((np.full(rows.size, at_s), means, weights))
        self.pasts[:, rows] = mean, np.sqrt(np.maximum(square - mean**2, 0.0)), weights[1]

    def reserve(self, rows: int) -> None:
        """There are this many rows now, or more."""
        have = self._table.shape[1]
        if rows > have:
            more = max(rows, 2 * have) - have
            self._table = np.hstack((self._table, _nothing(more)))
            self.pasts = np.hstack((self.pasts, np.zeros((3, more))))


def _nothing(rows: int) -> Floats:
    """[5, rows], of workloads that were never seen."""
    table = np.zeros((5, rows))
    table[_AT_S] = np.nan
    return table
