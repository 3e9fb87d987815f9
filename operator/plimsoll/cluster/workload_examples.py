"""One pod of each workload, and what these pods say of themselves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plimsoll.cluster.pod import NETWORK_ANNOTATIONS, PodInfo
from plimsoll.cluster.resources import CPU, MEMORY
from plimsoll.cluster.workload import WorkloadKey

# What ``told`` tells, by the metrics' names.
TOLD = (CPU, MEMORY, *NETWORK_ANNOTATIONS)
_UNTOLD = -1.0
_NO_NETWORK = (_UNTOLD,) * len(NETWORK_ANNOTATIONS)
_FIRST = 64


def told(pod: PodInfo) -> tuple[float, ...]:
    """In the order of ``TOLD``: requests in milli cores and bytes, and the annotations' bytes per second; negative
    where the pod says nothing.
    """
    requests, network = pod.requests, pod.expected_network
    asked = (requests.get(CPU) or _UNTOLD, requests.get(MEMORY) or _UNTOLD)
    return asked + (tuple([network.get(name, _UNTOLD) for name in NETWORK_ANNOTATIONS]) if network else _NO_NETWORK)


class Examples:
    """Each workload has a place as long as it has pods.

    Attributes:
        pods: by place, the pod of the workload that came last; None in free places.
        place: by workload.
        told: [4, P], what they say of themselves; what lies beyond the places is undefined.
    """

    def __init__(self) -> None:
        self.pods: list[PodInfo | None] = []
        self.place: dict[WorkloadKey, int] = {}
        self.told: NDArray[np.float64] = np.full((len(TOLD), _FIRST), _UNTOLD)
        self._free: list[int] = []

    def of(self, workload: WorkloadKey) -> PodInfo:
        pod = self.pods[self.place[workload]]
        assert pod is not None
        return pod

    def put(self, pod: PodInfo) -> int:
        """Answers with the place."""
        place = self.place.get(pod.workload)
        if place is None:
            place = self.place[pod.workload] = self._new()
        before, self.pods[place] = self.pods[place], pod
        if before is None or before.requests != pod.requests or before.expected_network != pod.expected_network:
            self.told[:, place] = told(pod)
        return place

    def drop(self, workload: WorkloadKey) -> None:
        place = self.place.pop(workload)
        self.pods[place] = None
        self._free.append(place)

    def _new(self) -> int:
        if self._free:
            return self._free.pop()
        self.pods.append(None)
        if len(self.pods) > self.told.shape[1]:
            self.told = np.hstack((self.told, np.full_like(self.told, _UNTOLD)))
        return len(self.pods) - 1
