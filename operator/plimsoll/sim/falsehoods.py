"""What faults make of a monitoring system's values, for contenders that ask for values and not in PromQL."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from plimsoll.sim.faults import Faults
from plimsoll.sim.scenario import Fault, FaultKind
from plimsoll.sim.world import CPU_AT, RECEIVE_AT, TRANSMIT_AT, Floats

_NETWORK = np.array([RECEIVE_AT, TRANSMIT_AT])
_COUNTED = np.array([CPU_AT, RECEIVE_AT, TRANSMIT_AT])
_REPEATED = (FaultKind.FROZEN, FaultKind.STUCK)


def falsified(true: Callable[[float], Floats], faults: Faults, at_s: float, scrape_s: float) -> Floats:
    """[M, N], what is told at a moment.

    Args:
        true: what would be told at a moment.
    """
    told = true(at_s).copy()
    repeating = np.zeros(told.shape[1], dtype=np.bool_)
    for kind in _REPEATED:
        for fault, nodes in faults.of(kind):
            if fault.from_s <= at_s < fault.until_s:
                # What repeats its values already does not take up new ones.
                told[:, nodes & ~repeating] = true(fault.from_s)[:, nodes & ~repeating]
                repeating |= nodes
    for fault, nodes in faults.of(FaultKind.COUNTER_RESET):
        if fault.from_s <= at_s < fault.until_s:
            told[_COUNTED[:, None], np.flatnonzero(nodes)] *= 1 - lost_share(fault, scrape_s)
    told[_NETWORK[:, None], np.flatnonzero(faults.at(FaultKind.RENAMED_DEVICE, at_s))] = np.nan
    told[:, faults.at(FaultKind.NAN, at_s)] = np.nan
    return told


def skewed(sampled_at_s: Floats, faults: Faults, at_s: float) -> Floats:
    """[N], by the nodes' own clocks, by turns ahead and behind."""
    for fault, nodes in faults.of(FaultKind.SKEWED_CLOCK):
        if fault.from_s <= at_s < fault.until_s:
            sampled_at_s = np.where(nodes, sampled_at_s + faults.sign * fault.skew_s, sampled_at_s)
    return sampled_at_s


def lost_share(fault: Fault, scrape_s: float) -> float:
    """Of a counter's increase, what ``rate`` does not see for its resets: what was counted between the last scrape
    and the reset, half an interval in the mean.
    """
    return min(scrape_s / (2 * fault.every_s), 1.0)
