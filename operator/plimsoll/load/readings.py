"""Readings: what each node was measured to carry, with the time it was measured."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from plimsoll.load.custom_scale import Scale
from plimsoll.load.preflight import Preflight
from plimsoll.load.workload_use import WorkloadUse

Floats = NDArray[np.float64]


class ReadingState(enum.IntEnum):
    """Missing is never zero: it is a state of its own."""

    MISSING = 0
    STALE = 1
    OK = 2


@dataclass(frozen=True, slots=True)
class WindowMean:
    """One metric's means over one averaging window.

    Attributes:
        length_s: of the window; 0 for instant values.
        utilisation: [N], mean load over capacity, corrected for a window that is filled in part; NaN where missing.
    """

    length_s: float
    utilisation: Floats


@dataclass(frozen=True, slots=True)
class MetricReadings:
    """One metric over the nodes of a Readings, arrays of shape [N].

    Attributes:
        utilisation: measured load over capacity; NaN where missing. The larger of the two windows' means.
        value: the measured amount behind it (bytes/s of the busiest device, cores, bytes); NaN where missing.
        capacity: what the amount is measured against, same unit.
        sampled_at_s: time of the last true sample; NaN where missing.
        window_s: length of the shortest averaging window, 0 for instant values.
        state: ReadingState as int8.
        windows: each averaging window's means, the shortest first. What pods in flight and departed pods add or take
            differs between them, so they are told apart until that is counted.
        scale: of a custom metric, whose ``capacity`` is the scale's span; None for built-in metrics.
    """

    utilisation: Floats
    value: Floats
    capacity: Floats
    sampled_at_s: Floats
    window_s: float
    state: NDArray[np.int8]
    windows: tuple[WindowMean, ...] = ()
    scale: Scale | None = None


@dataclass(frozen=True, slots=True)
class Oddities:
    """Series that could not be used, counted, with one example each.

    Attributes:
        counts: by kind, the values of ``oddities.Oddity``: ``NotFinite``, ``Negative``, ``Unmapped`` and others.
        examples: one series per kind, as text.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    examples: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Readings:
    """One refresh of one policy, immutable.

    Attributes:
        id: unique within the process; caches are keyed by it.
        taken_at_s: when the source was asked, seconds since the epoch.
        nodes: names, in the order of the arrays: every node known at that time.
        metrics: by metric name; a metric whose query failed is absent.
        failures: a sentence by metric name that says what failed and what to do; "" is the source as a whole.
        use: what pods use, by workload; None where the source was not asked for it this time, or does not know.
        preflight: what this refresh says of the policy itself; None where the source did not answer.
    """

    id: int
    taken_at_s: float
    nodes: tuple[str, ...]
    metrics: Mapping[str, MetricReadings]
    failures: Mapping[str, str] = field(default_factory=dict)
    oddities: Oddities = field(default_factory=Oddities)
    use: WorkloadUse | None = None
    preflight: Preflight | None = None
