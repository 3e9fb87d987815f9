"""Koordinator's LoadAwareScheduling inside kube-scheduler's default profile.

Source: koordinator-sh/koordinator, pkg/scheduler/plugins/loadaware/load_aware.go (01a456b1), pod_assign_cache.go
(0d5f65b9), estimator/default_estimator.go (0b67d891), pkg/scheduler/apis/config/v1/defaults.go (0a66ffaf),
config/manager/scheduler-config.yaml (15d48f35: weight 1, the default plugins stay on). The agent on each node reports
every 60 s what the node and its pods used over 5 minutes. To that come pods the report cannot show, by what they are
estimated to use above what was reported of them: assigned since 60 s before the report, or not in it. A pod's estimate
is 85 % of the cpu and 70 % of the memory of the larger of limit and request, or 250m and 200Mi. The filter refuses
where node, such pods and this one exceed 65 % of the cpu or 95 % of the memory; the score is the free share after them.
Pods that ended stay in the mean.

A report of before 180 s scores 0 and passes the filter, as with ``enableScheduleWhenNodeMetricsExpired``; by the code's
own default the node is refused, and through an outage nothing would be placed that could be compared. So does a node
that never reported. What is no number is not reported.

Different here: a report bears the time of the node's last sample in it, up to a scrape older than the report itself;
a pod that has been on its node for longer counts as in the report; where the filter leaves no node it is set aside, as
the pod, whose own limit is often what is too much, would wait for hours, and all are compared by the same pods.
"""

from __future__ import annotations

import numpy as np

from plimsoll.sim.contenders.kube_scheduler import MAX_SCORE, KubeScheduler
from plimsoll.sim.contenders.queueing import Ints, limits, requests, whole
from plimsoll.sim.metrics import MetricsPlane
from plimsoll.sim.world import CPU_AT, MEMORY_AT, Bools, Pod, World

_REPORT_EVERY_S, _AGGREGATED_S, _EXPIRED_S = 60.0, 300.0, 180.0
_KNOWN = [CPU_AT, MEMORY_AT]
_FACTOR_PERCENT = np.array([85, 70])
_WITHOUT_REQUEST = np.array([250, 200 * 2**20])
_MOST_PERCENT = np.array([[65], [95]])


class Koordinator(KubeScheduler):
    """LoadAwareScheduling + the default profile."""

    def __init__(self, world: World, plane: MetricsPlane, rng: np.random.Generator) -> None:
        super().__init__(world, plane, rng)
        # [2, N], as reported, and what pods add that the report does not show.
        self._used = np.zeros_like(self.allocatable)
        self._unseen = np.zeros_like(self.allocatable)
        self._sampled_s = np.full(len(self.live), -np.inf)
        # By pod that a report may not show: since when, where, and what of it is added.
        self._young: dict[int, tuple[float, int, Ints]] = {}

    def placed(self, pod: int, node: int, *, now_s: float) -> None:
        self._add(pod, node, now_s, estimate(self.world.pods[pod]))

    def ended(self, pod: int, *, now_s: float) -> None:
        super().ended(pod, now_s=now_s)
        if pod in self._young:
            _, node, added = self._young.pop(pod)
            self._unseen[:, node] -= added

    def refreshed(self, *, now_s: float) -> None:
        if now_s % _REPORT_EVERY_S == 0:
            self._report(now_s)

    def passing(self, replica: Pod, fit: Bools, *, now_s: float) -> Bools:
        exceeded = exceeding(self._expected(replica), self.allocatable)
        left = fit & (~exceeded | self._expired(now_s))
        return left if left.any() else fit

    def score(self, replica: Pod, fit: Bools, *, now_s: float) -> Ints:
        points = least_used(self._expected(replica), self.allocatable)
        return super().score(replica, fit, now_s=now_s) + np.where(self._expired(now_s), 0, points)

    def _expected(self, replica: Pod) -> Ints:
        """[2, N], with the pod."""
        return self._used + self._unseen + estimate(replica)[:, None]

    def _expired(self, now_s: float) -> Bools:
        """[N], without a report that counts."""
        expired: Bools = now_s - self._sampled_s >= _EXPIRED_S
        return expired

    def _report(self, now_s: float) -> None:
        used = self.plane.mean(_AGGREGATED_S, now_s)[_KNOWN]
        known = ~np.isnan(used).any(axis=0)
        self._used = np.where(known, whole(np.nan_to_num(used)), self._used)
        self._sampled_s = np.where(known, self.plane.sampled_at_s(now_s), self._sampled_s)
        young, self._young = self._young, {}
        self._unseen = np.zeros_like(self.allocatable)
        reported = self._reported(list(young), now_s)
        for pod, (since_s, node, _) in young.items():
            use = reported.get(pod)
            if use is None or self._sampled_s[node] - _REPORT_EVERY_S < since_s:
                expected = estimate(self.world.pods[pod])
                self._add(pod, node, since_s, expected if use is None else np.maximum(expected - use, 0))

    def _add(self, pod: int, node: int, since_s: float, amount: Ints) -> None:
        self._young[pod] = since_s, node, amount
        self._unseen[:, node] += amount

    def _reported(self, pods: list[int], now_s: float) -> dict[int, Ints]:
        """[2] by pod, what those of them that run were measured to use."""
        running = np.intersect1d(self.plane.pods(), np.array(pods, dtype=np.int64))
        use = self.plane.pod_use(running, _AGGREGATED_S, now_s)[:, _KNOWN].T
        measured = np.flatnonzero(~np.isnan(use).any(axis=0))
        amounts = whole(np.nan_to_num(use))
        return {int(running[i]): amounts[:, i] for i in measured}


def estimate(replica: Pod) -> Ints:
    """[2], millicores and bytes that the pod is expected to use."""
    limit = limits(replica)
    larger = np.maximum(limit, requests(replica))
    scaled = (larger * _FACTOR_PERCENT + 50) // 100
    return np.where(larger == 0, _WITHOUT_REQUEST, np.where(limit > 0, np.minimum(scaled, limit), scaled))


def exceeding(used: Ints, allocatable: Ints) -> Bools:
    """[N], nodes that the filter refuses; percent are rounded first."""
    percent = np.floor(used / allocatable * 100 + 0.5)
    above: Bools = np.logical_or.reduce(percent > _MOST_PERCENT, axis=0)
    return above


def least_used(used: Ints, allocatable: Ints) -> Ints:
    """[N], whole points: the mean over resources of the free share."""
    free = np.maximum(allocatable - used, 0) * MAX_SCORE // allocatable
    mean: Ints = free.sum(axis=0) // len(free)
    return mean
