"""Why a metric could not be read on any node, as a sentence that says what to do."""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.load.oddities import Oddity
from plimsoll.load.preflight_devices import no_device
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
    Oddity.NOT_FINITE: "are no finite numbers: look at what the exporters report; do their counters stand still?",
    Oddity.NEGATIVE: "are negative: look at what the exporters report.",
    Oddity.OLD: "have no sample within ten minutes: are the exporters still scraped, and do the clocks agree?",
    Oddity.PARTIAL: "have too few samples yet: wait for half a minute of scrapes, or scrape more often.",
}
# A custom query's series lose their names where it aggregates.
_CUSTOM_MENDS = _MENDS | {
    Oddity.UNMAPPED: "name no node of this cluster: keep a label that tells the node, e.g. by (node) or by (instance),"
    " or set spec.metricsSource.prometheus.nodeLabel to the label that holds the node's name.",
    Oddity.AMBIGUOUS: "could be of more than one node: keep a label that tells the node, e.g. by (node), or set"
    " spec.metricsSource.prometheus.nodeLabel to the label that holds the node's name.",
    Oddity.NOT_FINITE: "are no finite numbers: does the query divide by 0?",
    Oddity.PARTIAL: "are means over a part of spec.timeRange only: wait until exporters have been scraped for so long.",
}


def unanswered(metric: str, *, policy: Policy, answers: PrometheusAnswers) -> str:
    """The sentence of the first query that failed among those that the metric needs; "" where none did."""
    query = next((asked.query for asked in policy.metrics if asked.name == metric), None)
    failed = next((id_ for id_ in needed(metric, query=query) if id_ in answers.failures), None)
    if failed is None:
        return ""
    sentence = answers.failures[failed]
    return f"{sentence}{_field(metric, policy, sentence)}" if failed in answers.rejected else sentence


def _field(metric: str, policy: Policy, sentence: str) -> str:
    """Where to mend what Prometheus refuses; what Plimsoll asks of itself is for nobody to mend."""
    if metric not in _SERIES:
        return f" Mend spec.metrics[{metric}].query."
    if metric in NETWORK_METRICS and policy.device_name is not None and "parse error" in sentence:
        return f" Is spec.deviceName {policy.device_name} the regular expression that was meant?"
    return ""


def unreadable(metric: str, measurements: Measurements, *, policy: Policy, answers: PrometheusAnswers) -> str:
    """Why no series of the metric could be used."""
    if metric not in _SERIES:
        return _unreadable_custom(measurements)
    if not measurements.series:
        return _no_series(metric, policy, answers)
    for id_ in needed(metric):
        if id_ in _ALSO_NEEDED and not answers.answers.get(id_):
            name, mend = _ALSO_NEEDED[id_]
            return f"Prometheus has no series of {name}: {mend}."
    return _refused(_SERIES[metric], measurements, _MENDS)


def _refused(what: str, measurements: Measurements, mends: Mapping[Oddity, str]) -> str:
    refused = measurements.refused
    kind = max(refused, key=lambda reason: (refused[reason], reason.value), default=Oddity.OLD)
    which = "most of them" if len(refused) > 1 else "they"
    return f"None of the series of {what} can be used: {which} {mends[kind]}"


def _unreadable_custom(measurements: Measurements) -> str:
    if measurements.series:
        return _refused("the query", measurements, _CUSTOM_MENDS)
    return (
        "Prometheus answers the query with no series: try it in Prometheus; is what it asks for scraped, and do its"
        " label matchers fit?"
    )


def _no_series(metric: str, policy: Policy, answers: PrometheusAnswers) -> str:
    if metric in NETWORK_METRICS:
        return no_device(_SERIES[metric], policy, answers)
    which = " with idle and with busy modes" if metric == CPU else ""
    return f"Prometheus has no series of {_SERIES[metric]}{which}: is node-exporter scraped?"
