"""What happens in the shell, counted: the hooks of the other modules, tied to the metrics."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from prometheus_client import Counter, Histogram

from plimsoll.kube.reflector import Reflector
from plimsoll.load.readings import Readings, ReadingState
from plimsoll.load.verdicts import WHOLE_SOURCE
from plimsoll.policy.compiled import Policy
from plimsoll.reporting.policy_conditions import TRUE, ready
from plimsoll.scheduling.overview import PolicyOverview
from plimsoll.scheduling.regret import Regret
from plimsoll.scheduling.scheduler import Scheduler
from plimsoll.telemetry import Telemetry

_HEARTBEAT_S = 0.1
_LOOK_S = 0.01
_STATES = {ReadingState.OK: "fresh", ReadingState.STALE: "stale", ReadingState.MISSING: "missing"}


class Counts:
    """Hooks that count."""

    def __init__(self, telemetry: Telemetry) -> None:
        self._telemetry = telemetry
        # Looking a series up by its labels costs more than counting.
        self._requests: dict[tuple[str, str, int], Counter] = {}
        self._durations: dict[tuple[str, str], Histogram] = {}
        self._written: dict[str, Counter] = {}

    def request(self, verb: str, resource: str, code: int, duration_s: float | None) -> None:
        requests = self._requests.get((verb, resource, code))
        if requests is None:
            requests = self._telemetry.api_requests.labels(verb=verb, resource=resource, code=str(code))
            self._requests[verb, resource, code] = requests
        requests.inc()
        if duration_s is not None:
            self._duration(verb, resource).observe(duration_s)

    def _duration(self, verb: str, resource: str) -> Histogram:
        found = self._durations.get((verb, resource))
        if found is None:
            found = self._telemetry.api_request_duration.labels(verb=verb, resource=resource)
            self._durations[verb, resource] = found
        return found

    def event_written(self, reason: str) -> None:
        written = self._written.get(reason)
        if written is None:
            written = self._written[reason] = self._telemetry.events_written.labels(reason=reason)
        written.inc()

    def event_dropped(self, cause: str) -> None:
        self._telemetry.events_dropped.labels(cause=cause).inc()

    def watch_restarted(self, resource: str, reason: str) -> None:
        self._telemetry.watch_restarts.labels(resource=resource, reason=reason).inc()

    def relisted(self, resource: str) -> None:
        self._telemetry.relists.labels(resource=resource).inc()

    def status_write(self, result: str) -> None:
        self._telemetry.status_writes.labels(result=result).inc()

    def refresh_failed(self, name: str) -> None:
        self._telemetry.refresh_failures.labels(policy=name).inc()

    def forgotten(self, name: str) -> None:
        self._telemetry.forget_policy(name)

    def source_query(self, policy: str, duration_s: float) -> None:
        self._telemetry.load_query_duration.labels(policy=policy).observe(duration_s)

    def observed(self, regret: Regret) -> None:
        self._telemetry.observed_pods.labels(policy=regret.policy, refused=str(regret.refused).lower()).inc()
        self._telemetry.placement_regret.labels(policy=regret.policy).observe(regret.points)

    def looked_at_pods(self, source: str, result: str) -> None:
        self._telemetry.pod_use_looks.labels(source=source, result=result).inc()

    def refreshed(self, policy: Policy, overview: PolicyOverview) -> None:
        metrics = self._telemetry
        metrics.policy_ready.labels(policy=policy.name).set(ready(overview).status == TRUE)
        counts = overview.states
        for state, label in _STATES.items():
            metrics.load_nodes.labels(policy=policy.name, state=label).set(counts[state])
        if overview.readings:
            self._read(policy.name, overview.readings)

    def _read(self, policy: str, readings: Readings) -> None:
        metrics = self._telemetry
        metrics.load_source_up.labels(policy=policy).set(WHOLE_SOURCE not in readings.failures)
        for kind, count in readings.oddities.counts.items():
            metrics.load_series_unusable.labels(policy=policy, kind=kind).inc(count)
        for name, metric in readings.metrics.items():
            sampled_at_s = metric.sampled_at_s[metric.state == ReadingState.OK]
            if len(sampled_at_s):
                age_s = max(time.time() - float(sampled_at_s.min()), 0.0)
                metrics.load_sample_age.labels(policy=policy, metric=name).set(age_s)


def show_state(telemetry: Telemetry, *, scheduler: Scheduler, reflectors: list[Reflector], leading: bool) -> None:
    """The gauges, as of now; called before each scrape."""
    for queue, count in scheduler.pending_counts().items():
        telemetry.pending_pods.labels(queue=queue).set(count)
    for (queue, event), count in scheduler.take_incoming().items():
        telemetry.queue_incoming_pods.labels(queue=queue, event=event).inc(count)
    telemetry.unschedulable_pods.clear()
    for plugin, count in scheduler.rejected_counts().items():
        telemetry.unschedulable_pods.labels(plugin=plugin).set(count)
    for reflector in reflectors:
        in_sync = reflector.has_synced and not reflector.broken_for_s()
        telemetry.caches_synced.labels(resource=reflector.name).set(in_sync)
        telemetry.cache_size.labels(type=reflector.name).set(len(reflector))
    telemetry.leader.set(leading)


async def watch_holds(telemetry: Telemetry, *, ready: Callable[[], bool]) -> None:
    """Until cancelled: the CPU time between two turns, from ``ready`` on; the time between two looks is in it."""
    longest_s = 0.0
    while True:
        # What the start did last is not to be counted: it was through by the end of a turn.
        counts, began_s = ready(), time.thread_time()
        await asyncio.sleep(_LOOK_S)
        held_s = time.thread_time() - began_s
        if counts and held_s > longest_s:
            longest_s = held_s
            telemetry.loop_longest_hold.set(longest_s)


async def watch_stalls(telemetry: Telemetry) -> None:
    """Until cancelled: how late the loop is, ten times a second."""
    loop = asyncio.get_running_loop()
    while True:
        due_s = loop.time() + _HEARTBEAT_S
        await asyncio.sleep(_HEARTBEAT_S)
        telemetry.loop_stall.observe(max(loop.time() - due_s, 0.0))
