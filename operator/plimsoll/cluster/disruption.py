"""What a pod's JSON says about preemption: of a pending pod where it is nominated, of others whether it gives way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

Json = Mapping[str, Any]

DISRUPTION_TARGET = "DisruptionTarget"
PREEMPTION_BY_SCHEDULER = "PreemptionByScheduler"


class Disruption(NamedTuple):
    """Why a pod is being disrupted, in the words of whoever does it."""

    reason: str
    message: str


def disruption(pod: Json) -> Disruption | None:
    """What the pod's condition DisruptionTarget says; None where that is not True."""
    for condition in (pod.get("status") or {}).get("conditions") or ():
        if condition.get("type") == DISRUPTION_TARGET:
            said = Disruption(condition.get("reason") or "", condition.get("message") or "")
            return said if condition.get("status") == "True" else None
    return None


def giving_way(pod: Json) -> bool:
    """Whether the pod is terminating because a scheduler preempted it (``podTerminatingByPreemption``)."""
    if not (pod.get("metadata") or {}).get("deletionTimestamp"):
        return False
    said = disruption(pod)
    return said is not None and said.reason == PREEMPTION_BY_SCHEDULER


def nominated_node(pod: Json) -> str:
    """Empty also for a pod that has a node: it waits for none."""
    if (pod.get("spec") or {}).get("nodeName"):
        return ""
    return str((pod.get("status") or {}).get("nominatedNodeName") or "")
