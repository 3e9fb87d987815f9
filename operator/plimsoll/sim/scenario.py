"""A scenario as data: what arrives, on what nodes, and how well the nodes are measured."""

from __future__ import annotations

import enum
from dataclasses import dataclass

HOUR_S = 3600.0


class Workloads(enum.Enum):
    """What owns the pods that arrive; kube-scheduler's default spreading knows services only."""

    SERVICES = "services"
    JOBS = "jobs"
    MIXED = "mixed"


class Arrivals(enum.Enum):
    """How pods come."""

    ROLLOUTS = "rollouts"  # Pareto(1.3) + 1 replicas at once, at most 40; six of ten of an app that was there before
    SINGLE = "single"  # one at a time, each an app of its own or of a known one
    RECORDED = "recorded"  # times, apps and lifetimes of a recorded cluster, compressed in time


class Machines(enum.Enum):
    MIXED = "mixed"  # 16 cores and 32 GiB, 32 cores and 64 GiB by turns
    EQUAL = "equal"
    RECORDED = "recorded"  # a random selection of a recorded cluster's nodes


class FaultKind(enum.Enum):
    """How metrics can be wrong."""

    OUTAGE = "outage"  # the source does not answer
    DARK = "dark"  # exporters do not answer
    NAN = "nan"  # values are NaN
    COUNTER_RESET = "counterReset"  # counters begin at 0 again, as after a reboot, every few minutes
    RENAMED_DEVICE = "renamedDevice"  # another device carries the traffic
    FROZEN = "frozen"  # exporters repeat their last values, while their clocks go on
    STUCK = "stuck"  # exporters repeat their last values, those of their clocks too
    SKEWED_CLOCK = "skewedClock"  # exporters' clocks run apart from the source's


@dataclass(frozen=True, slots=True)
class Fault:
    """Attributes:
    share: of the nodes that have it, the first of a random order, and one at least.
    from_s, until_s: since the start of the world.
    skew_s: how far clocks are off, by turns ahead and behind.
    every_s: how often counters are reset.
    """

    kind: FaultKind
    from_s: float = 2 * HOUR_S
    until_s: float = 12 * HOUR_S
    share: float = 1.0
    skew_s: float = 240.0
    every_s: float = 180.0


@dataclass(frozen=True, slots=True)
class Scenario:
    """One kind of world.

    Attributes:
        pods: about how many arrive.
        cpu, memory, network: the mean share of the cluster's capacity that pods demand.
        best_effort: share of the apps that request nothing.
        unmanaged: share of the nodes that also carry load that no pod accounts for.
        scrape_s: how often an exporter is scraped; each at a moment of its own.
        refresh_s: how often contenders read their metrics.
        publish_s: what was scraped is seen at multiples of this only; 0: at once.
        joins: nodes that are added, each half an hour after the one before, from a third of the time on.
        drains: nodes whose pods are evicted, in the same way.
    """

    name: str
    title: str
    workloads: Workloads = Workloads.SERVICES
    arrivals: Arrivals = Arrivals.ROLLOUTS
    machines: Machines = Machines.MIXED
    nodes: int = 30
    pods: int = 2000
    hours: float = 14.0
    cpu: float = 0.4
    memory: float = 0.3
    network: float = 0.15
    best_effort: float = 0.15
    unmanaged: float = 0.25
    scrape_s: float = 15.0
    refresh_s: float = 30.0
    publish_s: float = 0.0
    faults: tuple[Fault, ...] = ()
    joins: int = 0
    drains: int = 0
