"""Which policy places a pod; resolved anew at every attempt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.cluster.pod import POLICY_ANNOTATION, PodInfo
from plimsoll.policy.compiled import BUILT_IN, Policy


@dataclass(frozen=True, slots=True)
class Selection:
    """The answer.

    Attributes:
        policy: what places the pod; BUILT_IN where no policy selects it; None: the pod waits.
        problem: why it waits and what to do; "" where there is a policy.
    """

    policy: Policy | None
    problem: str = ""


def select_policy(policies: Mapping[str, Policy], pod: PodInfo, namespace_labels: Mapping[str, str]) -> Selection:
    """The policy for the pod, among those by name that are in force.

    The pod's annotation goes before podSelector and priority, never before namespaceSelector. Among the policies
    that select the pod the highest priority wins, then the oldest, then the first by name.
    """
    named = pod.annotations.get(POLICY_ANNOTATION)
    if named:
        return _named(policies.get(named), named, pod, namespace_labels)
    selecting = [p for p in policies.values() if _selects(p, pod, namespace_labels)]
    return Selection(min(selecting, key=_rank, default=BUILT_IN))


def observes(policy: Policy, pod: PodInfo, namespace_labels: Mapping[str, str]) -> bool:
    """Whether a policy with mode Observe judges where another scheduler places the pod; each that selects it does.

    A pod whose annotation names the policy is selected whatever its labels, as for placing.
    """
    if policy.enforced or not policy.namespace_selector.matches(namespace_labels):
        return False
    return pod.annotations.get(POLICY_ANNOTATION) == policy.name or policy.pod_selector.matches(pod.labels)


def _named(policy: Policy | None, name: str, pod: PodInfo, namespace_labels: Mapping[str, str]) -> Selection:
    """Whoever names a policy wants that one: the pod waits for it rather than being placed by another."""
    if policy is None:
        return _waits(name, "no such policy is in force", "create or mend it, or take the annotation off the pod")
    if not policy.enforced:
        return _waits(name, "its mode is Observe and places no pods", "set its mode to Enforce, or name another")
    if not policy.namespace_selector.matches(namespace_labels):
        return _waits(
            name,
            f"its namespaceSelector does not select namespace {pod.namespace}",
            "label the namespace, or name another",
        )
    return Selection(policy)


def _waits(name: str, problem: str, mend: str) -> Selection:
    return Selection(None, f'annotation {POLICY_ANNOTATION} names SchedulingPolicy "{name}", but {problem}: {mend}')


def _selects(policy: Policy, pod: PodInfo, namespace_labels: Mapping[str, str]) -> bool:
    return (
        policy.enforced
        and policy.pod_selector.matches(pod.labels)
        and policy.namespace_selector.matches(namespace_labels)
    )


def _rank(policy: Policy) -> tuple[int, str, str]:
    return -policy.priority, policy.created, policy.name
