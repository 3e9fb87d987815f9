"""The PodScheduled condition of a pod that was not placed: what autoscalers act on.

They add nodes for reason Unschedulable only, so SchedulerError is used where no node would help.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from plimsoll.cluster.times import timestamp
from plimsoll.reporting.fit import fit_message
from plimsoll.scheduling.decision import Decision

POD_SCHEDULED = "PodScheduled"
SCHEDULER_ERROR = "SchedulerError"


@dataclass(frozen=True, slots=True)
class PodCondition:
    """PodScheduled as it was read or last written.

    Attributes:
        observed_generation: the pod's generation that was looked at; None where unknown.
        nominated_node: status.nominatedNodeName, which is written in one go with the condition; None leaves it as it
            is, "" takes it away.
    """

    status: str
    reason: str
    message: str
    observed_generation: int | None = None
    nominated_node: str | None = field(default=None, compare=False)


def unscheduled(decision: Decision, *, generation: int | None = None) -> PodCondition:
    """The condition of a failed attempt.

    Raises:
        ValueError: the decision binds the pod; on success the API server writes the condition itself.
    """
    return PodCondition("False", decision.outcome.value, fit_message(decision), generation, decision.nominated_node)


def bind_failed(message: str, *, generation: int | None = None) -> PodCondition:
    """The condition of a pod whose Binding failed; ``message`` is that of ``failed_bind_message``."""
    return PodCondition("False", SCHEDULER_ERROR, message, generation, nominated_node="")


def read_condition(pod: Mapping[str, Any]) -> PodCondition | None:
    """From a pod's JSON; None where the pod has no such condition yet."""
    status = pod.get("status") or {}
    for condition in status.get("conditions") or ():
        if condition.get("type") == POD_SCHEDULED:
            return PodCondition(
                str(condition.get("status") or ""),
                str(condition.get("reason") or ""),
                str(condition.get("message") or ""),
                condition.get("observedGeneration"),
                str(status.get("nominatedNodeName") or ""),
            )
    return None


def needs_patch(previous: PodCondition | None, wanted: PodCondition) -> bool:
    """Once per change: the same words about the same generation are not written again."""
    if previous is None or previous != wanted:
        return True
    return previous.nominated_node != completed(previous, wanted).nominated_node


def completed(previous: PodCondition | None, wanted: PodCondition) -> PodCondition:
    """The condition as it stands once it is written: what it leaves as it is stays what it was."""
    if previous is None or wanted.nominated_node is not None:
        return wanted
    return replace(wanted, nominated_node=previous.nominated_node)


def condition_patch(wanted: PodCondition, *, previous: PodCondition | None, uid: str, now_s: float) -> dict[str, Any]:
    """The body of the strategic merge PATCH of ``pods/status``.

    The uid makes the API server refuse it (409) for another pod of the same name. The transition time is
    left out, and so kept, unless the status flips.
    """
    condition: dict[str, Any] = {
        "type": POD_SCHEDULED,
        "status": wanted.status,
        "reason": wanted.reason,
        "message": wanted.message,
        "lastProbeTime": None,
    }
    if wanted.observed_generation is not None:
        condition["observedGeneration"] = wanted.observed_generation
    if previous is None or previous.status != wanted.status:
        condition["lastTransitionTime"] = timestamp(now_s)
    status: dict[str, Any] = {"conditions": [condition]}
    if wanted.nominated_node is not None:
        status["nominatedNodeName"] = wanted.nominated_node or None
    return {"metadata": {"uid": uid}, "status": status}
