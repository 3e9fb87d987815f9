"""What is asked of Prometheus to learn what pods use: cAdvisor's series, as the kubelet serves them.

A pod has a series per container, one for its own cgroup (``container=""``), which is the sum of them, and some for
the pause container (``POD`` under CRI-O): only containers are counted. Network is the pod's: cAdvisor reads it where
the pause container runs, by interface (``networkStatsFromProc``, which leaves out lo, veth and docker).

``max`` comes before any sum: two scrapers of one kubelet are duplicates, and so are the same container under two
cgroup paths, as nested nodes show it. A container that was restarted within the window is counted by the larger part.
"""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.load.promql import duration, string
from plimsoll.load.queries import Query
from plimsoll.policy.compiled import CPU, MEMORY, NETWORK_RECEIVE, NETWORK_TRANSMIT

# A longer window would cost Prometheus much, of every container in the cluster, and tell little more of a workload.
LONGEST_WINDOW_S = 900.0
# The interface that runtimes give to every pod, and those that Multus adds. Tunnels within the pod would count twice.
_INTERFACES = "eth[0-9]+|net[0-9]+"
# A container whose samples have ended goes on being answered, at a rate that falls until its window is empty.
_ENDED_AFTER_S = 60.0

_COUNTERS = {
    NETWORK_RECEIVE: "container_network_receive_bytes_total",
    NETWORK_TRANSMIT: "container_network_transmit_bytes_total",
}
_CONTAINERS = '{pod!="", container!="", container!="POD"}'


def window_s(time_range_s: float) -> float:
    """Over how long rates of pods are taken, by the policy's ``timeRange``."""
    return min(time_range_s, LONGEST_WINDOW_S)


def pod_queries(metrics: Iterable[str], *, window_s: float) -> tuple[Query, ...]:
    """One query per metric, its id the metric's name, with one value per ``namespace`` and ``pod``.

    Metrics of which cAdvisor knows nothing are left out.
    """
    texts = _texts(window_s)
    return tuple(Query(metric, texts[metric]) for metric in metrics if metric in texts)


def _texts(window_s: float) -> dict[str, str]:
    cpu, memory = (f"container_{what}{_CONTAINERS}" for what in ("cpu_usage_seconds_total", "memory_working_set_bytes"))
    texts = {
        # By cpu too, as cAdvisor can be told to count each by itself.
        CPU: _summed(_rate(cpu, window_s), "container, cpu"),
        MEMORY: _summed(_current(memory, memory, window_s), "container"),
    }
    for metric, counter in _COUNTERS.items():
        series = f'{counter}{{pod!="", interface=~{string(_INTERFACES)}}}'
        texts[metric] = _summed(_rate(series, window_s), "interface")
    return texts


def _summed(vector: str, part: str) -> str:
    return f"sum by (namespace, pod) (max by (namespace, pod, {part}) ({vector}))"


def _rate(series: str, window_s: float) -> str:
    return _current(f"rate({series}[{duration(window_s)}])", series, window_s)


def _current(vector: str, series: str, window_s: float) -> str:
    """The kubelet's samples have times of their own, so that Prometheus does not mark them as ended."""
    ended_after_s = max(_ENDED_AFTER_S, window_s / 4)
    return f"{vector} and (time() - timestamp({series}) < {ended_after_s:g})"
