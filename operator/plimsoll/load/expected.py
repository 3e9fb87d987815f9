"""What a pod is expected to use, before any metric can show it.

    e = w * (mean + kp * sd) + (1 - w) * prior,   w = h / (h + 3)

with mean, sd and h, the minutes, of its workload's history. The prior of cpu and memory is what the pod requests
times the cluster's use-to-request ratio, or the mean use of a pod where it requests nothing; of network what the
pod's annotation says, else the mean over all workloads' history; of a custom metric the policy's ``perPod``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.resources import CPU as CPU_RESOURCE
from plimsoll.cluster.resources import MEMORY as MEMORY_RESOURCE
from plimsoll.cluster.snapshot import CPU_COLUMN, MEMORY_COLUMN, Bools
from plimsoll.cluster.workload_examples import TOLD, told
from plimsoll.load.directory import Directory, Rows
from plimsoll.load.history import Past, Pasts
from plimsoll.load.readings import Floats
from plimsoll.policy.compiled import CPU, MEMORY

# A pod that comes is expected to use a little more than its workload's mean: to take it for too light costs more.
DEVIATIONS_OF_A_POD = 0.5
# With so many minutes of history it counts as much as what was believed before.
_MINUTES_TO_BELIEVE = 3.0
# A cluster that is idle, or one whose requests are far too small, must not make single pods invisible or huge.
_RATIO_BOUNDS = (0.1, 2.0)
_MILLI = 1000.0
# Resource, its column in the Snapshot, and how much of the metric's unit one unit of it is.
RESOURCE_OF = {CPU: (CPU_RESOURCE, CPU_COLUMN, 1 / _MILLI), MEMORY: (MEMORY_RESOURCE, MEMORY_COLUMN, 1.0)}
_UNTOLD = -1.0
_UNKNOWN = Past(mean=0.0, sd=0.0, minutes=0.0)


@dataclass(frozen=True, slots=True)
class Usual:
    """How measured use relates to requests in this cluster, for one metric.

    Attributes:
        ratio: use over requests, clipped to 0.1..2.
        per_pod: mean use of a pod, in the metric's unit (cores, bytes); 0.0 where no pod has been measured.
    """

    ratio: float = 1.0
    per_pod: float = 0.0


def usual(*, used: Floats, asked: Floats, pods: Floats, measured: Bools) -> Usual:
    """Learns from the nodes that are measured.

    Args:
        used: [N], measured use in the metric's unit.
        asked, pods: [N], requests in the same unit and number of pods, as far as ``used`` contains them.
        measured: [N], where ``used`` may be believed.
    """
    all_used, all_asked, all_pods = (float(column[measured].sum()) for column in (used, asked, pods))
    least, most = _RATIO_BOUNDS
    ratio = min(max(all_used / all_asked, least), most) if all_asked > 0 else 1.0
    return Usual(ratio=ratio, per_pod=all_used / all_pods if all_pods >= 1 else 0.0)


class Crowd(NamedTuple):
    """Several pods: what has to be looked up pod by pod is looked up once for all metrics.

    Attributes:
        rows: [P], their workloads' in the history's directory.
        told: [4, P], what they say of themselves, as ``workload_examples.told``.
    """

    rows: Rows
    told: Floats

    @classmethod
    def of(cls, pods: Sequence[PodInfo], directory: Directory) -> Crowd:
        rows = directory.rows([pod.workload for pod in pods])
        return cls(rows, np.array([told(pod) for pod in pods], dtype=np.float64).reshape(-1, len(TOLD)).T)


class PodUses(NamedTuple):
    """What several pods are expected to use, arrays of shape [M, P] in the metrics' units.

    Attributes:
        expected: with a margin, of pods that come.
        habit: without one, of pods that were there long enough to be like the others.
        known: as far as history tells; 0 where there is none.
        announced: the same, and what annotations and ``perPod`` tell; what pods request says nothing of what they use.
    """

    expected: Floats
    habit: Floats
    known: Floats
    announced: Floats


@dataclass(frozen=True, slots=True)
class Expectations:
    """What pods use by one metric of one policy, as it is known at a refresh.

    Attributes:
        metric: its name.
        pasts: the history, live.
    """

    metric: str
    usual: Usual
    pasts: Pasts = field(default_factory=lambda: Pasts.of({}))

    def of(self, pod: PodInfo) -> float:
        """With the margin, in the metric's unit: cores, bytes, bytes per second."""
        past, says = self.pasts.get(pod.workload) or _UNKNOWN, self._told(pod)
        weight = _weight(past)
        prior = says * self.worth if says >= 0 else self.usual.per_pod
        return weight * (past.mean + DEVIATIONS_OF_A_POD * past.sd) + (1 - weight) * prior

    def announced(self, pod: PodInfo) -> float:
        """As far as history, the pod's annotation or ``perPod`` tell; what it requests says nothing of what it uses."""
        past, says = self.pasts.get(pod.workload) or _UNKNOWN, self._told(pod)
        weight = _weight(past)
        told = says * self.worth if says >= 0 else self._told_by_policy
        return weight * past.mean + (1 - weight) * (0.0 if self.metric in RESOURCE_OF else told)

    @property
    def _told_by_policy(self) -> float:
        """Of a pod that says nothing itself; of custom metrics the policy tells."""
        return 0.0 if self.metric in TOLD else self.usual.per_pod

    @property
    def worth(self) -> float:
        """How much of the metric's unit a unit of what pods tell is expected to be."""
        return RESOURCE_OF[self.metric][2] * self.usual.ratio if self.metric in RESOURCE_OF else 1.0

    def _told(self, pod: PodInfo) -> float:
        """What the pod says of itself: its request or its annotation; negative where it says nothing."""
        if self.metric in RESOURCE_OF:
            return pod.requests.get(RESOURCE_OF[self.metric][0]) or _UNTOLD
        return pod.expected_network.get(self.metric, _UNTOLD)


def _weight(past: Past) -> float:
    return past.minutes / (past.minutes + _MINUTES_TO_BELIEVE)


def uses_of(crowd: Crowd, metrics: Sequence[Expectations]) -> PodUses:
    """The same of many pods by several metrics at once, and what else is asked of them."""
    past = np.array([metric.pasts.columns(crowd.rows) for metric in metrics]).reshape(len(metrics), 3, -1)
    mean, sd, minutes = past[:, 0], past[:, 1], past[:, 2]
    weight = minutes / (minutes + _MINUTES_TO_BELIEVE)
    priors, announced = _priors(crowd, metrics)
    believed = (1 - weight) * priors
    likely, past = weight * (mean + DEVIATIONS_OF_A_POD * sd) + believed, weight * mean
    return PodUses(likely, past + believed, past, past + (1 - weight) * announced)


def _priors(crowd: Crowd, metrics: Sequence[Expectations]) -> tuple[Floats, Floats]:
    """[M, P] each: what pods are believed to use by what they say alone (of custom metrics they say nothing), and what
    of it is announced as use rather than requested.
    """
    worth = np.array([(metric.worth, metric.usual.per_pod) for metric in metrics]).reshape(-1, 2)
    lines = [TOLD.index(metric.metric) if metric.metric in TOLD else None for metric in metrics]
    silent = np.full(len(crowd.rows), _UNTOLD)
    says = np.array([silent if line is None else crowd.told[line] for line in lines]).reshape(len(metrics), -1)
    priors = np.where(says < 0, worth[:, 1:], says * worth[:, :1])
    requested = np.array([metric.metric in RESOURCE_OF for metric in metrics], dtype=np.bool_)[:, None]
    guessed = np.array([metric.metric in TOLD for metric in metrics], dtype=np.bool_)[:, None] & (says < 0)
    return priors, np.where(requested | guessed, 0.0, priors)
