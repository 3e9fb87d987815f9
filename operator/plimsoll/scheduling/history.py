"""The last decisions, kept so that people can ask why."""

from __future__ import annotations

from collections import OrderedDict, deque

from plimsoll.cluster.pod import PodInfo
from plimsoll.scheduling.decision import Decision, Outcome

# About 3 KB each with their ten best nodes: some 30 MB at the most. Refusals are told by reason, not by node.
_KEPT = 10_000
_PER_POD = 10


class History:
    """Bounded: the pod that was tried longest ago loses its oldest first, and no pod keeps more than ten."""

    def __init__(self) -> None:
        self._by_pod: OrderedDict[str, deque[Decision]] = OrderedDict()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def keep(self, decision: Decision) -> None:
        mine = self._by_pod.setdefault(decision.pod.key, deque(maxlen=_PER_POD))
        self._by_pod.move_to_end(decision.pod.key)
        self._count += len(mine) < _PER_POD
        mine.append(decision)
        while self._count > _KEPT:
            self._drop_oldest()

    def bound(self, pod: PodInfo) -> None:
        """The Binding that was decided on last was accepted."""
        self._settle(pod, node=None)

    def bind_failed(self, pod: PodInfo, *, node: str) -> None:
        """The Binding that was decided on last was not carried out by us.

        Args:
            node: where the pod is all the same; "" for nowhere.
        """
        self._settle(pod, node=node)

    def of(self, pod_key: str) -> list[Decision]:
        """Newest first; empty where none is kept. ``pod_key`` is namespace/name."""
        return list(reversed(self._by_pod.get(pod_key, ())))

    def _settle(self, pod: PodInfo, *, node: str | None) -> None:
        mine = self._by_pod.get(pod.key)
        if not mine or mine[-1].pod.uid != pod.uid or mine[-1].outcome is not Outcome.BIND:
            return  # forgotten meanwhile, or a namesake's
        mine[-1] = mine[-1].settled(bound=node is None or node == mine[-1].node)

    def _drop_oldest(self) -> None:
        key, decisions = next(iter(self._by_pod.items()))
        decisions.popleft()
        self._count -= 1
        if not decisions:
            del self._by_pod[key]
