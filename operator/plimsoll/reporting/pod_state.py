"""What a pod itself says about its scheduling, where no decision about it is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.reporting.conditions import read_condition
from plimsoll.reporting.text import listed

Json = Mapping[str, Any]


def pod_state(pod: Json, *, scheduler_name: str) -> str:
    """One sentence, from the pod's spec and its PodScheduled condition."""
    metadata, spec = pod.get("metadata") or {}, pod.get("spec") or {}
    name = f"{metadata.get('namespace')}/{metadata.get('name')}"
    theirs = spec.get("schedulerName") or "default-scheduler"
    phase = (pod.get("status") or {}).get("phase")
    if node := spec.get("nodeName"):
        return f"{name} is on {node}, and carries no decision of Plimsoll (spec.schedulerName: {theirs})"
    if metadata.get("deletionTimestamp"):
        return f"{name} is being deleted"
    if phase in {"Succeeded", "Failed"}:
        return f"{name} has ended ({phase}) and will not be placed"
    if theirs != scheduler_name:
        return f"{name} names scheduler {theirs}, not {scheduler_name}: Plimsoll leaves it alone; is the name right?"
    if gates := spec.get("schedulingGates"):
        named = listed((str(gate.get("name")) for gate in gates), at_most=10)
        return f"{name} is held back until its scheduling gates are removed: {named}"
    return f"{name} {_waits(pod)}"


def _waits(pod: Json) -> str:
    condition = read_condition(pod)
    if condition is None or not condition.message:
        return "waits, and has not been tried yet: see whether Plimsoll runs and is ready"
    return f"waits ({condition.reason}): {condition.message}"
