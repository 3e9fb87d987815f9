"""Every metric that Plimsoll exports, with its help and the reason for its buckets.

Names are ``plimsoll_`` and kube-scheduler's own suffixes wherever it has the same thing, so that its
dashboards and alerts carry over by renaming. No label ever holds a pod, a workload or a node: the number of
series must not grow with the cluster. ``python -m plimsoll.telemetry`` prints the reference, docs/metrics.md.
"""

from __future__ import annotations

import math
import platform
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.process_collector import ProcessCollector

from plimsoll import __version__

# kube-scheduler's pod_scheduling_sli_duration_seconds lumps what took longer.
_MANY_ATTEMPTS = 15

_Metric = TypeVar("_Metric", bound=MetricWrapperBase)


@dataclass(frozen=True, slots=True)
class Definition:
    """What the reference says about one metric."""

    name: str
    kind: str
    help: str
    labels: tuple[str, ...]
    buckets: str = ""


class Telemetry:
    """All metrics, in a registry of their own; one instance per process (tests make many)."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        # A `_created` series beside each counter and histogram would be sent at every scrape, for nobody.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = registry or CollectorRegistry()
        self.definitions: list[Definition] = []
        self._by_policy: list[MetricWrapperBase] = []
        ProcessCollector(registry=self.registry)
        self._define_scheduling()
        self._define_queue()
        self._define_load()
        self._define_cluster_access()
        self._define_process()

    def forget_policy(self, policy: str) -> None:
        """Drop the series of a policy that is gone: its last values would be exported for ever."""
        for metric in self._by_policy:
            metric.remove_by_labels({"policy": policy})

    def _define_scheduling(self) -> None:
        self.schedule_attempts = self._counter(
            "schedule_attempts_total",
            "Attempts to place a pod, by result (scheduled, unschedulable, error) and policy (empty: built-in"
            " default).",
            "result",
            "policy",
        )
        self.scheduling_attempt_duration = self._histogram(
            "scheduling_attempt_duration_seconds",
            "Duration of an attempt: the decision and, where there was one, the Binding's round trip.",
            "result",
            "policy",
            buckets=_doubling(0.001, 15),
            why="kube-scheduler's own: 1 ms to 16 s, so that its dashboards carry over.",
        )
        self.scheduling_algorithm_duration = self._histogram(
            "scheduling_algorithm_duration_seconds",
            "Duration of the decision alone, without any I/O.",
            buckets=(0.0001, 0.00025, 0.0005, *_doubling(0.001, 15)),
            why="kube-scheduler's own, and three below 1 ms: hundreds of pods per second leave no more.",
        )
        self.scheduling_decision_cpu = self._histogram(
            "scheduling_decision_cpu_seconds",
            "CPU time of the decision alone, by result (scheduled, nominated, unschedulable, error): what else runs on"
            " the machine does not count.",
            "result",
            buckets=_growing(20e-6, by=1.25, until=1.0),
            why="20 us to 1 s, each a quarter above the last, so that the 99th percentile can be read from them.",
        )
        self.pod_scheduling_sli_duration = self._histogram(
            "pod_scheduling_sli_duration_seconds",
            "From a pod's entry into the queue to its Binding, over all attempts; by their number, 1 to 15+.",
            "attempts",
            buckets=_doubling(0.01, 20),
            why="kube-scheduler's own: 10 ms to 87 min, since a pod may wait for a node to be added.",
        )
        self.pod_scheduling_attempts = self._histogram(
            "pod_scheduling_attempts",
            "Attempts that a pod needed until it was bound.",
            buckets=_doubling(1, 5),
            why="kube-scheduler's own: 1 to 16; more is a pod that waits for the cluster to change.",
        )
        self.preemption_attempts = self._counter(
            "preemption_attempts_total",
            "Pods that fitted nowhere and for which others were asked to give way, whether that helped or not.",
        )
        self.preemption_victims = self._histogram(
            "preemption_victims",
            "Pods that had to give way, by preemption.",
            buckets=_doubling(1, 7),
            why="kube-scheduler's own: 1 to 64.",
        )
        self.overloaded_placements = self._counter(
            "overloaded_placements_total",
            "Pods placed above the policy's limits since every fit node was above them (LeastLoaded).",
            "policy",
        )

        self.observed_pods = self._counter(
            "observed_pods_total",
            "Pods of other schedulers that a policy with mode Observe judged; refused is true where it would not"
            " have let the pod to the node that was chosen.",
            "policy",
            "refused",
        )
        self.placement_regret = self._histogram(
            "placement_regret_points",
            "By how many points of score the node that another scheduler chose is behind the best, by a policy with"
            " mode Observe.",
            "policy",
            buckets=(0, 1, 2, 5, 10, 15, 20, 30, 50, 100),
            why="0 is the best node, up to 1 one as good; from there as far as points go.",
        )

    def _define_queue(self) -> None:
        self.pending_pods = self._gauge(
            "pending_pods",
            "Pods that wait, by queue: active (will be tried next), backoff, unschedulable, gated.",
            "queue",
        )
        self.queue_incoming_pods = self._counter(
            "queue_incoming_pods_total",
            "Pods that came into a queue, by queue and by the event that brought them, by kube-scheduler's names"
            " where it has the same.",
            "queue",
            "event",
        )
        self.unschedulable_pods = self._gauge(
            "unschedulable_pods",
            "Waiting pods that a filter refused nodes to in their last attempt, by plugin. Autoscalers do not"
            " know the policy's own filters, and add no nodes for what only these refuse.",
            "plugin",
        )
        self.preparing_pods = self._gauge(
            "preparing_pods",
            "Pods with a node whose volumes and resource claims are being prepared; they are not bound before.",
        )
        self.cache_size = self._gauge(
            "cache_size",
            "Objects in the scheduler's cache, by type: nodes, namespaces, pods (assigned ones, by whomever).",
            "type",
        )

    def _define_load(self) -> None:
        self.policy_ready = self._gauge(
            "policy_ready",
            "1 where the policy's condition Ready is True, else 0.",
            "policy",
        )
        self.load_source_up = self._gauge(
            "load_source_up",
            "1 where the policy's metrics source answered the last refresh, else 0.",
            "policy",
        )
        self.load_sample_age = self._gauge(
            "load_sample_age_seconds",
            "Age of the oldest sample among the policy's fresh nodes at the last refresh.",
            "policy",
            "metric",
        )
        self.load_nodes = self._gauge(
            "load_nodes",
            "Nodes that the policy selects, by the state of their readings: fresh, stale, missing.",
            "policy",
            "state",
        )
        self.load_query_duration = self._histogram(
            "load_query_duration_seconds",
            "Duration of one query to a metrics source, failures included.",
            "policy",
            buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0),
            why="5 ms is an instant query over a few nodes; queries are given up after 10 s by default.",
        )
        self.load_fallback = self._counter(
            "load_fallback_total",
            "Decisions made without the policy's metrics, by reason.",
            "policy",
            "reason",
        )
        self.refresh_failures = self._counter(
            "refresh_failures_total",
            "Refreshes of a policy that broke off by a mistake of the scheduler's; its log has the traceback.",
            "policy",
        )
        self.load_series_unusable = self._counter(
            "load_series_unusable_total",
            "Series of a source's answers that could not be used, by kind: NotFinite, Negative, Duplicate,"
            " Unmapped, Ambiguous, Partial, Old, Capacity.",
            "policy",
            "kind",
        )

        self.pod_use_looks = self._counter(
            "pod_use_looks_total",
            "Looks at what pods use, from which estimates are learned, by kind of source and result: answered, empty"
            " (the source has nothing of the pods that are known), failed. Policies are in force without them.",
            "source",
            "result",
        )

    def _define_cluster_access(self) -> None:
        self.api_requests = self._counter(
            "api_requests_total",
            "Requests to the API server, by verb, resource and status code (0: no answer).",
            "verb",
            "resource",
            "code",
        )
        self.api_request_duration = self._histogram(
            "api_request_duration_seconds",
            "Duration of requests to the API server other than watches.",
            "verb",
            "resource",
            buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0),
            why="From an idle API server's answer to ten times its objective of 1 s for single objects.",
        )
        self.watch_restarts = self._counter(
            "watch_restarts_total",
            "Watches that ended and were started anew, by resource and reason.",
            "resource",
            "reason",
        )
        self.relists = self._counter(
            "relists_total",
            "Full LISTs after the first one (the watch had expired), by resource.",
            "resource",
        )
        self.caches_synced = self._gauge(
            "caches_synced",
            "1 where the cache of this resource has been listed and is kept up by a watch, else 0.",
            "resource",
        )
        self.events_written = self._counter(
            "events_written_total",
            "Events written to the API server, new ones and repetitions, by reason.",
            "reason",
        )
        self.events_dropped = self._counter(
            "events_dropped_total",
            "Events given up, by cause: backlog (it was full), refused and unanswered (by the API server), not leading "
            "(another does), stopped (not written when the process ended).",
            "cause",
        )
        self.events_waiting = self._gauge(
            "events_waiting",
            "Events that were not sent yet, or that the API server could not take: Bindings and conditions go first."
            " Beyond 50,000 new ones are given up.",
        )
        self.events_lag = self._gauge(
            "events_lag_seconds",
            "For how long the next of the Events that wait has waited; 0 where none does.",
        )
        self.status_writes = self._counter(
            "status_writes_total",
            "Statuses of SchedulingPolicies, by result: written, skipped (no change beyond noise), failed.",
            "result",
        )

    def _define_process(self) -> None:
        self.leader = self._gauge("leader", "1 in the process that holds the Lease and binds pods, 0 in standbys.")
        self.build_info = self._gauge("build_info", "Always 1; what runs, in its labels.", "version", "python")
        self.build_info.labels(version=__version__, python=platform.python_version()).set(1)
        self.loop_longest_hold = self._gauge(
            "loop_longest_hold_cpu_seconds",
            "The longest CPU time that the event loop spent between two of its turns, since the start was through.",
        )
        self.loop_stall = self._histogram(
            "loop_stall_seconds",
            "How late the event loop's heartbeat was: the time that one step held everything else up.",
            buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0),
            why="No step may take longer than 100 ms: narrow below it, and above it they show by how much.",
        )

    def _counter(self, name: str, help_text: str, *labels: str) -> Counter:
        metric = Counter(f"plimsoll_{name}", help_text, labels, registry=self.registry)
        return self._kept(metric, Definition(f"plimsoll_{name}", "counter", help_text, labels))

    def _gauge(self, name: str, help_text: str, *labels: str) -> Gauge:
        metric = Gauge(f"plimsoll_{name}", help_text, labels, registry=self.registry)
        return self._kept(metric, Definition(f"plimsoll_{name}", "gauge", help_text, labels))

    def _histogram(self, name: str, help_text: str, *labels: str, buckets: Sequence[float], why: str) -> Histogram:
        metric = Histogram(f"plimsoll_{name}", help_text, labels, buckets=buckets, registry=self.registry)
        explained = f"{_numbers(buckets)}. {why}"
        return self._kept(metric, Definition(f"plimsoll_{name}", "histogram", help_text, labels, explained))

    def _kept(self, metric: _Metric, definition: Definition) -> _Metric:
        self.definitions.append(definition)
        if "policy" in definition.labels:
            self._by_policy.append(metric)
        return metric


def attempts_label(attempts: int) -> str:
    """The label ``attempts`` as kube-scheduler writes it: bounded, whatever a pod went through."""
    return f"{_MANY_ATTEMPTS}+" if attempts >= _MANY_ATTEMPTS else str(attempts)


def reference() -> str:
    """docs/metrics.md, from the definitions."""
    return "\n".join((*_PREAMBLE, *_entries(Telemetry().definitions)))


_PREAMBLE = (
    "# Metrics",
    "",
    "<!-- Generated by `python -m plimsoll.telemetry`; a test compares. -->",
    "",
    "`GET /metrics` serves these in the Prometheus text format. Where kube-scheduler exports the same thing,",
    "the name is its own with `plimsoll_` for `scheduler_`, and `policy` takes the place of `profile`. No",
    "label holds a pod or a node. Besides these there are the usual `process_*` metrics (CPU, memory, files).",
    "",
)


def _entries(definitions: Iterable[Definition]) -> Iterable[str]:
    for definition in definitions:
        labels = ", ".join(f"`{label}`" for label in definition.labels) or "none"
        yield from (f"## `{definition.name}`", "", definition.help, "")
        yield f"- Type: {definition.kind}"
        yield f"- Labels: {labels}"
        if definition.buckets:
            yield f"- Buckets: {definition.buckets}"
        yield ""


def _doubling(start: float, count: int) -> tuple[float, ...]:
    """Kubernetes' ``ExponentialBuckets(start, 2, count)``."""
    return tuple(start * 2**step for step in range(count))


def _growing(start: float, *, by: float, until: float) -> tuple[float, ...]:
    """Three significant digits each, so that they can be read."""
    steps = math.ceil(math.log(until / start, by))
    return tuple(float(f"{start * by**step:.3g}") for step in range(steps + 1))


def _numbers(buckets: Sequence[float]) -> str:
    return ", ".join(f"{bound:.12g}" for bound in buckets)


if __name__ == "__main__":
    sys.stdout.write(reference())
