"""Readings for a policy, as a refresh would bring them."""

from __future__ import annotations

import itertools

import numpy as np

from plimsoll.load.measured import readings_of
from plimsoll.load.queries import Window
from plimsoll.load.readings import Readings
from plimsoll.policy.compiled import CPU, MEMORY, Policy

_CAPACITY = {CPU: 16.0, MEMORY: 64.0 * 2**30}
_NETWORK_BYTES_S = 1.25e9
_AGE_S = 5.0
_serial = itertools.count(1)


def readings(policy: Policy, nodes: tuple[str, ...], rng: np.random.Generator, *, now_s: float) -> Readings:
    """Every node was measured a moment ago, and carries between a tenth and seven tenths by each metric."""
    metrics = {}
    for metric in policy.metrics:
        capacity = np.full(len(nodes), _CAPACITY.get(metric.name, _NETWORK_BYTES_S))
        shares = {window: rng.uniform(0.1, 0.7, len(nodes)) for window in Window}
        metrics[metric.name] = readings_of(
            np.maximum.reduce(list(shares.values())) * capacity,
            capacity,
            np.full(len(nodes), now_s - _AGE_S),
            window_s=policy.time_range_s,
            now_s=now_s,
            refresh_interval_s=policy.refresh_interval_s,
            windows=dict(sorted((w.length_s(policy.time_range_s), share) for w, share in shares.items())),
        )
    return Readings(next(_serial), now_s, nodes, metrics)
