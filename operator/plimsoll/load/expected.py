"""What a pod is expected to use, before any metric can show it.

A first, honest version: cpu and memory by its requests times the cluster's use-to-request ratio, or the mean use
of a pod where it requests nothing; network by the pod's annotations, else nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.resources import CPU as CPU_RESOURCE
from plimsoll.cluster.resources import MEMORY as MEMORY_RESOURCE
from plimsoll.cluster.snapshot import CPU_COLUMN, MEMORY_COLUMN, Bools
from plimsoll.load.readings import Floats
from plimsoll.policy.compiled import CPU, MEMORY, NETWORK_METRICS

# A cluster that is idle, or one whose requests are far too small, must not make single pods invisible or huge.
_RATIO_BOUNDS = (0.1, 2.0)
_MILLI = 1000.0
# Resource, its column in the Snapshot, and how much of the metric's unit one unit of it is.
RESOURCE_OF = {CPU: (CPU_RESOURCE, CPU_COLUMN, 1 / _MILLI), MEMORY: (MEMORY_RESOURCE, MEMORY_COLUMN, 1.0)}


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
    ratio = float(np.clip(all_used / all_asked, *_RATIO_BOUNDS)) if all_asked > 0 else 1.0
    return Usual(ratio=ratio, per_pod=all_used / all_pods if all_pods >= 1 else 0.0)


def expected_use(pod: PodInfo, metric: str, usually: Usual) -> float:
    """In the metric's unit: cores, bytes, bytes per second."""
    if metric in NETWORK_METRICS:
        return float(pod.expected_network.get(metric, 0))
    resource, _, unit = RESOURCE_OF[metric]
    asked = pod.requests.get(resource, 0) * unit
    return asked * usually.ratio if asked > 0 else usually.per_pod
