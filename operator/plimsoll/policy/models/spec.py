"""What a SchedulingPolicy asks for."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, ClassVar

from pydantic import Field

from plimsoll.policy.compiled import Formula, InFlight, Mode, OnMissing, OnOverload
from plimsoll.policy.models.base import ATOMIC, ApiModel
from plimsoll.policy.models.metric import CustomMetric
from plimsoll.policy.models.selectors import LabelSelector, NodeSelector
from plimsoll.policy.models.source import MetricsSource
from plimsoll.policy.models.values import Bytes, DeviceName, LabelValue, Percent, Priority, Weight, duration
from plimsoll.policy.rules import Rule


class StrategyType(StrEnum):
    SPREAD = "Spread"
    PACK = "Pack"


class Weights(ApiModel):
    network_receive: Weight | None = None
    """Bytes received by the node's network devices. Needs Prometheus."""
    network_transmit: Weight | None = None
    """Bytes sent by the node's network devices. Needs Prometheus."""
    memory: Weight | None = None
    """Memory that is not available."""
    cpu: Weight | None = None
    """CPU time that is not idle."""

    @property
    def network(self) -> bool:
        return bool(self.network_receive or self.network_transmit)

    @property
    def above_zero(self) -> bool:
        return bool(self.network or self.memory or self.cpu)


class Limits(ApiModel):
    cpu: Percent | None = None
    """Percent of the node's cpu."""
    memory: Percent | None = None
    """Percent of the node's memory."""
    network: Percent | None = None
    """Percent of the link speed, in either direction. Needs Prometheus."""


class Strategy(ApiModel):
    type: StrategyType = StrategyType.SPREAD
    """Spread: the least loaded node is best. Pack: the fullest node below target is best, above it as Spread."""
    target: Percent | None = None
    """Percent of capacity up to which Pack fills a node, by its fullest metric. Absent: 60."""

    rules: ClassVar = (
        Rule(
            cel="!has(self.target) || self.type == 'Pack'",
            holds=lambda strategy: strategy.target is None or strategy.type is StrategyType.PACK,
            problem="target is for strategy Pack only",
            mend="set type to Pack, or take target out",
            at="target",
        ),
    )


class PlacementWeights(ApiModel):
    load: Weight = 8
    """What the nodes carry now."""
    requests: Weight = 2
    """The share of the node that pods have requested."""
    spreading: Weight = 3
    """Pods of the same workload on the same node or in the same zone."""
    preferences: Weight = 6
    """Soft preferences: preferred node and pod affinity, PreferNoSchedule taints, ScheduleAnyway constraints, and with
    little weight default spreading and images that are there. Each clear wish weighs this much."""

    rules: ClassVar = (
        Rule(
            cel="self.load + self.requests + self.spreading + self.preferences > 0",
            holds=lambda p: p.load + p.requests + p.spreading + p.preferences > 0,
            problem="all of placement is 0, so every node would score the same",
            mend="set at least one of load, requests, spreading and preferences above 0",
            sets_aside=("load", "requests", "spreading", "preferences"),
        ),
    )


def _on_prometheus(spec: Spec) -> bool:
    return spec.metrics_source is not None and spec.metrics_source.prometheus is not None


def _weighs_network(spec: Spec) -> bool:
    return spec.weights is not None and spec.weights.network


def _limits_network(spec: Spec) -> bool:
    return spec.limits is not None and spec.limits.network is not None


def _weighs_something(spec: Spec) -> bool:
    return spec.weights is None or spec.weights.above_zero or any(m.weight for m in spec.metrics or ())


_PROMETHEUS = "self.?metricsSource.?prometheus.hasValue()"


def _needs_prometheus(*, asks: str, asked: Any, problem: str, name: str, at: str, sets_aside: tuple[str, ...]) -> Rule:
    return Rule(
        cel=f"{_PROMETHEUS} || !({asks})",
        holds=lambda spec: _on_prometheus(spec) or not asked(spec),
        problem=problem,
        mend=f"set metricsSource.prometheus.url, or take {name} out",
        at=at,
        sets_aside=sets_aside,
    )


class Spec(ApiModel):
    mode: Mode = Mode.ENFORCE
    """Enforce: place the selected pods. Observe: place nothing, and report in status.regret by how much the nodes that
    other schedulers choose for the selected pods, whatever their schedulerName, score below the best."""
    priority: Priority = 0
    """Where several policies select a pod, the highest priority wins; among equals the oldest, then the first by
    name."""
    pod_selector: LabelSelector | None = None
    """Which of the scheduler's pods the policy is for. Absent or empty: all. A pod's annotation plimsoll.dev/policy
    with this policy's name goes before it."""
    namespace_selector: LabelSelector | None = None
    """In which namespaces, by their labels. Absent or empty: all."""
    node_selector: Annotated[dict[str, LabelValue], Field(max_length=64, json_schema_extra=ATOMIC)] | None = None
    """Only nodes with these labels, as a pod's nodeSelector. Absent or empty: all."""
    node_affinity: NodeSelector | None = None
    """Only nodes that match, as a pod's requiredDuringSchedulingIgnoredDuringExecution node affinity."""
    weights: Weights | None = None
    """How much each metric counts, 0..100, relative to each other. Absent: cpu 1 and memory 1. Where weights is given,
    a key that is left out is 0."""
    device_name: DeviceName | None = None
    """The network devices that count: a name or an RE2 expression that matches the whole name. Absent: physical
    devices (eth, en, em, bond, ib), and of a bond only the bond. Needs Prometheus."""
    time_range: Annotated[str, Field(max_length=32), duration("timeRange", low="30s", high="24h")] = "5m"
    """Over how long rates and averages are taken, as a duration in h, m and s, e.g. 5m or 1h30m; 30s..24h. At least
    four times the scrape interval of Prometheus."""
    refresh_interval: Annotated[str, Field(max_length=32), duration("refreshInterval", low="5s", high="1h")] = "30s"
    """How often the source is asked, as a duration in h, m and s; 5s..1h."""
    metrics_source: MetricsSource | None = None
    """Where readings come from: exactly one of prometheus and metricsServer. Absent: metricsServer."""
    metrics: (
        Annotated[
            list[CustomMetric],
            Field(
                max_length=16,
                json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
            ),
        ]
        | None
    ) = None
    """Further metrics by PromQL queries, with one value per node each. Needs Prometheus. One that cannot be read is set
    aside alone; the condition Ready names it."""
    network_capacity: Bytes | None = None
    """Bytes per second of a network device whose link speed is not known, as a quantity, e.g. 1250M for 10 Gbit/s. A
    node's annotation plimsoll.dev/network-capacity goes before it. Absent: 125M."""
    limits: Limits | None = None
    """Percent of capacity that a node may carry after the pod is placed; above it the node is refused. Absent: no
    limit."""
    on_overload: OnOverload = OnOverload.LEAST_LOADED
    """When all nodes that would fit are above limits. LeastLoaded: take the least loaded one, and say so in an event.
    Wait: the pod waits."""
    on_missing: OnMissing = OnMissing.REQUESTS
    """A node without fresh data. Requests: it is judged by what its pods request. Exclude: it is refused."""
    formula: Formula = Formula.CAPACITY
    """Capacity: load over capacity. Relative: 100 - 100 * value / the largest value among the policy's nodes."""
    max_memory: Bytes | None = None
    """Available memory that earns the full memory score, as a quantity, e.g. 64Gi. Absent: that of the node with the
    most. Only with formula Relative."""
    strategy: Strategy = Strategy()
    """Whether pods are spread over nodes or packed onto few."""
    placement: PlacementWeights = PlacementWeights()
    """How the parts of the score weigh against each other, 0..100; a key that is left out keeps its default."""
    in_flight: InFlight = InFlight.COUNT
    """Pods placed so recently that the metrics cannot show them yet. Count: their expected load is added to their node.
    Ignore: it is not."""

    rules: ClassVar = (
        _needs_prometheus(
            asks="self.?weights.?networkReceive.orValue(0) > 0 || self.?weights.?networkTransmit.orValue(0) > 0",
            asked=_weighs_network,
            problem="network weights need Prometheus, since metrics-server knows no network",
            name="networkReceive and networkTransmit",
            at="weights",
            sets_aside=("weights.networkReceive", "weights.networkTransmit"),
        ),
        _needs_prometheus(
            asks="self.?limits.?network.hasValue()",
            asked=_limits_network,
            problem="a network limit needs Prometheus, since metrics-server knows no network",
            name="limits.network",
            at="limits",
            sets_aside=("limits.network",),
        ),
        _needs_prometheus(
            asks="has(self.deviceName)",
            asked=lambda spec: spec.device_name is not None,
            problem="deviceName needs Prometheus, since metrics-server knows no network",
            name="deviceName",
            at="deviceName",
            sets_aside=("deviceName",),
        ),
        _needs_prometheus(
            asks="self.?metrics.orValue([]).size() > 0",
            asked=lambda spec: bool(spec.metrics),
            problem="custom metrics need Prometheus, which answers their queries",
            name="metrics",
            at="metrics",
            sets_aside=("metrics",),
        ),
        Rule(
            cel=(
                "!has(self.weights)"
                " || self.weights.?networkReceive.orValue(0) + self.weights.?networkTransmit.orValue(0)"
                " + self.weights.?memory.orValue(0) + self.weights.?cpu.orValue(0) > 0"
                " || has(self.metrics) && self.metrics.exists(metric, metric.?weight.orValue(0) > 0)"
            ),
            holds=_weighs_something,
            problem="no weight is above 0",
            mend="give one of weights or of metrics a weight of 1 or more, or leave weights out for cpu and memory",
            at="weights",
        ),
        Rule(
            cel="!has(self.maxMemory) || self.formula == 'Relative'",
            holds=lambda spec: spec.max_memory is None or spec.formula is Formula.RELATIVE,
            problem="maxMemory is for formula Relative only",
            mend="set formula to Relative, or take maxMemory out",
            at="maxMemory",
        ),
    )
