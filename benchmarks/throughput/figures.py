"""What the tables show of a run, and in which words."""

from __future__ import annotations

from typing import NamedTuple


class Figure(NamedTuple):
    """Attributes:
    key: in a run's figures.
    matters: one that the comparison is about; its ratios are taken pair by pair.
    """

    key: str
    label: str
    digits: int = 0
    matters: bool = False


THROUGHPUT = Figure("pods_per_s_10_90", "pods bound per second, from 10 % to 90 %", 0, matters=True)
FROM_START = Figure("pods_per_s_from_start", "pods bound per second, from the start to the last bind", 0, matters=True)
CPU = Figure("cpu_ms_per_pod", "CPU per pod, ms, to the end of the run", 2, matters=True)
MEMORY = Figure("peak_rss_mib", "peak resident memory, MiB", 0, matters=True)
FIRST_BIND = Figure("first_bind_s", "first bind after the start, s", 2, matters=True)
LAST_BIND = Figure("last_bind_s", "last bind after the start, s", 2, matters=True)
WAIT_P50 = Figure("wait_p50_ms", "from creation to bind, p50, ms", 1, matters=True)
WAIT_P99 = Figure("wait_p99_ms", "from creation to bind, p99, ms", 1, matters=True)

BOUND = Figure("bound", "pods bound")
# What Plimsoll counts as its own work is less than what a clock sees; kube-scheduler has a clock alone.
_DECIDES = "Plimsoll: CPU of its thread, kube-scheduler: wall time"

FIGURES = (
    BOUND,
    THROUGHPUT,
    Figure("pods_per_s", "pods bound per second, first to last", 0, matters=True),
    FROM_START,
    Figure("created_per_s", "pods created per second"),
    WAIT_P50,
    WAIT_P99,
    Figure("wait_max_ms", "from creation to bind, longest, ms", 1),
    FIRST_BIND,
    LAST_BIND,
    CPU,
    Figure("cpu_ms_per_pod_first_to_last", "CPU per pod, ms, first to last bind", 2, matters=True),
    MEMORY,
    Figure("rss_mib", "resident memory at the end, MiB"),
    Figure("decision_p50_ms", f"decision, p50, ms ({_DECIDES})", 2),
    Figure("decision_p99_ms", f"decision, p99, ms ({_DECIDES})", 2),
    Figure("decision_refused_p99_ms", f"decision that no node is fit, preemption tried, p99, ms ({_DECIDES})", 2),
    Figure("loop_longest_hold_cpu_ms", "longest callback of the loop, ms of CPU"),
    Figure("loop_stall_above_ms", "longest stall of the loop, more than, ms"),
    Figure("nodes_with_metrics", "nodes with fresh metrics"),
    Figure("decisions_without_metrics", "decisions without the policy's metrics"),
    Figure("events_written", "Events written"),
    Figure("events_dropped", "Events dropped"),
    Figure("last_event_after_last_bind_s", "last Event after the last bind, s", 2),
    Figure("event_lag_max_s", "Events behind binds, at most, s", 2),
    Figure("observer_restarts", "observer: watches that the API server ended"),
    Figure("apiserver_cpu_ms_per_pod", "API server: CPU per pod, ms", 2),
    Figure("apiserver_peak_rss_mib", "API server: peak resident memory, MiB"),
    Figure("etcd_cpu_ms_per_pod", "etcd: CPU per pod, ms", 2),
    Figure("etcd_peak_rss_mib", "etcd: peak resident memory, MiB"),
    Figure("requests_per_pod", "requests per pod, all but watches", 2),
)
