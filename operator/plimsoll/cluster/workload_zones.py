"""How many pods of one workload are in which zone, counted on for workloads that somebody asks about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plimsoll.cluster.workload import WorkloadKey

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# The one asked about longest ago is forgotten.
_MAX_WORKLOADS = 1024


class Zoning(NamedTuple):
    """Which zone each node is in.

    Attributes:
        version: another whenever a node comes to be in another zone.
        zones: [N], live; 0 for nodes without a zone.
        known: Z.
    """

    version: int
    zones: Ints
    known: int


class ZoneTotals:
    """By workload."""

    def __init__(self) -> None:
        self._kept: dict[WorkloadKey, tuple[Zoning, Floats]] = {}

    def of(self, key: WorkloadKey, by_row: Mapping[int, int], zoning: Zoning) -> Floats:
        """[Z + 1], not to be written.

        Args:
            by_row: the workload's pods.
        """
        kept = self._kept.pop(key, None)
        if kept is None or kept[0].version != zoning.version:
            kept = zoning, _counted(by_row, zoning)
        self._kept[key] = kept
        if len(self._kept) > _MAX_WORKLOADS:
            del self._kept[next(iter(self._kept))]
        return kept[1]

    def count(self, key: WorkloadKey, row: int, amount: int) -> None:
        """Pods came to a row or left it."""
        kept = self._kept.get(key)
        if kept is None:
            return
        zoning, totals = kept
        zone = zoning.zones[row] if row < len(zoning.zones) else len(totals)
        if zone < len(totals):
            totals[zone] += amount if zone else 0
        else:
            del self._kept[key]  # a node, or a zone, that came since


def _counted(by_row: Mapping[int, int], zoning: Zoning) -> Floats:
    rows = np.fromiter(by_row, dtype=np.int64, count=len(by_row))
    counts = np.fromiter(by_row.values(), dtype=np.float64, count=len(by_row))
    totals = np.bincount(zoning.zones[rows], weights=counts, minlength=zoning.known + 1).astype(np.float64)
    totals[0] = 0.0
    return totals
