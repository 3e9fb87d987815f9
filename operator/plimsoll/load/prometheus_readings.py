"""From Prometheus' answers to Readings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.resources import CPU as CPU_RESOURCE
from plimsoll.load.custom_readings import CustomAnswers
from plimsoll.load.exporter_clocks import ExporterClocks
from plimsoll.load.measured import MeasuredNodes, by_node, readings_of, utilisation_of
from plimsoll.load.network import busiest
from plimsoll.load.oddities import OddityLog
from plimsoll.load.preflight import Preflight
from plimsoll.load.preflight_prometheus import with_preflight
from plimsoll.load.queries import Ask
from plimsoll.load.readings import Floats, MetricReadings, Readings
from plimsoll.load.samples import PrometheusAnswers
from plimsoll.load.series import Measurements, Series
from plimsoll.load.verdicts import WHOLE_SOURCE, unanswered, unreadable
from plimsoll.policy.compiled import CPU, MEMORY, NETWORK_RECEIVE, NETWORK_TRANSMIT, Policy

_NETWORK = {NETWORK_RECEIVE: Ask.RECEIVE, NETWORK_TRANSMIT: Ask.TRANSMIT}

# From what was measured, device by device, to one load per node.
_ByNode = Callable[[Measurements, Floats, OddityLog], MeasuredNodes]
_Judged = tuple[_ByNode, Measurements]


def readings_from_prometheus(
    *,
    policy: Policy,
    nodes: Iterable[NodeInfo],
    pods: Mapping[str, str],
    answers: PrometheusAnswers,
    readings_id: int,
    before: Preflight | None = None,
) -> Readings:
    """One refresh: every metric of the policy is judged by itself, and what cannot be judged is missing.

    Args:
        nodes: every node that is known, in the order that the arrays shall have.
        pods: node by ``namespace/name`` of a pod, for exporters that are not on the host's network.
        readings_id: unique within the process.
        before: what the policy's last refresh said of it.
    """
    known = {node.name: node for node in nodes}
    log, failures = OddityLog(), dict[str, str]()
    metrics: dict[str, MetricReadings] = {}
    if WHOLE_SOURCE in answers.failures:
        failures[WHOLE_SOURCE] = answers.failures[WHOLE_SOURCE]
    else:
        series = Series(policy=policy, nodes=known.values(), pods=pods, answers=answers, log=log)
        metrics, failures = _judge_all(_Refresh(policy, known, series, log), answers)
    readings = Readings(
        id=readings_id,
        taken_at_s=answers.asked_at_s,
        nodes=tuple(known),
        metrics=metrics,
        failures=failures,
        oddities=log.result(),
    )
    if WHOLE_SOURCE in failures:
        return readings
    return with_preflight(readings, policy=policy, nodes=known, series=series, answers=answers, before=before)


@dataclass(frozen=True, slots=True)
class _Refresh:
    policy: Policy
    nodes: Mapping[str, NodeInfo]
    series: Series
    log: OddityLog

    def judge(self, metric: str) -> _Judged:
        if metric in _NETWORK:
            return self._network(metric)
        return self._cpu() if metric == CPU else self._memory()

    def _network(self, metric: str) -> _Judged:
        found = self.series.of_counters(metric, _NETWORK[metric], lambda _node, rate: rate)
        vectors, nodes = self.series.vectors, tuple(self.nodes.values())
        speeds_bytes_s = self.series.greatest(Ask.SPEED).at(found.node * len(vectors.devices) + found.device)
        devices = [vectors.devices[device] for device in found.device.tolist()]

        def of_nodes(measurements: Measurements, value: Floats, log: OddityLog) -> MeasuredNodes:
            return busiest(
                measurements.node,
                devices,
                value,
                measurements.sampled_at_s,
                nodes=nodes,
                speeds_bytes_s=speeds_bytes_s,
                default_devices=self.policy.device_name is None,
                policy_capacity_bytes_s=self.policy.network_capacity_bytes_s,
                log=log,
            )

        return of_nodes, found

    def _cpu(self) -> _Judged:
        cores = np.array([node.capacity.get(CPU_RESOURCE, 0) for node in self.nodes.values()]) / 1000
        return _against(cores), self.series.of_ratios(CPU, Ask.IDLE, lambda node, idle: (1.0 - idle) * cores[node])

    def _memory(self) -> _Judged:
        nodes = np.arange(len(self.nodes))
        total = self.series.greatest(Ask.TOTAL).at(self.series.vectors.thing(nodes, 0))
        found = self.series.of_gauges(MEMORY, Ask.AVAILABLE, lambda node, available: total[node] - available)
        return _against(total), found


def _judge_all(refresh: _Refresh, answers: PrometheusAnswers) -> tuple[dict[str, MetricReadings], dict[str, str]]:
    metrics, failures = dict[str, MetricReadings](), dict[str, str]()
    clocks = ExporterClocks.of(refresh.series, asked_at_s=answers.asked_at_s)
    custom = CustomAnswers(refresh.policy, refresh.nodes, refresh.series, answers, refresh.log, clocks)
    for metric in refresh.policy.metrics:
        if problem := unanswered(metric.name, policy=refresh.policy, answers=answers):
            failures[metric.name] = problem
            continue
        judged, found = custom.read(metric) if metric.custom else _built_in(metric.name, refresh, answers)
        if refresh.nodes and not judged.state.any():
            failures[metric.name] = unreadable(metric.name, found, policy=refresh.policy, answers=answers)
        else:
            metrics[metric.name] = judged
    return metrics, failures


def _built_in(metric: str, refresh: _Refresh, answers: PrometheusAnswers) -> tuple[MetricReadings, Measurements]:
    of_nodes, found = refresh.judge(metric)
    time_range_s, measured = refresh.policy.time_range_s, of_nodes(found, found.value, refresh.log)
    # What is odd about them has been noted already.
    means = {window: of_nodes(found, value, OddityLog()) for window, value in found.windows.items()}
    judged = readings_of(
        *measured,
        window_s=time_range_s,
        now_s=answers.asked_at_s,
        refresh_interval_s=refresh.policy.refresh_interval_s,
        windows={w.length_s(time_range_s): utilisation_of(mean.value, mean.capacity) for w, mean in means.items()},
    )
    return judged, found


def _against(capacity: Floats) -> _ByNode:
    """Args:
    capacity: [N].
    """

    def of_nodes(found: Measurements, value: Floats, _log: OddityLog) -> MeasuredNodes:
        measured, sampled_at_s = (by_node(len(capacity), found.node, column) for column in (value, found.sampled_at_s))
        return MeasuredNodes(measured, np.where(np.isnan(measured), np.nan, capacity), sampled_at_s)

    return of_nodes
