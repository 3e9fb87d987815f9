"""From Prometheus' answers to Readings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.resources import CPU as CPU_RESOURCE
from plimsoll.load.measured import Measured, metric_readings
from plimsoll.load.network import busiest
from plimsoll.load.oddities import OddityLog
from plimsoll.load.queries import Ask
from plimsoll.load.readings import MetricReadings, Readings
from plimsoll.load.samples import PrometheusAnswers
from plimsoll.load.series import Measurements, Series
from plimsoll.load.verdicts import WHOLE_SOURCE, unanswered, unreadable
from plimsoll.policy.compiled import CPU, MEMORY, NETWORK_RECEIVE, NETWORK_TRANSMIT, Policy

# Idle time is counted in ticks, so that an idle CPU can seem to have idled longer than the clock ran.
_CPU_NOISE = 0.05
_NETWORK = {NETWORK_RECEIVE: Ask.RECEIVE, NETWORK_TRANSMIT: Ask.TRANSMIT}

_Judged = tuple[Mapping[str, Measured], Measurements]


def readings_from_prometheus(
    *,
    policy: Policy,
    nodes: Iterable[NodeInfo],
    pods: Mapping[str, str],
    answers: PrometheusAnswers,
    readings_id: int,
) -> Readings:
    """One refresh: every metric of the policy is judged by itself, and what cannot be judged is missing.

    Args:
        nodes: every node that is known, in the order that the arrays shall have.
        pods: node by ``namespace/name`` of a pod, for exporters that are not on the host's network.
        readings_id: unique within the process.
    """
    known = {node.name: node for node in nodes}
    log, failures = OddityLog(), dict[str, str]()
    metrics: dict[str, MetricReadings] = {}
    if WHOLE_SOURCE in answers.failures:
        failures[WHOLE_SOURCE] = answers.failures[WHOLE_SOURCE]
    else:
        series = Series(policy=policy, nodes=known.values(), pods=pods, answers=answers, log=log)
        metrics, failures = _judge_all(_Refresh(policy, known, series, log), answers)
    return Readings(
        id=readings_id,
        taken_at_s=answers.asked_at_s,
        nodes=tuple(known),
        metrics=metrics,
        failures=failures,
        oddities=log.result(),
    )


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
        measured = busiest(
            found.used,
            nodes=self.nodes,
            speeds_bytes_s=self.series.greatest(Ask.SPEED),
            default_devices=self.policy.device_name is None,
            policy_capacity_bytes_s=self.policy.network_capacity_bytes_s,
            log=self.log,
        )
        return measured, found

    def _cpu(self) -> _Judged:
        found = self.series.of_counters(CPU, Ask.IDLE, lambda node, idle: _busy(idle) * self._cores(node))
        return {m.node: Measured(m.value, self._cores(m.node), m.sampled_at_s) for m in found.used}, found

    def _memory(self) -> _Judged:
        total = self.series.greatest(Ask.TOTAL)

        def used(node: str, available: float) -> float:
            return total.get((node, ""), float("nan")) - available

        found = self.series.of_gauges(MEMORY, Ask.AVAILABLE, used)
        return {m.node: Measured(m.value, total[m.node, ""], m.sampled_at_s) for m in found.used}, found

    def _cores(self, node: str) -> float:
        return self.nodes[node].capacity.get(CPU_RESOURCE, 0) / 1000


def _judge_all(refresh: _Refresh, answers: PrometheusAnswers) -> tuple[dict[str, MetricReadings], dict[str, str]]:
    metrics, failures = dict[str, MetricReadings](), dict[str, str]()
    policy = refresh.policy
    for metric in (metric.name for metric in policy.metrics):
        if problem := unanswered(metric, answers):
            failures[metric] = problem
            continue
        measured, found = refresh.judge(metric)
        judged = metric_readings(
            tuple(refresh.nodes),
            measured,
            window_s=policy.time_range_s,
            now_s=answers.asked_at_s,
            refresh_interval_s=policy.refresh_interval_s,
        )
        if refresh.nodes and not judged.state.any():
            failures[metric] = unreadable(metric, found, policy=policy, answers=answers)
        else:
            metrics[metric] = judged
    return metrics, failures


def _busy(idle: float) -> float:
    """The busy share of the CPUs; below 0 by more than noise it stays negative, and is refused for it."""
    busy = 1.0 - idle
    return 0.0 if -_CPU_NOISE <= busy < 0 else busy
