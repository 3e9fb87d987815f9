"""kube-scheduler's default profile, as far as these worlds touch it.

Source: kubernetes/kubernetes v1.36.4, pkg/scheduler/framework/plugins: noderesources/least_allocated.go and
balanced_allocation.go (weight 1 each), podtopologyspread/scoring.go (weight 2) with the system's default constraints
of plugin.go: maxSkew 3 over nodes, for pods of a Service, ReplicaSet, StatefulSet or ReplicationController only. The
other constraint, over zones, adds nothing to nodes that have none. Points are whole, in Go's integer arithmetic. All
nodes are scored (fewer than 100), the choice among equals is by chance.

Other plugins of the profile give every node of these worlds the same points and are left out: nothing here has taints,
affinity, images or volumes. A pod that no node has room for is tried again as soon as there is room, without backoff.
"""

from __future__ import annotations

import numpy as np

from plimsoll.sim.contenders.queueing import Ints, Queueing, requests
from plimsoll.sim.metrics import MetricsPlane
from plimsoll.sim.world import Bools, Owner, Pod, World

MAX_SCORE = 100
_SPREAD_WEIGHT = 2
_MAX_SKEW = 3
# What pods that request nothing count as where nodes are scored by what is free: util/pod_resources.go.
_NON_ZERO = np.array([100, 200 * 2**20])


class KubeScheduler(Queueing):
    """LeastAllocated + BalancedAllocation + 2 * PodTopologySpread.

    Plugins that run inside it override ``passing`` and ``score``.
    """

    def __init__(self, world: World, plane: MetricsPlane, rng: np.random.Generator) -> None:
        super().__init__(world, plane, rng)
        self._non_zero = np.zeros_like(self.requested)

    def choose(self, pod: int, replica: Pod, fit: Bools, *, now_s: float) -> int | None:  # noqa: ARG002 - the protocol
        fit = self.passing(replica, fit, now_s=now_s)
        if not fit.any():
            return None
        score = self.score(replica, fit, now_s=now_s)
        best = np.flatnonzero(fit & (score >= score[fit].max()))
        return int(self.rng.choice(best))

    def passing(self, replica: Pod, fit: Bools, *, now_s: float) -> Bools:  # noqa: ARG002 - for plugins
        """[N], nodes that the filters leave, of those that fit."""
        return fit

    def score(self, replica: Pod, fit: Bools, *, now_s: float) -> Ints:  # noqa: ARG002 - for plugins
        """[N], the weighted sum of the plugins' whole points; of no meaning where a pod does not fit."""
        return self.by_requests(replica) + self.by_spread(replica, fit)

    def by_requests(self, replica: Pod) -> Ints:
        """[N], both plugins that go by what is requested."""
        return least_allocated(self._non_zero + _counted(replica)[:, None], self.allocatable) + balanced_allocation(
            self.requested, requests(replica), self.allocatable
        )

    def by_spread(self, replica: Pod, fit: Bools) -> Ints:
        """[N], weight and all."""
        if replica.owner is not Owner.SERVICE:
            return np.zeros(len(fit), dtype=np.int64)
        return _SPREAD_WEIGHT * default_spread(self.replicas(replica), fit)

    def _count(self, pod: int, node: int, *, sign: int) -> None:
        super()._count(pod, node, sign=sign)
        self._non_zero[:, node] += sign * _counted(self.world.pods[pod])


def least_allocated(requested: Ints, allocatable: Ints) -> Ints:
    """[N]: the mean over resources of the free share.

    Args:
        requested: [2, N], with the pod.
        allocatable: [2, N], none of it 0.
    """
    free = np.maximum(allocatable - requested, 0) * MAX_SCORE // allocatable
    mean: Ints = free.sum(axis=0) // len(free)
    return mean


def balanced_allocation(requested: Ints, pod: Ints, allocatable: Ints) -> Ints:
    """[N], 50 to 100: how much closer to each other the pod brings the shares of cpu and memory; 75 for not at all.

    Args:
        requested: [2, N], without the pod.
        pod: [2]; one that requests nothing is not scored.
    """
    if not pod.any():
        return np.zeros(requested.shape[1], dtype=np.int64)
    change = _balance(requested + pod[:, None], allocatable) - _balance(requested, allocatable)
    half = MAX_SCORE // 2
    return half + (half + change) // 2


def default_spread(replicas: Ints, fit: Bools) -> Ints:
    """[N], normalised over the nodes that fit: the fewest replicas score 100."""
    weight = np.log(np.count_nonzero(fit) + 2)
    # Go rounds halves up, and nothing here is below zero.
    raw = np.floor(replicas * weight + (_MAX_SKEW - 1) + 0.5).astype(np.int64)
    least, most = raw[fit].min(), raw[fit].max()
    spread: Ints = MAX_SCORE * (most + least - raw) // most
    return spread


def _balance(requested: Ints, allocatable: Ints) -> Ints:
    """[N], 50 to 100."""
    share = np.minimum(requested / allocatable, 1.0)
    deviation = np.abs((share[0] - share[1]) / 2)
    balance: Ints = ((1 - deviation) * MAX_SCORE).astype(np.int64)
    return balance


def _counted(replica: Pod) -> Ints:
    """[2], each resource for itself: one that is not requested counts as a little."""
    wanted = requests(replica)
    return np.where(wanted == 0, _NON_ZERO, wanted)
