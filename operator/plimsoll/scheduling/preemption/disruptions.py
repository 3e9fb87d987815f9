"""Which disruptions the budgets would not allow (kube-scheduler's filterPodsWithPDBViolation)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from plimsoll.cluster.budgets import DisruptionBudget
from plimsoll.cluster.pod import PodInfo


def split_by_budgets(
    pods: Iterable[PodInfo], budgets: Sequence[DisruptionBudget]
) -> tuple[list[PodInfo], list[PodInfo]]:
    """Pods whose disruption violates a budget, and the rest, each in the order given: earlier ones use budgets up."""
    if not budgets:
        return [], list(pods)
    allowed = {budget.key: budget.allowed for budget in budgets}
    violating: list[PodInfo] = []
    others: list[PodInfo] = []
    for pod in pods:
        violates = False
        for budget in budgets:
            if budget.guards(pod):
                allowed[budget.key] -= 1
                violates |= allowed[budget.key] < 0
        (violating if violates else others).append(pod)
    return violating, others
