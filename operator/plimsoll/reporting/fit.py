"""Why a pod was not placed, in kube-scheduler's own sentences (``framework.FitError``, ``schedule_one.go``).

Autoscalers, dashboards and people match these texts to the letter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from plimsoll.cluster.pod import PodInfo
from plimsoll.scheduling.decide import NO_NODES
from plimsoll.scheduling.decision import Decision, Outcome, Rejection


def fit_message(decision: Decision) -> str:
    """The sentence of the FailedScheduling event and of the PodScheduled condition.

    Raises:
        ValueError: the decision binds the pod, so there is nothing that failed.
    """
    match decision.outcome:
        case Outcome.UNSCHEDULABLE:
            return _does_not_fit(decision)
        case Outcome.ERROR:
            return decision.problem
        case Outcome.BIND:
            raise ValueError(f"pod {decision.pod.key} fits on {decision.node}: there is no failure to put in words")


def failed_bind_message(error: str) -> str:
    """The sentence for a pod that fitted, but whose Binding the API server did not take."""
    return f'running Bind plugin "DefaultBinder": {error}'


def skipped_message(pod: PodInfo) -> str:
    """The sentence for a pod whose turn came while it is being deleted."""
    return f"skip schedule deleting pod: {pod.key}"


def counted_reasons(rejections: Iterable[Rejection]) -> list[str]:
    """``<count> <reason>`` each, sorted as text: ``10 x`` stands before ``2 y``, as kube-scheduler has it.

    A reason is counted once per node that has it, and one node may have several.
    """
    counts: Counter[str] = Counter()
    for rejection in rejections:
        counts[rejection.reason] += rejection.count
    return sorted(f"{count} {reason}" for reason, count in counts.items())


def _does_not_fit(decision: Decision) -> str:
    if decision.nodes == 0:
        return NO_NODES
    # A problem of the pod as a whole is every node's problem: reasons by node would only repeat it.
    reasons = decision.problem or ", ".join(counted_reasons(decision.rejections))
    start = f"0/{decision.nodes} nodes are available:"
    return " ".join(part for part in (start, f"{reasons}." if reasons else "", decision.after) if part)
