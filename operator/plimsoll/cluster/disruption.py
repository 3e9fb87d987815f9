"""What a pod's JSON says about preemption: of a pending pod where it is nominated, of others whether it gives way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Json = Mapping[str, Any]

DISRUPTION_TARGET = "DisruptionTarget"
PREEMPTION_BY_SCHEDULER = "PreemptionByScheduler"


def giving_way(pod: Json) -> bool:
    """Whether the pod is terminating because a scheduler preempted it (``podTerminatingByPreemption``)."""
    if not (pod.get("metadata") or {}).get("deletionTimestamp"):
        return False
    for condition in (pod.get("status") or {}).get("conditions") or ():
        if condition.get("type") == DISRUPTION_TARGET:
            return (condition.get("status"), condition.get("reason")) == ("True", PREEMPTION_BY_SCHEDULER)
    return False


def nominated_node(pod: Json) -> str:
    """Empty also for a pod that has a node: it waits for none."""
    if (pod.get("spec") or {}).get("nodeName"):
        return ""
    return str((pod.get("status") or {}).get("nominatedNodeName") or "")
