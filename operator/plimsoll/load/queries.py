"""What one refresh of a policy asks Prometheus: instant queries for all nodes at once, as values.

Load is asked for over two windows, ``timeRange`` and three times that; the larger mean counts. Rates are
taken before anything is aggregated, and with ``max``: two scrapers of one node are duplicates, not a sum.

How much of a window samples cover is asked of Prometheus itself: ``node_time_seconds`` advances by one second
per second, so ``rate`` of it is the share of the window that ``rate`` of any other counter of the same
target was computed from, extrapolation and all. Idle time is asked for as a share of all the time that the CPUs
counted, so that counters that stand still while the clock goes on answer NaN and not a busy node. True sample
times need a subquery, since a range vector goes on answering with the current time after the exporter has died.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plimsoll.load.confidence import MISSING_AFTER_S
from plimsoll.load.custom_query import averages, filled
from plimsoll.load.promql import by, duration, string
from plimsoll.policy.compiled import (
    CPU,
    MEMORY,
    NETWORK_METRICS,
    NETWORK_RECEIVE,
    NETWORK_TRANSMIT,
    Policy,
    PrometheusSource,
)

# Whatever a series can be named by; see naming.py.
NAMING_LABELS = ("node", "nodename", "kubernetes_node", "instance", "pod", "namespace")
# Physical devices as Linux and its vendors name them; PromQL matches expressions whole, so that eth0.100, veth,
# cni, docker and the other virtual ones stay out.
DEFAULT_DEVICES = "eth[0-9]+|en[opsx][0-9a-z]+|em[0-9]+|bond[0-9]+|ib[0-9]+"

# One or more per pod, by various network plugins; nobody wants to be told of those.
_POD_DEVICES = "lo|(veth|cali|lxc|tap|eni|gke|azv|cni|docker|br-).*"

# Exact to this for an exporter that has died; a living one is exact.
_LAST_SAMPLE_STEP_S = 5.0


class Window(enum.StrEnum):
    """The two windows; the value is how many times ``timeRange`` they are long."""

    SHORT = "short"
    LONG = "long"

    def length_s(self, time_range_s: float) -> float:
        return time_range_s * (3 if self is Window.LONG else 1)


class Ask(enum.StrEnum):
    """What is asked; with a window it makes a query's id."""

    RECEIVE = "receive"
    TRANSMIT = "transmit"
    SPEED = "speed"
    IDLE = "idle"
    AVAILABLE = "available"
    TOTAL = "total"
    CLOCK = "clock"
    LAST_SAMPLE = "lastSample"
    UNAME = "uname"
    INTERVAL = "interval"
    DEVICES = "devices"

    def over(self, window: Window) -> str:
        return f"{self}.{window}"


@dataclass(frozen=True, slots=True)
class Query:
    """One instant query; equal texts to one source need one answer, whatever their ids."""

    id: str
    text: str


def queries(policy: Policy) -> tuple[Query, ...]:
    """Everything that the policy's metrics need and nothing else, in a stable order; empty without metrics."""
    texts = _texts(policy)
    wanted = dict.fromkeys(id_ for metric in policy.metrics for id_ in needed(metric.name, query=metric.query))
    exporter = any(not metric.custom for metric in policy.metrics)
    asked = (*wanted, *((Ask.UNAME,) if wanted else ()), *((Ask.INTERVAL,) if exporter else ()))
    return tuple(Query(id_, texts[id_]) for id_ in asked)


def needed(metric: str, *, query: str | None = None) -> tuple[str, ...]:
    """The ids of the queries without any of which the metric cannot be judged.

    Args:
        query: a custom metric's.
    """
    if (ids := _NEEDED.get(metric)) is not None:
        return ids
    clocks = _windowed(Ask.CLOCK) if averages(query or "") else (Ask.CLOCK.over(Window.LONG),)
    return (Ask.LAST_SAMPLE, *clocks, custom_id(metric))


def counted_id(metric: str) -> str:
    """The id of the query whose answer has each of the metric's series once, those of a young exporter too."""
    return _COUNTED.get(metric) or custom_id(metric)


def follow_up(policy: Policy, answered: Mapping[str, Sequence[object]]) -> tuple[Query, ...]:
    """What is asked once the answers are there: which devices there are, where the policy's are not.

    Args:
        answered: by query id; what failed is absent.
    """
    empty = (answered.get(_COUNTED[m.name]) == () for m in policy.metrics if m.name in NETWORK_METRICS)
    return (Query(Ask.DEVICES, _devices()),) if any(empty) else ()


def custom_id(metric: str) -> str:
    return f"custom.{metric}"


def target_labels(policy: Policy) -> tuple[str, ...]:
    """The labels that every answer keeps; together they say which target a series comes from."""
    own = policy.source.node_label if isinstance(policy.source, PrometheusSource) else None
    return NAMING_LABELS if own is None or own in NAMING_LABELS else (own, *NAMING_LABELS)


def _windowed(*asks: Ask) -> tuple[str, ...]:
    return tuple(ask.over(window) for ask in asks for window in Window)


_NEEDED = {
    NETWORK_RECEIVE: (Ask.LAST_SAMPLE, *_windowed(Ask.CLOCK, Ask.RECEIVE), Ask.SPEED),
    NETWORK_TRANSMIT: (Ask.LAST_SAMPLE, *_windowed(Ask.CLOCK, Ask.TRANSMIT), Ask.SPEED),
    CPU: (Ask.LAST_SAMPLE, *_windowed(Ask.CLOCK, Ask.IDLE)),
    MEMORY: (Ask.LAST_SAMPLE, *_windowed(Ask.AVAILABLE), Ask.TOTAL),
}


_COUNTED = {
    NETWORK_RECEIVE: Ask.RECEIVE.over(Window.LONG),
    NETWORK_TRANSMIT: Ask.TRANSMIT.over(Window.LONG),
    CPU: Ask.IDLE.over(Window.LONG),
    MEMORY: Ask.AVAILABLE.over(Window.LONG),
}


def _texts(policy: Policy) -> dict[str, str]:
    labels = target_labels(policy)
    target, device, kept = by(labels), by((*labels, "device")), duration(MISSING_AFTER_S)
    devices = f"{{device=~{string(policy.device_name or DEFAULT_DEVICES)}}}"
    texts: dict[str, str] = {
        # A dead exporter's node is still to be found, but not under an address that another node has now.
        Ask.UNAME: f"max {target} (node_uname_info or on (instance) last_over_time(node_uname_info[{kept}]))",
        Ask.LAST_SAMPLE: f"max {target} ({_last_sample()})",
        Ask.INTERVAL: f"min {target} ({_interval()})",
        # What load is measured against must not vanish before the load does, when an exporter dies.
        Ask.SPEED: f"max {device} (last_over_time(node_network_speed_bytes{devices}[{kept}]))",
        Ask.TOTAL: f"max {target} (last_over_time(node_memory_MemTotal_bytes[{kept}]))",
    }
    for window in Window:
        length = duration(window.length_s(policy.time_range_s))
        received, sent = (f"node_network_{way}_bytes_total{devices}[{length}]" for way in ("receive", "transmit"))
        texts[Ask.RECEIVE.over(window)] = f"max {device} (rate({received}))"
        texts[Ask.TRANSMIT.over(window)] = f"max {device} (rate({sent}))"
        texts[Ask.IDLE.over(window)] = _idle(labels, length)
        texts[Ask.AVAILABLE.over(window)] = f"min {target} (avg_over_time(node_memory_MemAvailable_bytes[{length}]))"
        texts[Ask.CLOCK.over(window)] = f"max {target} (rate(node_time_seconds[{length}]))"
    return texts | _custom_texts(policy)


def _custom_texts(policy: Policy) -> dict[str, str]:
    devices = policy.device_name or DEFAULT_DEVICES
    return {
        custom_id(metric.name): filled(metric.query, time_range_s=policy.time_range_s, devices=devices)
        for metric in policy.metrics
        if metric.query is not None
    }


def _last_sample() -> str:
    """``timestamp`` alone is absent as soon as the series is stale; the subquery still knows a dead exporter's."""
    subquery = f"[{duration(MISSING_AFTER_S)}:{duration(_LAST_SAMPLE_STEP_S)}]"
    return f"timestamp(node_time_seconds) or max_over_time(timestamp(node_time_seconds){subquery})"


def _interval() -> str:
    """Seconds between two samples: from the first to the last by their own clock, over how many steps there were.

    Over a time of its own, so that policies of one source ask it once, and that scrapes rarer than a window show.
    """
    clock = f"node_time_seconds[{duration(MISSING_AFTER_S)}]"
    return f"(max_over_time({clock}) - min_over_time({clock})) / (count_over_time({clock}) - 1)"


def _devices() -> str:
    return f"group by (device) (node_network_receive_bytes_total{{device!~{string(_POD_DEVICES)}}})"


def _idle(labels: tuple[str, ...], length: str) -> str:
    """The share of their time that the CPUs had no work. Steal is lost capacity, so that it does not count as idle.

    Summed over the CPUs before it is divided: one that is offline, whose counters node-exporter before 1.6 repeats, has
    no part in it then, where the mean of shares would be NaN. By ``+`` a node of which nothing but idle time is kept
    has no answer, instead of none of its time being busy.
    """
    counted = f"max {by((*labels, 'cpu', 'mode'))} (rate(node_cpu_seconds_total{{mode%s}}[{length}]))"
    idle, busy = (f"sum {by(labels)} ({counted % modes})" for modes in ('=~"idle|iowait"', '!~"idle|iowait"'))
    return f"{idle} / ({idle} + {busy})"
