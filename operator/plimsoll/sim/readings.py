"""What the product's sources would make of a world, without the texts in between: for worlds without false metrics.

``answers.py`` goes the long way through Prometheus' answers; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from plimsoll.cluster.workload import WorkloadKey
from plimsoll.load.confidence import MISSING_AFTER_S
from plimsoll.load.measured import readings_of
from plimsoll.load.pod_use import YOUNGEST_S
from plimsoll.load.pod_use_queries import window_s as pods_window_s
from plimsoll.load.queries import Window
from plimsoll.load.readings import MetricReadings, Readings
from plimsoll.load.windows import covered_share
from plimsoll.load.workload_use import Uses, WorkloadUse
from plimsoll.policy.compiled import Policy
from plimsoll.sim.metrics import MetricsPlane
from plimsoll.sim.scrapes import Span
from plimsoll.sim.world import MEMORY_AT, METRICS, Floats

_NOT_MEASURED = "No node has been measured long enough."


def plane_readings(
    plane: MetricsPlane, policy: Policy, names: Sequence[str], *, now_s: float, readings_id: int
) -> Readings:
    """One refresh.

    Args:
        names: of the nodes that are known, in the order that the arrays shall have.
        now_s: since the start of the world, and so are all times in the readings.
    """
    look = _Look.of(plane, policy, names, now_s=now_s)
    asked = [metric.name for metric in policy.metrics if metric.name in METRICS]
    read = {name: look.read(METRICS.index(name)) for name in asked}
    metrics = {name: readings for name, readings in read.items() if readings.state.any() or not names}
    failures = dict.fromkeys((name for name in asked if name not in metrics), _NOT_MEASURED)
    return Readings(id=readings_id, taken_at_s=now_s, nodes=tuple(names), metrics=metrics, failures=failures)


@dataclass(frozen=True, slots=True)
class _Look:
    """All metrics at one moment.

    Attributes:
        means: by length of the window, [M, n].
        capacity: [M, n].
        sampled_at_s: [n].
    """

    policy: Policy
    means: Mapping[float, Floats]
    capacity: Floats
    sampled_at_s: Floats
    now_s: float

    @classmethod
    def of(cls, plane: MetricsPlane, policy: Policy, names: Sequence[str], *, now_s: float) -> _Look:
        place = {node.name: i for i, node in enumerate(plane.world.nodes)}
        rows = np.array([place[name] for name in names], dtype=np.int64)
        seen_s = plane.seen_s(now_s)
        means = {}
        for window in Window:
            length_s = window.length_s(policy.time_range_s)
            means[length_s] = window_mean(plane, plane.scrapes.span(seen_s - length_s, seen_s), length_s)[:, rows]
        # What was scraped last before that is forgotten, as Prometheus' answers to the product's queries have it.
        sampled_at_s = plane.scrapes.span(seen_s - MISSING_AFTER_S, seen_s).last_s[rows]
        return cls(policy, means, plane.world.capacity[:, rows], sampled_at_s, now_s)

    def read(self, metric: int) -> MetricReadings:
        means = {length_s: mean[metric] for length_s, mean in self.means.items()}
        capacity = self.capacity[metric]
        value = np.fmax.reduce(list(means.values()))
        known = ~np.isnan(value) & ~np.isnan(self.sampled_at_s)
        return readings_of(
            np.where(known, value, np.nan),
            np.where(known, capacity, np.nan),
            np.where(known, self.sampled_at_s, np.nan),
            window_s=self.policy.time_range_s,
            now_s=self.now_s,
            refresh_interval_s=self.policy.refresh_interval_s,
            windows={length_s: mean / capacity for length_s, mean in means.items()},
        )


def window_mean(plane: MetricsPlane, span: Span, length_s: float) -> Floats:
    """[M, N], as far as so much of the window is covered that the product believes rates; memory, an instant value
    at every scrape, is known from the first on.
    """
    mean = plane.true_mean(span)
    shares, at = np.unique(span.share, return_inverse=True)
    believed = np.array([covered_share(float(share), window_s=length_s) is not None for share in shares])
    if believed.all():
        return mean
    memory = np.where(np.isnan(mean[MEMORY_AT]), plane.at_scrape(span.last_s)[MEMORY_AT], mean[MEMORY_AT])
    mean = np.where(believed[at], mean, np.nan)
    mean[MEMORY_AT] = memory
    return mean


def workload_use(
    plane: MetricsPlane, policy: Policy, keys: Mapping[int, WorkloadKey] | Sequence[WorkloadKey], *, now_s: float
) -> WorkloadUse:
    """What the running pods of each app were measured to use.

    Args:
        keys: by app.
    """
    pods = plane.pods()
    pods = pods[plane.seen_s(now_s) - plane.pods_started_s(pods) >= YOUNGEST_S]
    use, apps = plane.pod_use(pods, pods_window_s(policy.time_range_s), now_s), plane.apps(pods)
    # The others are rates, memory is what it is at the moment.
    use[:, MEMORY_AT] = plane.pod_use(pods, plane.world.step_s, now_s)[:, MEMORY_AT]
    # A pod is measured by every metric or by none.
    known = np.isfinite(use).all(axis=1)
    use, apps = use[known], apps[known]
    count = np.bincount(apps)
    seen = np.flatnonzero(count)
    workloads, measured = tuple(keys[app] for app in seen.tolist()), count[seen].astype(np.float64)

    def mean(amounts: Floats) -> Floats:
        of_pods: Floats = np.bincount(apps, amounts)[seen] / measured
        return of_pods

    def uses(amounts: Floats) -> Uses:
        return Uses(workloads, measured, mean(amounts), mean(amounts * amounts))

    asked = (metric.name for metric in policy.metrics if metric.name in METRICS)
    return WorkloadUse(now_s, {name: uses(use[:, METRICS.index(name)]) for name in asked} if workloads else {})
