"""The outcome of one attempt, as a value that says why."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from plimsoll.cluster.pod import PodInfo


class Outcome(enum.Enum):
    BIND = "Bind"
    UNSCHEDULABLE = "Unschedulable"  # no node fits: autoscalers may act
    ERROR = "SchedulerError"  # Plimsoll cannot decide: no autoscaler must act


@dataclass(frozen=True, slots=True)
class NodeScore:
    """How one feasible node did.

    Attributes:
        score: 0..100, higher is better.
        terms: cost by term (load, requests, spreading, preferences), 0..1, lower is better; those that applied.
        readings: measured utilisation in percent by metric; None where missing.
        projected: the same with pods in flight and this pod added.
        sampled_at_s: the oldest sample time among the readings; None without readings.
    """

    node: str
    score: float
    terms: Mapping[str, float] = field(default_factory=dict)
    readings: Mapping[str, int | None] = field(default_factory=dict)
    projected: Mapping[str, int] = field(default_factory=dict)
    sampled_at_s: float | None = None


@dataclass(frozen=True, slots=True)
class Rejection:
    """One reason for which nodes were refused.

    Attributes:
        plugin: the filter, by kube-scheduler's name for it.
        resolvable: removing pods could help (kube-scheduler's Unschedulable).
        examples: up to ten of the nodes.
    """

    plugin: str
    reason: str
    count: int
    resolvable: bool
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """One attempt at one pod.

    Attributes:
        policy: the policy's name; "" is the built-in default.
        node: where to bind; "" unless BIND.
        best: up to ten feasible nodes, best first.
        rejections: by reason, of the nodes that were refused.
        rejected_by: filters whose change could help; the queue waits for these.
        problem: what stands in the way of the pod as a whole, apart from nodes; "" where only nodes refused.
        overloaded: every fit node was above the policy's limits and the least loaded was taken.
        load_set_aside: why the load term did not count; "" if it did or was not asked for.
        readings_at_s: time of the newest sample that was used; None where metrics did not count.
    """

    pod: PodInfo
    outcome: Outcome
    policy: str
    policy_generation: int
    decided_at_s: float
    nodes: int
    feasible: int
    node: str = ""
    score: float = 0.0
    best: tuple[NodeScore, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    rejected_by: frozenset[str] = frozenset()
    problem: str = ""
    overloaded: bool = False
    load_set_aside: str = ""
    readings_at_s: float | None = None

    @property
    def runner_up(self) -> NodeScore | None:
        return next((n for n in self.best if n.node != self.node), None)


@dataclass(frozen=True, slots=True)
class Bind:
    """Command: POST the Binding; then tell the Scheduler ``bound`` or ``bind_failed``."""

    pod: PodInfo
    decision: Decision


@dataclass(frozen=True, slots=True)
class Refuse:
    """Command: write the PodScheduled condition and the FailedScheduling event."""

    pod: PodInfo
    decision: Decision


Command = Bind | Refuse
