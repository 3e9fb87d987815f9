"""The conditions of a SchedulingPolicy, each with a reason for programs and a sentence that says what to do.

Ready: what the spec asks for can be done: every field is valid, and every metric's query was answered.
MetricsAvailable: enough nodes have fresh readings for the metrics to count.
NotYetEnforced: fields that are accepted and have no effect in this version; only where there are any.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plimsoll.cluster.times import timestamp
from plimsoll.errors import PolicyError
from plimsoll.load.readings import ReadingState
from plimsoll.load.verdicts import WHOLE_SOURCE
from plimsoll.policy.compiled import OnMissing, Policy
from plimsoll.reporting.text import cut, listed
from plimsoll.scheduling.overview import PolicyOverview

Json = dict[str, Any]

READY, METRICS_AVAILABLE, NOT_YET_ENFORCED = "Ready", "MetricsAvailable", "NotYetEnforced"
TRUE, FALSE, UNKNOWN = "True", "False", "Unknown"
# metav1.Condition allows 32768; a list of failures longer than this helps nobody.
_MESSAGE_MAX_BYTES = 4096

# What a field that has no effect yet means for the reader, by the last part of its path that is listed here.
_NOT_YET = {
    "auth": "this Prometheus is not asked, and pods are placed without metrics",
    "tls": "this Prometheus is not asked, and pods are placed without metrics",
}


_WITHOUT_METRICS = "requests, spreading and the history of workloads"


@dataclass(frozen=True, slots=True)
class Condition:
    type: str
    status: str
    reason: str
    message: str

    def to_json(self, *, generation: int, previous: Json | None, now_s: float) -> Json:
        """metav1.Condition; the transition time is the previous one unless the status flipped."""
        kept = (previous or {}).get("lastTransitionTime") if _status_of(previous) == self.status else None
        return {
            "type": self.type,
            "status": self.status,
            "reason": self.reason,
            "message": cut(self.message, max_bytes=_MESSAGE_MAX_BYTES),
            "observedGeneration": generation,
            "lastTransitionTime": kept or timestamp(now_s),
        }


def conditions(overview: PolicyOverview) -> tuple[Condition, ...]:
    """All that apply, in a fixed order."""
    found = (ready(overview), metrics_available(overview))
    if paths := overview.policy.not_yet_enforced:
        return (*found, Condition(NOT_YET_ENFORCED, TRUE, "NoEffectYet", not_yet_enforced(paths)))
    return found


def ready(overview: PolicyOverview) -> Condition:
    policy, readings = overview.policy, overview.readings
    if policy.problems:
        named = " ".join(_problem(p.field, p.problem, p.mend) for p in policy.problems)
        return Condition(READY, FALSE, "Invalid", f"{named} Until then the rest of the policy is in force.")
    failures = readings.failures if readings else {}
    if WHOLE_SOURCE in failures:
        return Condition(READY, FALSE, "SourceUnreachable", _unreachable(failures))
    if failures:
        rest = _instead(policy) if _all_failed(policy, failures) else "The other metrics count."
        return Condition(READY, FALSE, "QueryFailed", f"{_named(failures)} {rest}")
    if policy.not_yet_enforced:
        return Condition(READY, TRUE, NOT_YET_ENFORCED, not_yet_enforced(policy.not_yet_enforced))
    if readings is None and policy.metrics:
        return Condition(READY, UNKNOWN, "NotAskedYet", "The metrics source has not been asked yet.")
    return Condition(READY, TRUE, "InForce", _in_force(policy))


def metrics_available(overview: PolicyOverview) -> Condition:
    """The most general trouble first: without an answer there is nothing to count."""
    policy, readings = overview.policy, overview.readings
    if not policy.metrics:
        return _available(TRUE, "NotNeeded", "The policy weighs no metrics.")
    if policy.source is None:
        return _without_source(policy)
    if readings is None:
        return _available(UNKNOWN, "NotAskedYet", "The metrics source has not been asked yet.")
    if WHOLE_SOURCE in readings.failures:
        return _available(FALSE, "SourceUnreachable", _unreachable(readings.failures))
    if _all_failed(policy, readings.failures):
        return _available(FALSE, "QueryFailed", f"{_named(readings.failures)} {_instead(policy)}")
    return _by_nodes(overview)


def invalid(error: PolicyError) -> tuple[Condition, Condition]:
    """Of an object that does not parse at all."""
    message = _problem(error.field, error.problem, error.mend)
    message += " Until then its pods are placed by the built-in default policy, without metrics."
    why = "The policy is invalid, so its metrics are not asked for."
    return Condition(READY, FALSE, "Invalid", message), _available(UNKNOWN, "Invalid", why)


def not_yet_enforced(paths: tuple[str, ...]) -> str:
    """One sentence per path: what is accepted, and what happens instead."""
    return " ".join(f"{path} is accepted but not enforced yet: {_meaning(path)}." for path in paths)


def condition_status(status: Mapping[str, Any] | None, kind: str) -> str | None:
    """True, False or Unknown, of a condition in a policy's status; None where it is not there."""
    found = (c for c in (status or {}).get("conditions") or () if c.get("type") == kind)
    return next((c.get("status") for c in found), None)


def _without_source(policy: Policy) -> Condition:
    paths = tuple(path for path in policy.not_yet_enforced if path.startswith("spec.metricsSource"))
    if paths:
        return _available(FALSE, NOT_YET_ENFORCED, not_yet_enforced(paths))
    return _available(FALSE, "Invalid", f"spec.metricsSource is invalid, see Ready. {_instead(policy)}")


def _by_nodes(overview: PolicyOverview) -> Condition:
    total, fresh = len(overview.nodes), overview.states[ReadingState.OK]
    if total == 0:
        why = "No node matches spec.nodeSelector and spec.nodeAffinity; label nodes, or select others."
        return _available(UNKNOWN, "NoNodes", why)
    if overview.load_set_aside:
        message = f"{_sentence(overview.load_set_aside)} {_instead(overview.policy)}{_unmapped(overview)}"
        return _available(FALSE, "TooFewNodes", message)
    if fresh == 0:
        message = f"None of {total} nodes has fresh readings. {_instead(overview.policy)}{_unmapped(overview)}"
        return _available(FALSE, "TooFewNodes", message)
    if overview.metrics_aside:
        message = f"{_named(overview.metrics_aside)} Until more have, the other metrics alone count."
        return _available(TRUE, "SomeMetricsSetAside", f"{message}{_unmapped(overview)}")
    if fresh == total:
        return _available(TRUE, "AllNodesFresh", f"All {total} nodes have fresh readings.")
    others = _others(overview.policy.on_missing)
    return _available(
        TRUE, "SomeNodesFresh", f"{fresh} of {total} nodes have fresh readings; {others}{_unmapped(overview)}"
    )


def _others(on_missing: OnMissing) -> str:
    if on_missing is OnMissing.EXCLUDE:
        return "the others take no pods (spec.onMissing: Exclude)."
    return "the others are judged by requests."


def _unreachable(failures: Mapping[str, str]) -> str:
    why = _sentence(failures[WHOLE_SOURCE])
    return f"{why} Until it answers, ageing readings lose their weight to {_WITHOUT_METRICS}."


def _instead(policy: Policy) -> str:
    also = " Limits are suspended." if policy.limits else ""
    done = "placed" if policy.enforced else "judged"
    by = _WITHOUT_METRICS if policy.pack_target is None else "requests"
    return f"Until readings come back pods are {done} by {by}.{also}"


def _in_force(policy: Policy) -> str:
    if policy.enforced:
        return "The policy is in force."
    return "The policy is in force: it observes, and places nothing."


def _unmapped(overview: PolicyOverview) -> str:
    """The usual reason for nodes without readings, with what to do about it."""
    oddities = overview.readings.oddities if overview.readings else None
    if oddities is None or not oddities.counts.get("Unmapped"):
        return ""
    example = oddities.examples.get("Unmapped", "")
    told = f", e.g. {example}" if example else ""
    return (
        f" {oddities.counts['Unmapped']} series belong to no known node{told}: give them a label that"
        " holds the node's name, and set spec.metricsSource.prometheus.nodeLabel to it."
    )


def _all_failed(policy: Policy, failures: Mapping[str, str]) -> bool:
    return all(metric.name in failures for metric in policy.metrics)


def _named(failures: Mapping[str, str]) -> str:
    """``networkReceive, memory: <sentence>`` each, the same sentence once."""
    by_sentence: dict[str, list[str]] = {}
    for metric, sentence in sorted(failures.items()):
        by_sentence.setdefault(sentence, []).append(metric)
    return " ".join(f"{listed(metrics)}: {_sentence(text)}" for text, metrics in by_sentence.items())


def _meaning(path: str) -> str:
    """The path may end in a value or an item's name: ``spec.mode: Observe``, ``spec.some[item]``."""
    keys = re.findall(r"\w+", re.split(r"[\[ :]", path, maxsplit=1)[0])
    return next((_NOT_YET[key] for key in reversed(keys) if key in _NOT_YET), "it has no effect")


def _problem(field: str, problem: str, mend: str) -> str:
    return f"{field}: {problem}: {_sentence(mend)}"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _available(status: str, reason: str, message: str) -> Condition:
    return Condition(METRICS_AVAILABLE, status, reason, message)


def _status_of(condition: Json | None) -> str | None:
    return condition.get("status") if condition else None
