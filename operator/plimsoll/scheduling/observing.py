"""What policies with mode Observe say of pods that other schedulers place. They place nothing themselves."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from plimsoll.cluster.pod import DECISION_ANNOTATION, PodInfo
from plimsoll.cluster.snapshot import Snapshot
from plimsoll.policy.compiled import Policy
from plimsoll.policy.selection import observes
from plimsoll.scheduling.decide import Caches, beyond
from plimsoll.scheduling.loads import Loads
from plimsoll.scheduling.regret import Regret, regret

# What was placed earlier was placed on another cluster than the one that is seen now.
_NEWS_S = 60.0
_KEPT = 1000


@dataclass(frozen=True, slots=True)
class Observed:
    """Of the last 1,000 pods at most.

    Attributes:
        mean: regret in points of score, 0..100.
        worst: the latest of the pods with the most regret.
    """

    count: int
    mean: float
    worst: Regret


class Observing:
    """Keeps the last judgements of each policy, from when its spec was put in force.

    Args:
        scheduler_name: ours.
    """

    def __init__(self, view: Snapshot, loads: Loads, caches: Caches, *, scheduler_name: str) -> None:
        self._view = view
        self._loads = loads
        self._caches = caches
        self._name = scheduler_name
        self._policies: tuple[Policy, ...] = ()
        self._seen: dict[str, deque[Regret]] = {}

    def policies_changed(self, policies: Iterable[Policy]) -> None:
        """Regrets by another spec are not comparable: they are dropped."""
        before = {policy.name: policy for policy in self._policies}
        self._policies = tuple(policy for policy in policies if not policy.enforced)
        self._seen = {
            p.name: self._seen[p.name] if before.get(p.name) == p else deque(maxlen=_KEPT) for p in self._policies
        }

    def concerns(self, pod: PodInfo, *, now_s: float) -> bool:
        """Whether some policy observes the pod, seen on its node for the first time.

        Nobody chose the node of a pod that was created with it (it is not marked as scheduled then) or that belongs
        to a DaemonSet; and what has our decision on it was decided by us, if not by this process.
        """
        if not self._policies or pod.node not in self._view.row_of:
            return False
        if pod.daemon or pod.deleting or pod.terminal or beyond(pod):
            return False
        if pod.scheduled_s is None or now_s - pod.scheduled_s > _NEWS_S:
            return False
        ours = pod.scheduler_name == self._name and DECISION_ANNOTATION in pod.annotations
        return not ours and any(self._of(pod))

    def judge(self, pod: PodInfo, *, node: str, now_s: float) -> list[Regret]:
        """By each policy that observes the pod and knows what the nodes carry.

        Args:
            pod: as it was before it had a node; it is not in the Snapshot yet.
            node: where it is.
        """
        found = [r for policy in self._of(pod) if (r := self._judge(policy, pod, node=node, now_s=now_s)) is not None]
        for judged in found:
            self._seen[judged.policy].append(judged)
        return found

    def of(self, policy: str) -> Observed | None:
        """None where nothing has been observed yet."""
        seen = self._seen.get(policy)
        if not seen:
            return None
        worst = max(reversed(seen), key=lambda judged: judged.points)
        return Observed(len(seen), sum(judged.points for judged in seen) / len(seen), worst)

    def _of(self, pod: PodInfo) -> Iterable[Policy]:
        labels: Mapping[str, str] = self._view.namespaces.get(pod.namespace, {})
        return (policy for policy in self._policies if observes(policy, pod, labels))

    def _judge(self, policy: Policy, pod: PodInfo, *, node: str, now_s: float) -> Regret | None:
        load = self._loads.of(policy, now_s=now_s)
        if policy.metrics and policy.source is not None and load.readings is None:
            return None  # the source has not been asked yet; by requests alone the policy would be another one
        return regret(view=self._view, load=load, policy=policy, pod=pod, node=node, caches=self._caches)
