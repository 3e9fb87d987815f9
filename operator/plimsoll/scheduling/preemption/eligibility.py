"""Whether a pod may preempt others at all (kube-scheduler's PodEligibleToPreemptOthers)."""

from __future__ import annotations

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Snapshot

NEVER = "not eligible due to preemptionPolicy=Never."
TERMINATING = "not eligible due to a terminating pod on the nominated node."


def not_eligible(view: Snapshot, pod: PodInfo, *, hopeless: bool) -> str:
    """Why not; "" where it may.

    Args:
        hopeless: whether the node to which the pod is nominated would refuse it whatever pods were removed there.
    """
    if not pod.may_preempt:
        return NEVER
    node = view.nominated.node_of(pod.uid)
    if node and not hopeless and any(p.priority < pod.priority and p.giving_way for p in view.residents.on(node)):
        return TERMINATING
    return ""
