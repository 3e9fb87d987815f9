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
from plimsoll.load.measured import by_node, readings_of
from plimsoll.load.oddities import Oddity, OddityLog, series_text
from plimsoll.load.queries import custom_id
from plimsoll.load.readings import Floats, MetricReadings, ReadingState, WindowMean
from plimsoll.load.samples import PrometheusAnswers
from plimsoll.load.series import Measurements, Series
from plimsoll.load.vectors import AMBIGUOUS, UNMAPPED, Ints, best_of_each
from plimsoll.load.windows import states
from plimsoll.policy.compiled import Goal, Metric, Policy

_USED = -1
# Sums and shares of greater numbers would overflow.
_LARGEST = 1e100


@dataclass(frozen=True, slots=True)
class CustomAnswers:
    """What one refresh answered to the custom metrics of a policy.

    Attributes:
        nodes: by name, in the order of the arrays.
        log: where series that cannot be used are noted.
        clocks: of all exporters.
    """

    policy: Policy
    nodes: Mapping[str, NodeInfo]
    series: Series
    answers: PrometheusAnswers
    log: OddityLog
    clocks: ExporterClocks

    def read(self, metric: Metric) -> tuple[MetricReadings, Measurements]:
        found = self._measurements(metric)
        compared = np.array([self._selected(name) for name in self.nodes], dtype=np.bool_)
        scale = scale_of(metric, found.value[compared[found.node]])
        return self._on_scale(metric, scale, found), found

    def _selected(self, name: str) -> bool:
        """Only the policy's own nodes say what much and little are."""
        policy, node = self.policy, self.nodes[name]
        return selects_node(policy.node_selector, policy.node_affinity, labels=node.labels, name=name)

    def _on_scale(self, metric: Metric, scale: Scale, found: Measurements) -> MetricReadings:
        window_s = self.policy.time_range_s if averages(metric.query or "") else 0.0
        value = by_node(len(self.nodes), found.node, found.value)
        sampled_at_s = by_node(len(self.nodes), found.node, found.sampled_at_s)
        readings = readings_of(
            scale.distance(value),
            np.where(np.isnan(value), np.nan, scale.span),
            sampled_at_s,
            window_s=window_s,
            now_s=self.answers.asked_at_s,
            refresh_interval_s=self.policy.refresh_interval_s,
            windows={},
        )
        value[readings.state == ReadingState.MISSING] = np.nan
        return replace(readings, value=value, scale=scale, windows=(WindowMean(window_s, readings.utilisation),))

    def _measurements(self, metric: Metric) -> Measurements:
        vector = self.series.vectors.of(custom_id(metric.name))
        node, sampled_at_s = self.series.vectors.node[vector.target], self.clocks.sampled_at_s(vector)
        wrong = {
            Oddity.UNMAPPED: node == UNMAPPED,
            Oddity.AMBIGUOUS: node == AMBIGUOUS,
            Oddity.NOT_FINITE: ~(np.abs(vector.value) <= _LARGEST),
            Oddity.OLD: np.isnan(sampled_at_s),
        }
        if averages(metric.query or ""):
            # What the query does with its window nobody knows, so that a part of one cannot be put right.
            wrong[Oddity.PARTIAL] = ~self.clocks.cover(vector)
        oddities = list(wrong)
        verdict = np.select(list(wrong.values()), range(len(wrong)), _USED)
        refused = Counter[Oddity]()
        for i in np.flatnonzero(verdict != _USED).tolist():
            refused[oddities[verdict[i]]] += 1
            self.log.note(oddities[verdict[i]], series_text(metric.name, vector.samples[i].labels))
        used = verdict == _USED
        best = self._settled(metric, node[used], vector.value[used], sampled_at_s[used])
        return Measurements(
            node=node[used][best],
            device=np.zeros(len(best), dtype=np.int64),
            value=vector.value[used][best],
            sampled_at_s=sampled_at_s[used][best],
            series=len(vector.samples),
            refused=refused,
        )

    def _settled(self, metric: Metric, node: Ints, value: Floats, sampled_at_s: Floats) -> Ints:
        """Of several values for one node the freshest count, and of those the worst."""
        age_s = self.answers.asked_at_s - sampled_at_s
        state = states(age_s, refresh_interval_s=self.policy.refresh_interval_s)
        sign = 1.0 if metric.goal is Goal.MINIMIZE else -1.0
        best = best_of_each(node, state, sign * value, sign * sampled_at_s)
        fresh = np.bincount(node, state == by_node(len(self.nodes), node[best], state[best])[node])
        names = list(self.nodes)
        for several in np.flatnonzero(fresh > 1).tolist():
            self.log.note(Oddity.DUPLICATE, series_text(metric.name, {"node": names[several]}))
        return best
