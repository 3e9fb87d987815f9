"""A custom metric's answer, one value per node, as readings on the metric's scale."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.selectors import selects_node
from plimsoll.load.custom_query import averages
from plimsoll.load.custom_scale import Scale, scale_of
from plimsoll.load.exporter_clocks import ExporterClocks
from plimsoll.load.measured import Measured, metric_readings
from plimsoll.load.oddities import Oddity, OddityLog, series_text
from plimsoll.load.queries import custom_id
from plimsoll.load.readings import MetricReadings, ReadingState, WindowMean
from plimsoll.load.samples import PrometheusAnswers, Sample
from plimsoll.load.series import Measurement, Measurements, Series
from plimsoll.load.windows import state
from plimsoll.policy.compiled import Goal, Metric, Policy

# Sums and shares of greater numbers would overflow.
_LARGEST = 1e100


@dataclass(frozen=True, slots=True)
class CustomAnswers:
    """What one refresh answered to the custom metrics of a policy.

    Attributes:
        nodes: by name, in the order of the arrays.
        log: where series that cannot be used are noted.
    """

    policy: Policy
    nodes: Mapping[str, NodeInfo]
    series: Series
    answers: PrometheusAnswers
    log: OddityLog

    def read(self, metric: Metric) -> tuple[MetricReadings, Measurements]:
        found = self._measurements(metric)
        scale = scale_of(metric, np.array([m.value for m in found.used if self._selected(m.node)]))
        return self._on_scale(metric, scale, found), found

    def _selected(self, name: str) -> bool:
        """Only the policy's own nodes say what much and little are."""
        policy, node = self.policy, self.nodes[name]
        return selects_node(policy.node_selector, policy.node_affinity, labels=node.labels, name=name)

    def _on_scale(self, metric: Metric, scale: Scale, found: Measurements) -> MetricReadings:
        window_s = self.policy.time_range_s if averages(metric.query or "") else 0.0
        readings = metric_readings(
            tuple(self.nodes),
            {m.node: Measured(scale.distance(m.value), scale.span, m.sampled_at_s) for m in found.used},
            window_s=window_s,
            now_s=self.answers.asked_at_s,
            refresh_interval_s=self.policy.refresh_interval_s,
        )
        by_node = {m.node: m.value for m in found.used}
        value = np.array([by_node.get(name, np.nan) for name in self.nodes], dtype=np.float64)
        value[readings.state == ReadingState.MISSING] = np.nan
        return replace(readings, value=value, scale=scale, windows=(WindowMean(window_s, readings.utilisation),))

    def _measurements(self, metric: Metric) -> Measurements:
        samples = self.answers.answers.get(custom_id(metric.name), ())
        refused, averaged = Counter[Oddity](), averages(metric.query or "")
        clocks = ExporterClocks.of(self.series, self.answers)
        by_node: dict[str, list[Measurement]] = {}
        for sample in samples:
            judged = self._judge(sample, clocks, averaged=averaged)
            if isinstance(judged, Oddity):
                refused[judged] += 1
                self.log.note(judged, series_text(metric.name, sample.labels))
            else:
                by_node.setdefault(judged.node, []).append(judged)
        used = tuple(self._settled(metric, several) for several in by_node.values())
        return Measurements(used=used, series=len(samples), refused=refused)

    def _judge(self, sample: Sample, clocks: ExporterClocks, *, averaged: bool) -> Measurement | Oddity:
        nodes = self.series.nodes(sample)
        if len(nodes) != 1:
            return Oddity.AMBIGUOUS if nodes else Oddity.UNMAPPED
        if not abs(sample.value) <= _LARGEST:
            return Oddity.NOT_FINITE
        (node,) = nodes
        sampled_at_s = clocks.sampled_at_s(node, sample)
        if sampled_at_s is None:
            return Oddity.OLD
        # What the query does with its window nobody knows, so that a part of one cannot be put right.
        if averaged and not clocks.cover(node, sample):
            return Oddity.PARTIAL
        return Measurement(node, "", sample.value, sampled_at_s)

    def _settled(self, metric: Metric, several: list[Measurement]) -> Measurement:
        """Of several values for one node the freshest count, and of those the worst."""
        states = [self._state(m) for m in several]
        fresh = [m for m, found in zip(several, states, strict=True) if found == max(states)]
        if len(fresh) > 1:
            self.log.note(Oddity.DUPLICATE, series_text(metric.name, {"node": several[0].node}))
        worst = max if metric.goal is Goal.MINIMIZE else min
        return worst(fresh, key=lambda m: (m.value, m.sampled_at_s))

    def _state(self, measurement: Measurement) -> ReadingState:
        age_s = self.answers.asked_at_s - measurement.sampled_at_s
        return state(age_s, refresh_interval_s=self.policy.refresh_interval_s)
