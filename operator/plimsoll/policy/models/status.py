"""What a SchedulingPolicy reports."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from plimsoll.policy.models.base import ApiModel
from plimsoll.policy.models.values import NodeState

Count = Annotated[int, Field(ge=0, json_schema_extra={"format": "int32"})]
Score = Annotated[int, Field(ge=0, le=100, json_schema_extra={"format": "int32"})]
Time = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
NodeName = Annotated[str, Field(max_length=253)]


class Condition(ApiModel):
    type: Annotated[str, Field(max_length=316)]
    """Ready, MetricsAvailable, NotYetEnforced or Preflight."""
    status: Literal["True", "False", "Unknown"]
    """Whether it holds."""
    observed_generation: Annotated[int, Field(ge=0, json_schema_extra={"format": "int64"})] | None = None
    """The generation of the spec that the condition is about."""
    last_transition_time: Time
    """When status last changed."""
    reason: Annotated[str, Field(min_length=1, max_length=1024)]
    """Why, as one word."""
    message: Annotated[str, Field(max_length=32768)]
    """Why, and what to do about it, as a sentence."""


class Nodes(ApiModel):
    total: Count | None = None
    """Nodes that the policy selects."""
    fresh: Count | None = None
    """Nodes with fresh data for all of the policy's metrics."""
    stale: Count | None = None
    """Nodes whose data is old."""
    missing: Count | None = None
    """Nodes without data."""
    summary: Annotated[str, Field(max_length=32)] | None = None
    """fresh/total."""


class UnmappedSeries(ApiModel):
    count: Count | None = None
    """Series of the last refresh that belong to no known node."""
    example: Annotated[str, Field(max_length=1024)] | None = None
    """The labels of one of them."""


class Best(ApiModel):
    node: NodeName | None = None
    """The node's name."""
    score: Score | None = None
    """Its score."""


class WorstRegret(ApiModel):
    pod: Annotated[str, Field(max_length=317)] | None = None
    """namespace/name."""
    node: NodeName | None = None
    """The node that another scheduler chose."""
    best: NodeName | None = None
    """The node that the policy would have chosen."""
    regret: Score | None = None
    """By how many points the one scored below the other."""


class NodeScoreRow(ApiModel):
    node: NodeName
    """The node's name."""
    score: Score | None = None
    """100 is idle, 0 is full; with strategy Pack 100 is at the target, 60 is empty, 30 or less is above the target. Of
    the load alone, before any pod is looked at; absent where no metric is weighed."""
    state: NodeState | None = None
    """Fresh, Stale or Missing: the worst among the policy's metrics on this node."""
    sample_time: Time | None = None
    """When the oldest of the readings was sampled."""
    metrics: (
        Annotated[dict[str, Annotated[int, Field(json_schema_extra={"format": "int32"})]], Field(max_length=32)] | None
    ) = None
    """Percent of capacity by metric, of a custom one percent of its scale; a metric without data is left out."""


class Status(ApiModel):
    observed_generation: Annotated[int, Field(ge=0, json_schema_extra={"format": "int64"})] | None = None
    """The generation of the spec that is in force."""
    conditions: (
        Annotated[
            list[Condition],
            Field(
                max_length=16,
                json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]},
            ),
        ]
        | None
    ) = None
    """Ready: the policy is in force as written. MetricsAvailable: enough nodes have fresh data. NotYetEnforced: fields
    that are accepted and have no effect in this version. Preflight: every query is answered for every node, with values
    that can be right."""
    source: Annotated[str, Field(max_length=64)] | None = None
    """Prometheus or MetricsServer."""
    last_refresh_time: Time | None = None
    """When the source last answered."""
    nodes: Nodes | None = None
    """How many nodes the policy selects, and what is known of them."""
    unmapped_series: UnmappedSeries | None = None
    """Series that belong to no known node."""
    best: Best | None = None
    """The node with the best score."""
    bound: Count | None = None
    """Living pods that this policy placed."""
    pending: Count | None = None
    """Pods that wait and that this policy selects."""
    regret: Score | None = None
    """With mode Observe: by how many points of score, on average, the nodes that other schedulers chose fell short of
    the best; over the pods that observed counts."""
    observed: Count | None = None
    """With mode Observe: pods of other schedulers that were judged, the last 1000 at most; from the start of the
    process that leads, or from when the spec was changed."""
    worst: WorstRegret | None = None
    """With mode Observe: of these pods the one whose node fell short the most."""
    scores: (
        Annotated[
            list[NodeScoreRow],
            Field(max_length=100, json_schema_extra={"x-kubernetes-list-type": "atomic"}),
        ]
        | None
    ) = None
    """The nodes, best first; at most 100."""
