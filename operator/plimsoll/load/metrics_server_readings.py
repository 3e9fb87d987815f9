"""From metrics-server's answer to Readings."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.resources import CPU as CPU_RESOURCE
from plimsoll.cluster.resources import MEMORY as MEMORY_RESOURCE
from plimsoll.load.confidence import CLOCK_SKEW_S
from plimsoll.load.measured import Measured, metric_readings
from plimsoll.load.oddities import Oddity, OddityLog
from plimsoll.load.preflight_metrics_server import with_preflight
from plimsoll.load.readings import MetricReadings, Readings
from plimsoll.load.samples import MetricsServerAnswers, NodeUsage
from plimsoll.load.verdicts import WHOLE_SOURCE
from plimsoll.policy.compiled import CPU, MEMORY, Policy

_AMOUNTS: Mapping[str, Callable[[NodeUsage], float]] = {
    CPU: lambda usage: usage.cpu_cores,
    MEMORY: lambda usage: usage.mem_bytes,
}
_CAPACITIES: Mapping[str, Callable[[NodeInfo], float]] = {
    CPU: lambda node: node.capacity.get(CPU_RESOURCE, 0) / 1000,
    MEMORY: lambda node: float(node.capacity.get(MEMORY_RESOURCE, 0)),
}


def readings_from_metrics_server(
    *,
    policy: Policy,
    nodes: Iterable[NodeInfo],
    answers: MetricsServerAnswers,
    readings_id: int,
    previous: Readings | None = None,
) -> Readings:
    """One refresh: each node's sample against the machine's capacity.

    Args:
        nodes: every node that is known, in the order that the arrays shall have.
        readings_id: unique within the process.
        previous: of the same policy. Replicas behind one address can answer with an older sample than before,
            and a scrape can miss a node; then the newest sample that there was stays, at its own time.
    """
    known = {node.name: node for node in nodes}
    log, metrics, failures = OddityLog(), dict[str, MetricReadings](), dict[str, str]()
    if answers.failure:
        failures[WHOLE_SOURCE] = answers.failure
    else:
        refresh = _Refresh(policy, known, answers, previous, log)
        metrics = {m.name: refresh.judge(m.name) for m in policy.metrics if m.name in _AMOUNTS}
        failures = {m.name: refresh.trouble(m.name, metrics.get(m.name)) for m in policy.metrics}
    readings = Readings(
        id=readings_id,
        taken_at_s=answers.asked_at_s,
        nodes=tuple(known),
        metrics={name: judged for name, judged in metrics.items() if not failures[name]},
        failures={name: trouble for name, trouble in failures.items() if trouble},
        oddities=log.result(),
    )
    if WHOLE_SOURCE in failures:
        return readings
    before = previous.preflight if previous else None
    return with_preflight(readings, policy=policy, nodes=known, answers=answers, before=before)


@dataclass(frozen=True, slots=True)
class _Refresh:
    policy: Policy
    nodes: Mapping[str, NodeInfo]
    answers: MetricsServerAnswers
    previous: Readings | None
    log: OddityLog

    def judge(self, metric: str) -> MetricReadings:
        amount, capacity = _AMOUNTS[metric], _CAPACITIES[metric]
        measured = {
            usage.node: Measured(amount(usage), capacity(self.nodes[usage.node]), usage.sampled_at_s)
            for usage in self.answers.usages
            if _is_usable(metric, usage, self.nodes, self.log)
        }
        # A clock that is ahead must not make its sample the newest for ever.
        latest_s = self.answers.asked_at_s + CLOCK_SKEW_S
        for node, before in _measured_before(metric, self.previous).items():
            now_s = measured[node].sampled_at_s if node in measured else math.inf
            if before.sampled_at_s <= latest_s and not before.sampled_at_s <= now_s <= latest_s:
                measured[node] = before
        return metric_readings(
            tuple(self.nodes),
            measured,
            window_s=_window_s(metric, self.answers),
            now_s=self.answers.asked_at_s,
            refresh_interval_s=self.policy.refresh_interval_s,
        )

    def trouble(self, metric: str, judged: MetricReadings | None) -> str:
        """Why no node could be read, as a sentence that says what to do; "" where one could."""
        if judged is None:
            return f"metrics-server knows nothing of {metric}: set spec.metricsSource.prometheus, or take it out."
        if not self.nodes:
            return ""
        # First, as what stays from before must not hide that nothing is answered any more.
        if not any(usage.node in self.nodes for usage in self.answers.usages):
            return "metrics-server has no node yet: it needs two scrapes; if it stays so, look at its log."
        if judged.state.any():
            return ""
        return "metrics-server has no usable sample of the last ten minutes: look at its log."


def _is_usable(metric: str, usage: NodeUsage, known: Mapping[str, NodeInfo], log: OddityLog) -> bool:
    amount, series = _AMOUNTS[metric](usage), f"{metric} of node {usage.node}"
    if usage.node not in known:
        log.note(Oddity.UNMAPPED, series)
    elif not math.isfinite(amount) or not math.isfinite(usage.sampled_at_s):
        log.note(Oddity.NOT_FINITE, series)
    elif amount < 0:
        log.note(Oddity.NEGATIVE, series)
    else:
        return True
    return False


def _measured_before(metric: str, previous: Readings | None) -> dict[str, Measured]:
    before = previous.metrics.get(metric) if previous else None
    if previous is None or before is None:
        return {}
    columns = zip(before.value.tolist(), before.capacity.tolist(), before.sampled_at_s.tolist(), strict=True)
    return {node: Measured(*column) for node, column in zip(previous.nodes, columns, strict=True)}


def _window_s(metric: str, answers: MetricsServerAnswers) -> float:
    """The longest of the nodes' windows: until then a pod may not be covered. Memory is an instant value."""
    if metric == MEMORY:
        return 0.0
    return max((u.window_s for u in answers.usages if math.isfinite(u.window_s)), default=0.0)
