"""Every contender by its name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from plimsoll.policy.compiled import Policy
from plimsoll.sim.contenders.available_memory import AvailableMemory
from plimsoll.sim.contenders.chance import Chance
from plimsoll.sim.contenders.crane import Crane
from plimsoll.sim.contenders.interface import Make
from plimsoll.sim.contenders.koordinator import Koordinator
from plimsoll.sim.contenders.kube_scheduler import KubeScheduler
from plimsoll.sim.contenders.network_traffic import NetworkTraffic
from plimsoll.sim.contenders.ours import Ours
from plimsoll.sim.contenders.ours_variants import (
    Oracle,
    WithoutHistory,
    bare,
    load_alone,
    without_in_flight,
    without_requests,
    without_spreading,
)
from plimsoll.sim.contenders.trimaran_lvrb import LoadVariationRiskBalancing
from plimsoll.sim.contenders.trimaran_tlp import TargetLoadPacking
from plimsoll.sim.default_policy import default_policy


class Entry(NamedTuple):
    """Attributes:
    title: as people call it.
    description: one line on how it places.
    """

    title: str
    description: str
    make: Make


def ours(policy: Policy) -> dict[str, Entry]:
    """Ours by the policy, and its variants, by which the parts of the model are told apart."""
    return {
        "ours": Entry("Plimsoll", "the product's own Scheduler and load model", partial(Ours, policy)),
        "ours-without-spreading": Entry(
            "Plimsoll without spreading", "replicas are not spread", partial(Ours, without_spreading(policy))
        ),
        "ours-without-requests": Entry(
            "Plimsoll without requests", "requests do not count in scores", partial(Ours, without_requests(policy))
        ),
        "ours-without-in-flight": Entry(
            "Plimsoll without pods in flight",
            "only what the metrics show already counts",
            partial(Ours, without_in_flight(policy)),
        ),
        "ours-without-history": Entry(
            "Plimsoll without history",
            "what a pod will use is guessed by its requests",
            partial(WithoutHistory, policy),
        ),
        "ours-load-alone": Entry(
            "Plimsoll, load alone", "no net at all: the least loaded node by metrics", partial(Ours, load_alone(policy))
        ),
        "ours-relative": Entry(
            "Plimsoll, formula Relative, load alone", "as the classic plugins score", partial(Ours, bare(policy))
        ),
        "ours-oracle": Entry(
            "Plimsoll with an oracle",
            "what each workload uses in the mean is known beforehand",
            partial(Oracle, policy),
        ),
    }


# What stands beside ours in the field, and chance.
PEERS: dict[str, Entry] = {
    "random": Entry("random", "any node that the requests fit", Chance),
    "kube": Entry("kube-scheduler", "by requests, and the pods of a service spread; no metrics", KubeScheduler),
    "lvrb": Entry(
        "Trimaran LVRB",
        "kube-scheduler and mean and deviation over 15 min",
        LoadVariationRiskBalancing,
    ),
    "tlp": Entry("Trimaran TLP", "cpu packed to 40 %, then spread, by limits in flight", TargetLoadPacking),
    "crane": Entry("Crane", "kube-scheduler and three times the means and maxima of 5 min, 1 h and 1 d", Crane),
    "koordinator": Entry(
        "Koordinator", "kube-scheduler and what is used and expected, by limits in flight", Koordinator
    ),
    "network-traffic": Entry("NetworkTraffic", "the fewest bytes received, and nothing else", NetworkTraffic),
    "available-memory": Entry("NodeAvailableMemory", "the most memory available, and nothing else", AvailableMemory),
}

CONTENDERS: Mapping[str, Entry] = {**ours(default_policy()), **PEERS}
