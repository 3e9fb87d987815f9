"""Why a metric could not be read on any node, as a sentence that says what to do."""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.load.oddities import Oddity
from plimsoll.load.queries import Ask, needed
from plimsoll.load.samples import PrometheusAnswers
from plimsoll.load.series import Measurements
from plimsoll.policy.compiled import CPU, MEMORY, NETWORK_METRICS, NETWORK_RECEIVE, NETWORK_TRANSMIT, Policy

WHOLE_SOURCE = ""

_SERIES = {
    NETWORK_RECEIVE: "node_network_receive_bytes_total",
    NETWORK_TRANSMIT: "node_network_transmit_bytes_total",
    CPU: "node_cpu_seconds_total",
    MEMORY: "node_memory_MemAvailable_bytes",
}
_ALSO_NEEDED: Mapping[str, tuple[str, str]] = {
    Ask.LAST_SAMPLE: ("node_time_seconds", "let node-exporter run with its time collector"),
    Ask.TOTAL: ("node_memory_MemTotal_bytes", "let node-exporter run with its meminfo collector"),
}
_MENDS = {
    Oddity.UNMAPPED: "name no node of this cluster: give them a label that holds the node's name, and set"
    " spec.metricsSource.prometheus.nodeLabel to it.",
    Oddity.AMBIGUOUS: "could be of more than one node: give them a label that holds the node's name, and set"
    " spec.metricsSource.prometheus.nodeLabel to it.",
    Oddity.NOT_FINITE: "are no finite numbers: look at what the exporters report.",
    Oddity.NEGATIVE: "are negative: look at what the exporters report.",
    Oddity.OLD: "have no sample within ten minutes: are the exporters still scraped, and do the clocks agree?",
    Oddity.PARTIAL: "have too few samples yet: wait for half a minute of scrapes, or scrape more often.",
}


def unanswered(metric: str, answers: PrometheusAnswers) -> str:
    """The sentence of the first query that failed among those that the metric needs; "" where none did."""
    return next((answers.failures[id_] for id_ in needed(metric) if id_ in answers.failures), "")


def unreadable(metric: str, measurements: Measurements, *, policy: Policy, answers: PrometheusAnswers) -> str:
    """Why no series of the metric could be used."""
    if not measurements.series:
        return _no_series(metric, policy)
    for id_ in needed(metric):
        if id_ in _ALSO_NEEDED and not answers.answers.get(id_):
            name, mend = _ALSO_NEEDED[id_]
            return f"Prometheus has no series of {name}: {mend}."
    refused = measurements.refused
    kind = max(refused, key=lambda reason: (refused[reason], reason.value), default=Oddity.OLD)
    which = "most of them" if len(refused) > 1 else "they"
    return f"None of the series of {_SERIES[metric]} can be used: {which} {_MENDS[kind]}"


def _no_series(metric: str, policy: Policy) -> str:
    what, also = _SERIES[metric], ""
    if metric in NETWORK_METRICS:
        device = policy.device_name
        what += f" for device {device}" if device else " for a physical device"
        also = f", and is spec.deviceName {'right' if device else 'to be set'}?"
    return f"Prometheus has no series of {what}: is node-exporter scraped{also or '?'}"
