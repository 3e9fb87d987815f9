"""A few functions of PromQL over samples that are written down one by one, to hold the simulator's answers against.

Source: promql/functions.go of prometheus/prometheus v3, extrapolatedRate, for ranges that are open on the left.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

Samples = Sequence[tuple[float, float]]


def within(samples: Samples, *, end_s: float, window_s: float) -> Samples:
    return [(at_s, value) for at_s, value in samples if end_s - window_s < at_s <= end_s]


def rate(samples: Samples, *, end_s: float, window_s: float) -> float | None:
    found = within(samples, end_s=end_s, window_s=window_s)
    if len(found) < 2:
        return None
    (first_s, first), (last_s, last) = found[0], found[-1]
    increase = last - first + sum(a for (_, a), (_, b) in itertools.pairwise(found) if b < a)
    sampled_s = last_s - first_s
    apart_s = sampled_s / (len(found) - 1)
    to_start_s, to_end_s = first_s - (end_s - window_s), end_s - last_s
    if to_start_s >= 1.1 * apart_s:
        to_start_s = apart_s / 2
    if increase > 0 and first >= 0:
        to_start_s = min(to_start_s, sampled_s * first / increase)
    if to_end_s >= 1.1 * apart_s:
        to_end_s = apart_s / 2
    return increase * (sampled_s + to_start_s + to_end_s) / sampled_s / window_s


def avg_over_time(samples: Samples, *, end_s: float, window_s: float) -> float | None:
    found = [value for _, value in within(samples, end_s=end_s, window_s=window_s)]
    return sum(found) / len(found) if found else None
