"""Events as values: built by pure functions, written by the shell's recorder."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.times import timestamp_micro
from plimsoll.policy.compiled import Policy
from plimsoll.reporting.policy_conditions import (
    FALSE,
    METRICS_AVAILABLE,
    TRUE,
    condition_status,
    metrics_available,
)
from plimsoll.reporting.text import cut
from plimsoll.scheduling.overview import PolicyOverview

Json = dict[str, Any]

API_VERSION = "events.k8s.io/v1"
# The API server's limits (pkg/apis/core/validation/events.go); it refuses an Event above them.
NOTE_MAX_BYTES = 1024
_INSTANCE_MAX_BYTES = 128
_NAME_MAX = 253
_DNS_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_NANOSECONDS = 1_000_000_000

NORMAL, WARNING = "Normal", "Warning"


@dataclass(frozen=True, slots=True)
class ObjectReference:
    """The object that an event is about; ``namespace`` is empty for cluster-scoped ones."""

    api_version: str
    kind: str
    name: str
    uid: str
    namespace: str = ""

    def to_json(self) -> Json:
        found = {
            "apiVersion": self.api_version,
            "kind": self.kind,
            "namespace": self.namespace,
            "name": self.name,
            "uid": self.uid,
        }
        return {key: value for key, value in found.items() if value}


@dataclass(frozen=True, slots=True)
class Event:
    """One thing to tell, without time and count: equal events are one series.

    Attributes:
        type: Normal or Warning.
        reason: machine-readable, UpperCamelCase.
        action: what was being done.
        note: the sentence, at most NOTE_MAX_BYTES of UTF-8.
        reporting_controller: the scheduler's name.
        related: another object that has to do with it; None where there is none.
    """

    regarding: ObjectReference
    type: str
    reason: str
    action: str
    note: str
    reporting_controller: str
    related: ObjectReference | None = None

    @property
    def namespace(self) -> str:
        """Where the Event object lives; for cluster-scoped objects the API server wants ``default``."""
        return self.regarding.namespace or "default"


def scheduled(pod: PodInfo, *, node: str, controller: str) -> Event:
    note = f"Successfully assigned {pod.key} to {node}"
    return _event(of_pod(pod), NORMAL, why=("Scheduled", "Binding"), note=note, controller=controller)


def failed_scheduling(pod: PodInfo, *, message: str, controller: str) -> Event:
    """``message`` is that of ``fit_message``, or of ``failed_bind_message``."""
    return _event(of_pod(pod), WARNING, why=("FailedScheduling", "Scheduling"), note=message, controller=controller)


def preempted(victim: PodInfo, *, by: PodInfo, node: str, in_memory: bool, controller: str) -> Event:
    """``in_memory``: the victim was not bound yet, and goes back to the queue instead of being deleted."""
    note = f"Preempted by pod {by.uid} on node {node}" + (" (in kube-scheduler memory)." if in_memory else "")
    event = _event(of_pod(victim), NORMAL, why=("Preempted", "Preempting"), note=note, controller=controller)
    return replace(event, related=of_pod(by))


def metrics_event(overview: PolicyOverview, *, previous: Mapping[str, Any] | None, controller: str) -> Event | None:
    """What to tell where the condition MetricsAvailable flips; None where it does not.

    ``previous`` is the policy's status as last written, so that a restart tells nothing twice.
    """
    before = condition_status(previous, METRICS_AVAILABLE)
    now, regarding = metrics_available(overview), of_policy(overview.policy)
    if now.status == FALSE != before:
        why = ("MetricsSetAside", "Refreshing")
        return _event(regarding, WARNING, why=why, note=now.message, controller=controller)
    if now.status == TRUE and before == FALSE:
        why = ("MetricsInForce", "Refreshing")
        return _event(regarding, NORMAL, why=why, note=f"Metrics count again. {now.message}", controller=controller)
    return None


def above_limits(policy: Policy, *, controller: str) -> Event:
    """Every fit node was above the limits and ``onOverload: LeastLoaded`` took one nevertheless.

    Neither pod nor node is named: a burst of pods must stay one series.
    """
    note = (
        "Every node that a pod fits on is above spec.limits; the least loaded was taken nevertheless. "
        "Add nodes, raise spec.limits, or set spec.onOverload to Wait"
    )
    return _event(of_policy(policy), WARNING, why=("AboveLimits", "Scheduling"), note=note, controller=controller)


def of_pod(pod: PodInfo) -> ObjectReference:
    return ObjectReference("v1", "Pod", pod.name, pod.uid, pod.namespace)


def of_policy(policy: Policy) -> ObjectReference:
    return ObjectReference("plimsoll.dev/v1alpha1", "SchedulingPolicy", policy.name, policy.uid)


def to_json(event: Event, *, now_s: float, instance: str) -> Json:
    """The body of ``POST /apis/events.k8s.io/v1/namespaces/<event.namespace>/events``.

    ``instance`` says which process reports, e.g. ``plimsoll-<host name>``.
    """
    return {
        "apiVersion": API_VERSION,
        "kind": "Event",
        "metadata": {"name": event_name(event.regarding, now_s=now_s), "namespace": event.namespace},
        "eventTime": timestamp_micro(now_s),
        "type": event.type,
        "reason": event.reason,
        "action": event.action,
        "note": event.note,
        "regarding": event.regarding.to_json(),
        **({"related": event.related.to_json()} if event.related else {}),
        "reportingController": event.reporting_controller,
        "reportingInstance": cut(instance, max_bytes=_INSTANCE_MAX_BYTES),
    }


def series_json(*, count: int, last_observed_s: float) -> Json:
    """The body of the merge PATCH that says an Event happened again; ``count`` includes the first time."""
    return {"series": {"count": count, "lastObservedTime": timestamp_micro(last_observed_s)}}


def event_name(regarding: ObjectReference, *, now_s: float) -> str:
    """``<name>.<hex>`` as client-go names events; a UUID where that is too long or no name at all."""
    nanoseconds = round(now_s * _NANOSECONDS)
    name = f"{regarding.name}.{nanoseconds:x}"
    if len(name) <= _NAME_MAX and _DNS_SUBDOMAIN.fullmatch(name):
        return name
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{regarding.uid}.{name}"))


def _event(regarding: ObjectReference, kind: str, *, why: tuple[str, str], note: str, controller: str) -> Event:
    reason, action = why
    return Event(regarding, kind, reason, action, cut(note, max_bytes=NOTE_MAX_BYTES), controller)
