"""A SchedulingPolicy as the core uses it: frozen, with units in names and nothing left to parse."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from plimsoll.cluster.selectors import LabelSelector, NodeSelector


class Mode(enum.Enum):
    ENFORCE = "Enforce"
    OBSERVE = "Observe"


class Formula(enum.Enum):
    CAPACITY = "Capacity"
    RELATIVE = "Relative"


class OnOverload(enum.Enum):
    LEAST_LOADED = "LeastLoaded"
    WAIT = "Wait"


class OnMissing(enum.Enum):
    REQUESTS = "Requests"
    EXCLUDE = "Exclude"


class InFlight(enum.Enum):
    COUNT = "Count"
    IGNORE = "Ignore"


class Goal(enum.Enum):
    MINIMIZE = "Minimize"
    MAXIMIZE = "Maximize"


NETWORK_RECEIVE, NETWORK_TRANSMIT = "networkReceive", "networkTransmit"
MEMORY, CPU = "memory", "cpu"
NETWORK_METRICS = (NETWORK_RECEIVE, NETWORK_TRANSMIT)
BUILT_IN_METRICS = (NETWORK_RECEIVE, NETWORK_TRANSMIT, MEMORY, CPU)


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric that the policy weighs or limits.

    Attributes:
        name: one of BUILT_IN_METRICS, or a custom metric's own.
        weight: relative, 0 where only a limit is set. Of a custom metric whose scale has to be estimated half of what
            was written, since what counts as full there is a guess.
        limit: utilisation (0..1] above which the node is refused; None: no limit. Of a custom metric in its own unit,
            and with goal Maximize the value below which the node is refused.
        query: PromQL with $timeRange and $deviceName still in it; None for built-in metrics, as is all that follows.
        goal: whether less or more is better.
        min, max: ends of the scale, in the metric's unit; an end that is None is estimated from the nodes.
        per_pod: by how much one pod worsens the value, in the metric's unit, 0 or more.
    """

    name: str
    weight: float
    limit: float | None = None
    query: str | None = None
    goal: Goal = Goal.MINIMIZE
    min: float | None = None
    max: float | None = None
    per_pod: float = 0.0

    @property
    def custom(self) -> bool:
        return self.query is not None


@dataclass(frozen=True, slots=True)
class Placement:
    """How the terms of the score weigh against each other."""

    load: float = 8
    requests: float = 2
    spreading: float = 3
    preferences: float = 6


@dataclass(frozen=True, slots=True)
class PrometheusSource:
    url: str
    timeout_s: float = 10.0
    headers: Mapping[str, str] = field(default_factory=dict)
    query_parameters: Mapping[str, str] = field(default_factory=dict)
    node_label: str | None = None

    kind = "Prometheus"


@dataclass(frozen=True, slots=True)
class MetricsServerSource:
    kind = "MetricsServer"


Source = PrometheusSource | MetricsServerSource


@dataclass(frozen=True, slots=True)
class Problem:
    """A field that is set aside while the rest of the policy is in force.

    Attributes:
        field: the path in the object, e.g. ``spec.deviceName``.
        problem, mend: what is wrong, and what to write instead.
    """

    field: str
    problem: str
    mend: str

    def __str__(self) -> str:
        return f"{self.field}: {self.problem}: {self.mend}"


@dataclass(frozen=True, slots=True)
class Policy:
    """One policy in force.

    Attributes:
        metrics: with a weight or a limit; empty for the built-in default.
        source: None for the built-in default, where the source may not be asked yet (auth, tls), and where it
            is set aside.
        device_name: RE2, matched whole; None: physical NICs by the default rule.
        network_capacity_bytes_s: per device where the link speed is unknown.
        max_memory_bytes: available memory that earns the full memory score; only with Relative.
        pack_target: 0..1, up to which the strategy Pack fills nodes; None: the strategy is Spread.
        not_yet_enforced: paths of fields that are valid but without effect so far, some with their value.
        problems: fields that are set aside; the policy is not Ready where there are any.
        created: creationTimestamp as written; breaks ties between equal priorities, oldest first.
    """

    name: str
    uid: str = ""
    generation: int = 0
    created: str = ""
    mode: Mode = Mode.ENFORCE
    priority: int = 0
    pod_selector: LabelSelector = LabelSelector()
    namespace_selector: LabelSelector = LabelSelector()
    node_selector: Mapping[str, str] = field(default_factory=dict)
    node_affinity: NodeSelector | None = None
    metrics: tuple[Metric, ...] = ()
    device_name: str | None = None
    time_range_s: float = 300.0
    refresh_interval_s: float = 30.0
    source: Source | None = None
    network_capacity_bytes_s: int | None = None
    on_overload: OnOverload = OnOverload.LEAST_LOADED
    on_missing: OnMissing = OnMissing.REQUESTS
    formula: Formula = Formula.CAPACITY
    max_memory_bytes: int | None = None
    placement: Placement = Placement()
    in_flight: InFlight = InFlight.COUNT
    pack_target: float | None = None
    not_yet_enforced: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def enforced(self) -> bool:
        return self.mode is Mode.ENFORCE

    @property
    def grown_after_s(self) -> float:
        """Two refreshes and a window: a younger node cannot have readings yet."""
        return 2 * self.refresh_interval_s + self.time_range_s

    @property
    def limits(self) -> tuple[Metric, ...]:
        return tuple(m for m in self.metrics if m.limit is not None)


# What places pods that no policy selects: requests, spreading and preferences, no metrics.
BUILT_IN = Policy(name="", placement=Placement(load=0))
