"""A refresh of Prometheus seen as a try of the policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from plimsoll.cluster.node import NodeInfo
from plimsoll.load.oddities import Oddity
from plimsoll.load.preflight import Finding, FindingKind, Preflight
from plimsoll.load.preflight_metric import Trial, preflight
from plimsoll.load.preflight_nodes import PolicyNodes, mapped
from plimsoll.load.preflight_scrapes import scrape_interval_s, too_rare
from plimsoll.load.queries import Ask, counted_id
from plimsoll.load.readings import Oddities, Readings
from plimsoll.load.samples import PrometheusAnswers
from plimsoll.load.series import Series
from plimsoll.policy.compiled import Policy

_ODD = (
    (
        Oddity.NOT_FINITE,
        FindingKind.IMPOSSIBLE_VALUES,
        "Some values are no finite numbers (of cpu also where counters stand still)",
        "look at what is reported",
    ),
    (
        Oddity.NEGATIVE,
        FindingKind.IMPOSSIBLE_VALUES,
        "Some values come to less than 0 (of memory: more is available than there is)",
        "look at what is reported",
    ),
    (
        Oddity.CAPACITY,
        FindingKind.CAPACITY_ASSUMED,
        "What some network devices can carry is not known",
        "set spec.networkCapacity in bytes per second, or the annotation plimsoll.dev/network-capacity of the nodes",
    ),
)


def with_preflight(
    readings: Readings,
    *,
    policy: Policy,
    nodes: Mapping[str, NodeInfo],
    series: Series,
    answers: PrometheusAnswers,
    before: Preflight | None,
) -> Readings:
    """The readings, with what the same answers say of the policy.

    Args:
        nodes: by name, in the order of the readings.
        before: of the policy's last refresh.
    """
    selected = PolicyNodes.of(policy, nodes.values(), now_s=answers.asked_at_s)
    exporters = mapped("", series.vectors, Ask.LAST_SAMPLE, readings.nodes).devices.keys()
    trial = Trial(policy, readings, selected, before or Preflight(), exporters)
    metrics = (
        trial.of(metric, mapped(metric.name, series.vectors, counted_id(metric.name), readings.nodes))
        for metric in policy.metrics
    )
    return replace(readings, preflight=preflight(metrics, (*_odd(readings.oddities), *_rare(policy, answers))))


def _odd(oddities: Oddities) -> Iterator[Finding]:
    for oddity, kind, what, mend in _ODD:
        if example := oddities.examples.get(oddity.value):
            yield Finding(kind, f"{what}, e.g. {example}: {mend}.")


def _rare(policy: Policy, answers: PrometheusAnswers) -> Iterator[Finding]:
    intervals_s = (sample.value for sample in answers.answers.get(Ask.INTERVAL, ()))
    if found := too_rare(policy, scrape_interval_s(intervals_s)):
        yield found
