"""From what single pods were measured to use to what pods of each workload use."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.workload import WorkloadKey
from plimsoll.load.workload_use import Use, Uses
from plimsoll.policy.compiled import NETWORK_METRICS

# A younger pod has hardly been measured, and is busy with its start.
YOUNGEST_S = 30.0


class PodPlace(NamedTuple):
    """What has to be known of a running pod to learn from what it uses.

    Attributes:
        started_s: seconds since the epoch.
        host_network: its interfaces are the node's, and so is the traffic that is counted there.
    """

    workload: WorkloadKey
    started_s: float
    host_network: bool = False

    @classmethod
    def of(cls, pod: PodInfo) -> PodPlace | None:
        """None for a pod that does not run yet, or does not work any more."""
        if pod.running_s is None or pod.deleting or pod.terminal:
            return None
        return cls(pod.workload, pod.running_s, pod.host_network)


class PodAmount(NamedTuple):
    """What one pod was measured to use, by one metric.

    Attributes:
        pod: ``namespace/name``.
        value: in the metric's unit; may be NaN, infinite or negative.
        window_s: the value is the mean over so long before ``sampled_at_s``; 0 for instant values.
    """

    pod: str
    value: float
    sampled_at_s: float
    window_s: float


def use_by_workload(metric: str, amounts: Iterable[PodAmount], *, pods: Mapping[str, PodPlace]) -> Uses:
    """The use of the metric by the workloads whose pods were measured.

    What cannot be believed is left out and never counts as 0: numbers that are none or negative, pods that are not
    known or too young, and the traffic of pods on their node's network.

    Args:
        pods: by ``namespace/name``; looked up only, so that another thread may change it meanwhile.
    """
    sums: dict[WorkloadKey, tuple[int, float, float]] = {}
    network = metric in NETWORK_METRICS
    for amount in amounts:
        place = pods.get(amount.pod)
        if place is None or (network and place.host_network):
            continue
        value = _while_it_ran(amount, place)
        if math.isfinite(value) and value >= 0:
            count, total, squares = sums.get(place.workload, (0, 0.0, 0.0))
            sums[place.workload] = count + 1, total + value, squares + value * value
    return Uses.of(
        {
            workload: Use(count, total / count, squares / count)
            for workload, (count, total, squares) in sums.items()
            if math.isfinite(squares)
        }
    )


def _while_it_ran(amount: PodAmount, place: PodPlace) -> float:
    """The mean since the pod started, where the window began before; NaN for a pod that is too young.

    A rate over a window that is filled in part is too small by the part that is not.
    """
    age_s = amount.sampled_at_s - place.started_s
    if not age_s >= YOUNGEST_S:
        return math.nan
    return amount.value * amount.window_s / age_s if age_s < amount.window_s else amount.value
