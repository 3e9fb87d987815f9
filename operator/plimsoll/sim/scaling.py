"""How much load a world has: the apps' curves, made to fit the scenario and the cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plimsoll.sim.scenario import HOUR_S, Scenario
from plimsoll.sim.world import Floats, Node, Pod, begin_s

# One pod alone must not be too much for most nodes, or nobody could place it well.
MOST_OF_A_NODE = 0.5
_SMALL = 0.25
# And the pods together not for the cluster at its fullest moment.
FULLEST = 0.8
_ROUNDS = 4


@dataclass(frozen=True, slots=True)
class Offer:
    """What the cluster has, by metric.

    Attributes:
        always: [M], the capacity of the nodes that are there all the time.
        most: [M], half of a small node's: what a pod may demand.
    """

    always: Floats
    most: Floats

    @classmethod
    def of(cls, nodes: Sequence[Node], capacity: Floats) -> Offer:
        """Args:
        capacity: [M, N].
        """
        stays = np.array([node.joins_s <= 0 and np.isinf(node.drains_s) for node in nodes])
        small = np.quantile(capacity, _SMALL, axis=1, method="lower")
        return cls(capacity[:, stays].sum(axis=1), MOST_OF_A_NODE * small)


def scaled(curves: Floats, pods: Sequence[Pod], offer: Offer, scenario: Scenario, *, slot_s: float) -> Floats:
    """The curves, [A, M, S], so that the pods demand the scenario's share of the cluster, and none too much of a node.

    Where the cluster as a whole would be too full at some moment they are smaller: what nobody could serve says
    nothing of where pods were placed. Cutting peaks takes from the mean, so it is done a few times over.
    """
    wanted = np.array([scenario.cpu, scenario.memory, scenario.network, scenario.network]) * offer.always
    horizon_s = scenario.hours * HOUR_S
    for _ in range(_ROUNDS):
        demand = total(curves, pods, slots=int(np.ceil(horizon_s / slot_s)), slot_s=slot_s)
        mean, peak = demand.mean(axis=1), demand.max(axis=1)
        bearable = np.minimum(wanted, mean * FULLEST * offer.always / np.maximum(peak, 1e-9))
        factor = np.divide(bearable, mean, out=np.ones_like(mean), where=mean > 0)
        curves = np.minimum(curves * factor[None, :, None], offer.most[None, :, None])
    return curves


def total(curves: Floats, pods: Sequence[Pod], *, slots: int, slot_s: float) -> Floats:
    """[M, S], what all pods together demand if each is placed when it arrives, by slots."""
    demand = np.zeros((curves.shape[1], slots))
    last = curves.shape[2] - 1
    for pod in pods:
        starts_s = pod.arrives_s + pod.ready_s
        begin, end = int(starts_s / slot_s), min(int(np.ceil((starts_s + pod.lifetime_s) / slot_s)), slots)
        first = min(int((begin * slot_s - begin_s(pod, starts_s)) / slot_s), last)
        length = min(end - begin, last + 1 - first)
        if length > 0:
            demand[:, begin : begin + length] += curves[pod.app][:, first : first + length]
    return demand
