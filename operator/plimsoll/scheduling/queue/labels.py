"""What brought a pod into its place, by kube-scheduler's names where it has the same thing."""

from __future__ import annotations

from plimsoll.cluster.changes import ChangeKind

ADDED, UPDATED = "UnscheduledPodAdd", "UnscheduledPodUpdate"
FAILED, BACKOFF_COMPLETE, POPPED_EARLY = "ScheduleAttemptFailure", "BackoffComplete", "PopFromBackoffQ"
TIMEOUT, FORCED = "UnschedulableTimeout", "ForceActivate"
RESELECTED = "PolicyReselect"

_LABELS = {
    ChangeKind.NODE_ADDED: "NodeAdd",
    ChangeKind.NODE_DELETED: "NodeDelete",
    ChangeKind.NODE_LABELS: "NodeUpdateNodeLabel",
    ChangeKind.NODE_TAINTS: "NodeUpdateNodeTaint",
    ChangeKind.NODE_SCHEDULABLE: "NodeUpdateNodeTaint",
    ChangeKind.NODE_ALLOCATABLE: "NodeUpdateNodeAllocatable",
    ChangeKind.NODE_FEATURES: "NodeUpdateNodeDeclaredFeature",
    ChangeKind.POD_ADDED: "AssignedPodAdd",
    ChangeKind.POD_DELETED: "AssignedPodDelete",
    ChangeKind.POD_SHRUNK: "AssignedPodUpdatePodScaleDown",
    ChangeKind.POD_LABELS: "AssignedPodUpdatePodLabel",
}


def event_label(kind: ChangeKind) -> str:
    """Of several things at once the first; others by their own names, in camel case."""
    first = next(iter(kind))
    return _LABELS.get(first) or "".join(part.capitalize() for part in (first.name or "").split("_"))
