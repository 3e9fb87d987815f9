"""Metrics of a try one by one, whichever source answered."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from plimsoll.load.preflight import Finding, FindingKind, Preflight, Tried, about
from plimsoll.load.preflight_nodes import Mapped, PolicyNodes, lacking
from plimsoll.load.preflight_ranges import Values, out_of_range
from plimsoll.load.readings import Readings
from plimsoll.policy.compiled import Metric, Policy


@dataclass(frozen=True, slots=True)
class TriedMetric:
    """Attributes:
    tried: None where the metric could not be read at all.
    beyond: see ``Preflight.beyond``.
    """

    findings: tuple[Finding, ...]
    tried: Tried | None = None
    beyond: AbstractSet[tuple[str, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Trial:
    """One refresh.

    Attributes:
        nodes: the policy's.
        before: of the policy's last refresh; what is found at the edge of a threshold does not come and go.
        exporters: nodes whose node-exporter is known by its clock.
    """

    policy: Policy
    readings: Readings
    nodes: PolicyNodes
    before: Preflight
    exporters: AbstractSet[str] = frozenset()

    def of(self, metric: Metric, found: Mapped) -> TriedMetric:
        if failure := self.readings.failures.get(metric.name):
            example = f" For example {found.unmapped_example}." if found.unmapped else ""
            return TriedMetric((Finding(FindingKind.QUERY_FAILED, f"{failure}{example}", metric.name),))
        expected = self.nodes.expected(found)
        place = {name: i for i, name in enumerate(self.readings.nodes)}
        values = Values.of(self.readings.metrics[metric.name], {name: place[name] for name in expected})
        naming = lacking(metric, found, policy=self.policy, expected=expected, exporters=self.exporters)
        ranges = tuple(out_of_range(metric, values, policy=self.policy, before=self.before.beyond))
        return TriedMetric(
            findings=(*naming, *(finding for finding, _ in ranges)),
            tried=_tried(metric, found, values, expected),
            beyond=frozenset(key for _, keys in ranges for key in keys),
        )


def preflight(metrics: Iterable[TriedMetric], of_source: Iterable[Finding]) -> Preflight:
    """All metrics', and what was found about the source as a whole."""
    found = tuple(metrics)
    return Preflight(
        findings=(*(finding for one in found for finding in one.findings), *of_source),
        tried=tuple(one.tried for one in found if one.tried is not None),
        beyond=frozenset(key for one in found for key in one.beyond),
    )


def _tried(metric: Metric, found: Mapped, values: Values, expected: list[str]) -> Tried:
    return Tried(
        metric=metric.name,
        series=found.series,
        nodes=sum(node in found.devices for node in expected),
        of_nodes=len(expected),
        example=_example(metric, found, values),
        unmapped=found.unmapped,
        unmapped_example=found.unmapped_example,
    )


def _example(metric: Metric, found: Mapped, values: Values) -> str:
    if not values.nodes:
        return ""
    node = values.nodes[0]
    devices = sorted(found.devices.get(node, {""}))
    where = f"{devices[0]} of {node}" if len(devices) == 1 and devices[0] and not metric.custom else node
    value = float(values.value[0])
    return f"{where} at {about(value) if metric.custom else about(100 * float(values.utilisation[0]), ' %')}"
