"""The condition Preflight of a SchedulingPolicy: what a try of its queries found, with what to do about it.

True: every query was answered for every node of the policy, and its values can be right. False names each finding.
"""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.load.preflight import Finding, Preflight, Tried
from plimsoll.load.verdicts import WHOLE_SOURCE
from plimsoll.reporting.policy_conditions import FALSE, TRUE, UNKNOWN, Condition
from plimsoll.reporting.text import listed
from plimsoll.scheduling.overview import PolicyOverview

PREFLIGHT = "Preflight"


def preflight_conditions(overview: PolicyOverview) -> tuple[Condition, ...]:
    """One, or none where there is nothing to be tried."""
    policy, readings = overview.policy, overview.readings
    if not policy.metrics or policy.source is None:
        return ()
    if readings is None:
        return (Condition(PREFLIGHT, UNKNOWN, "NotAskedYet", "The metrics source has not been asked yet."),)
    if WHOLE_SOURCE in readings.failures:
        why = "The metrics source does not answer, see Ready, so that nothing could be tried."
        return (Condition(PREFLIGHT, UNKNOWN, "SourceUnreachable", why),)
    return () if readings.preflight is None else (_tried(readings.preflight),)


def _tried(preflight: Preflight) -> Condition:
    if not preflight.findings:
        return Condition(PREFLIGHT, TRUE, "AllGood", f"{'; '.join(map(_summary, preflight.tried))}.")
    kinds = {finding.kind for finding in preflight.findings}
    reason = min(kinds).value if len(kinds) == 1 else "SeveralFindings"
    return Condition(PREFLIGHT, FALSE, reason, " ".join(_told(preflight.findings)))


def _told(findings: Iterable[Finding]) -> list[str]:
    """``cpu and memory: <sentence>`` each, the same sentence once."""
    metrics_of: dict[str, list[str]] = {}
    for finding in findings:
        metrics_of.setdefault(finding.text, []).extend([finding.metric] if finding.metric else [])
    return [f"{listed(metrics)}: {text}" if metrics else text for text, metrics in metrics_of.items()]


def _summary(tried: Tried) -> str:
    """``networkReceive: 12 series, 12 of 12 nodes, e.g. eth0 of node-1 at about 12 %``."""
    text = f"{tried.metric}: {tried.series} series, {tried.nodes} of {tried.of_nodes} nodes"
    if tried.example:
        text += f", e.g. {tried.example}"
    if tried.unmapped:
        text += f", and {tried.unmapped} name no node of this cluster, e.g. {tried.unmapped_example}"
    return text
