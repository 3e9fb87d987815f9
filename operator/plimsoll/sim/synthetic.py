"""A trace that is made up, for those who have none: to try things out and to test them, not to judge quality by.

Its shape is that of recorded machines: most are nearly idle and few are busy, days have a rhythm that each machine
follows more or less and in hours of its own, what is left wanders slowly, and network comes in bursts. The numbers
are chosen, not measured.
"""

from __future__ import annotations

import numpy as np

from plimsoll.sim.trace import Trace
from plimsoll.sim.world import Floats

_MACHINES, _DAYS = 120, 30
_STEP_S = 300.0
_DAY_S = 86_400.0
# Median and sigma of the machines' means: cores, bytes, bytes/s received and sent.
_MEDIAN = np.array([0.15, 400e6, 30e3, 40e3])
_SIGMA = np.array([1.6, 1.1, 2.0, 2.0])
# How much of the rhythm each metric shows, how far it wanders, and for how many slots it remembers.
_RHYTHM = np.array([0.5, 0.1, 0.6, 0.6])
_WANDER = np.array([0.35, 0.08, 0.5, 0.5])
_MEMORY_SLOTS = np.array([12.0, 96.0, 6.0, 6.0])
_BURSTS_A_DAY, _BURST_SLOTS, _BURST_SIGMA = 4.0, 4, 1.2


def synthetic_trace(seed: int) -> Trace:
    """A month of 120 machines in slots of five minutes; the same seed makes the same trace."""
    rng = np.random.default_rng(seed)
    slots = int(_DAYS * _DAY_S / _STEP_S)
    load = _means(rng)[:, :, None] * _rhythm(slots, rng) * _wandering(slots, rng)
    load[2:] *= _bursts(slots, rng)
    return Trace(load.astype(np.float32), _STEP_S)


def _means(rng: np.random.Generator) -> Floats:
    """[M, V]; machines that compute much also talk much, more or less."""
    busy = rng.normal(size=_MACHINES)
    own = rng.normal(size=(len(_MEDIAN), _MACHINES))
    deviation = np.sqrt(0.5) * busy + np.sqrt(0.5) * own
    means: Floats = _MEDIAN[:, None] * np.exp(_SIGMA[:, None] * deviation)
    return means


def _rhythm(slots: int, rng: np.random.Generator) -> Floats:
    """[M, V, S], around 1."""
    peak_at = rng.uniform(0.35, 0.75, size=(_MACHINES, 1))
    followed = rng.uniform(0, 1, size=(_MACHINES, 1))
    day = np.cos(2 * np.pi * (np.arange(slots)[None, :] * _STEP_S / _DAY_S - peak_at))
    rhythm: Floats = 1 + _RHYTHM[:, None, None] * followed * day
    return rhythm


def _wandering(slots: int, rng: np.random.Generator) -> Floats:
    """[M, V, S], exp of a first-order autoregression."""
    kept = np.exp(-1 / _MEMORY_SLOTS)[:, None]
    new = rng.normal(size=(slots, len(_MEDIAN), _MACHINES)) * (_WANDER[:, None] * np.sqrt(1 - kept**2))
    new[0] /= np.sqrt(1 - kept**2)
    for slot in range(1, slots):
        new[slot] += kept * new[slot - 1]
    wandering: Floats = np.exp(np.moveaxis(new, 0, -1))
    return wandering


def _bursts(slots: int, rng: np.random.Generator) -> Floats:
    """[V, S], 1 but for a few times a day, for both directions."""
    bursts = np.ones((_MACHINES, slots))
    count = rng.poisson(_BURSTS_A_DAY * _DAYS, size=_MACHINES)
    machine = np.repeat(np.arange(_MACHINES), count)
    begin = rng.integers(slots - _BURST_SLOTS, size=len(machine))
    height = np.exp(np.abs(rng.normal(0, _BURST_SIGMA, size=len(machine))))
    for later in range(_BURST_SLOTS):
        np.maximum.at(bursts, (machine, begin + later), height)
    return bursts
