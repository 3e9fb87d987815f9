"""The outcome of one attempt, as a value that says why."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from plimsoll.cluster.frozen import changer
from plimsoll.cluster.pod import PodInfo
from plimsoll.scheduling.preparing import Preparation


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
        preferences: kube-scheduler's normalised score, 0..100, by the plugins that tell the feasible nodes apart.
    """

    node: str
    score: float
    terms: Mapping[str, float] = field(default_factory=dict)
    readings: Mapping[str, int | None] = field(default_factory=dict)
    projected: Mapping[str, int] = field(default_factory=dict)
    sampled_at_s: float | None = None
    preferences: Mapping[str, int] = field(default_factory=dict)


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
        place: where among these the chosen one stands.
        rejections: by reason, of the nodes that were refused.
        rejected_by: filters whose change could help; the queue waits for these.
        problem: what stands in the way of the pod as a whole, apart from nodes; "" where only nodes refused.
        overloaded: every fit node was above the policy's limits and the least loaded was taken.
        after: what kube-scheduler's PostFilter plugins add to the sentence; "" where preemption helps.
        nominated_node: where preemption makes room; "" ends a nomination, None leaves it as it is.
        victims: pods that must go for it, the most important first; some may be terminating already.
        load_set_aside: why the load term did not count; "" if it did or was not asked for.
        readings_at_s: time of the newest sample that was used; None where metrics did not count.
        prepare: what must be done before the Binding; None where nothing must.
        unfinished: the search for victims has paused and goes on with the next attempt; nothing else is to be told yet.
        bound: whether the Binding came about; None while that is open, and where there is none to come.
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
    best: Sequence[NodeScore] = ()
    place: int = 0
    rejections: tuple[Rejection, ...] = ()
    rejected_by: frozenset[str] = frozenset()
    problem: str = ""
    overloaded: bool = False
    after: str = ""
    nominated_node: str | None = None
    victims: tuple[PodInfo, ...] = ()
    load_set_aside: str = ""
    readings_at_s: float | None = None
    prepare: Preparation | None = None
    unfinished: bool = False
    bound: bool | None = None

    @property
    def chosen(self) -> NodeScore | None:
        return self.best[self.place] if self.best else None

    @property
    def runner_up(self) -> NodeScore | None:
        return next((n for n in self.best if n.node != self.node), None)

    def settled(self, *, bound: bool) -> Decision:
        """The same, now that it is known what became of the Binding."""
        return _settled(self, bound)


_settled = changer(Decision, "bound")


@dataclass(frozen=True, slots=True)
class Bind:
    """Command: prepare what is to be prepared, POST the Binding; then tell the Scheduler ``bound`` or ``bind_failed``.

    Attributes:
        prepare: None where nothing must be done before.
    """

    pod: PodInfo
    decision: Decision
    prepare: Preparation | None = None


@dataclass(frozen=True, slots=True)
class Refuse:
    """Command: write the PodScheduled condition and the FailedScheduling event."""

    pod: PodInfo
    decision: Decision


@dataclass(frozen=True, slots=True)
class Preempt:
    """Command: as Refuse, and evict the victims; then tell the Scheduler ``preempted``.

    Attributes:
        displaced: pods of lower priority that were nominated to the node and are no longer.
    """

    pod: PodInfo
    decision: Decision
    displaced: tuple[PodInfo, ...] = ()


@dataclass(frozen=True, slots=True)
class Skip:
    """Command: write an event that the pod was its turn while it is being deleted; the Scheduler has let go of it."""

    pod: PodInfo


Command = Bind | Refuse | Preempt | Skip
