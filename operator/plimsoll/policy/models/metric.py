"""Custom metrics: any PromQL query with one value per node."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from plimsoll.policy.compiled import BUILT_IN_METRICS, Goal
from plimsoll.policy.models.base import ApiModel
from plimsoll.policy.models.values import AS_QUANTITY, IS_QUANTITY, Quantity, Weight, number
from plimsoll.policy.rules import Rule, cel_list, cel_matches, matches

_NAME = r"[a-zA-Z]([-_a-zA-Z0-9]*[a-zA-Z0-9])?"


def _min_below_max(metric: CustomMetric) -> bool:
    low, high = number(metric.min), number(metric.max)
    return low is None or high is None or low < high


def _not_negative(metric: CustomMetric) -> bool:
    value = number(metric.per_pod)
    return value is None or value >= 0


class CustomMetric(ApiModel):
    name: Annotated[
        str,
        Field(min_length=1, max_length=63),
        Rule(
            cel=cel_matches(_NAME),
            holds=lambda name: matches(_NAME, name),
            problem="a metric's name must begin with a letter and end with a letter or digit",
            mend="write letters, digits, dashes and underscores, e.g. disk-busy",
        ),
        Rule(
            cel=f"!(self in {cel_list(BUILT_IN_METRICS)})",
            holds=lambda name: name not in BUILT_IN_METRICS,
            problem="networkReceive, networkTransmit, memory and cpu are built in",
            mend="give the metric another name, or weigh the built-in one in weights",
        ),
    ]
    """What the metric is called in status and explanations."""
    query: Annotated[str, Field(min_length=1, max_length=4096)]
    """An instant query in PromQL that answers one value per node, with a label that tells the node (node, instance or
    others, as for the built-in metrics). $timeRange stands for the policy's timeRange, $deviceName for its deviceName
    as a string, quotes included, e.g. {device=~$deviceName}. Of several values for one node the worst counts."""
    weight: Weight | None = None
    """How much the metric counts, relative to weights. Absent: 0, so that only limit counts. Without both min and max
    it counts half as much."""
    goal: Goal | None = None
    """Minimize: less is better. Maximize: more is better. Absent: Minimize."""
    min: Quantity | None = None
    """The lower end of the scale, as a quantity. With goal Minimize the value of an idle node, and anything below it
    counts as much; with Maximize that of a full one. Absent: estimated from the policy's nodes at each refresh, by
    their 5th percentile."""
    max: Quantity | None = None
    """The upper end of the scale, as a quantity. With goal Minimize the value of a full node; with Maximize that of an
    idle one, and anything above it counts as much. Absent: estimated from the policy's nodes at each refresh, by their
    95th percentile."""
    limit: Quantity | None = None
    """The value beyond which a node is refused, as a quantity: above it with goal Minimize, below it with Maximize. The
    pod and those whose load does not show yet are counted in by perPod."""
    per_pod: Quantity | None = None
    """What one pod adds to the value, or with goal Maximize takes from it, as a quantity; absent: nothing is known of
    it."""

    rules: ClassVar = (
        Rule(
            cel="self.?weight.orValue(0) > 0 || has(self.limit)",
            holds=lambda metric: bool(metric.weight) or metric.limit is not None,
            problem="a metric without weight and limit changes nothing",
            mend="give it a weight of at least 1, or a limit, or take it out",
        ),
        Rule(
            cel=(
                f"!has(self.min) || !has(self.max) || !{IS_QUANTITY.format('self.min')}"
                f" || !{IS_QUANTITY.format('self.max')}"
                f" || {AS_QUANTITY.format('self.min')}.isLessThan({AS_QUANTITY.format('self.max')})"
            ),
            holds=_min_below_max,
            problem="min is not below max",
            mend="swap them, or take one out",
            at="min",
        ),
        Rule(
            cel=(
                f"!has(self.perPod) || !{IS_QUANTITY.format('self.perPod')}"
                f" || {AS_QUANTITY.format('self.perPod')}.compareTo(quantity('0')) >= 0"
            ),
            holds=_not_negative,
            problem="perPod is negative",
            mend="write what one pod adds, 0 or more",
            at="perPod",
        ),
    )
