"""Which change can help which waiting pod: the filters' hints, and the policy's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.cluster.snapshot import Snapshot
from plimsoll.cluster.term_index import TermKind
from plimsoll.filters.order import hint
from plimsoll.filters.policy_nodes import PolicyNodes
from plimsoll.filters.waiting import WaitingIndex
from plimsoll.policy.compiled import BUILT_IN, Policy
from plimsoll.scheduling.queue import QueuedPod


class Hints:
    """Asks filters."""

    def __init__(self, view: Snapshot) -> None:
        self._view = view
        self.policies: Mapping[str, Policy] = {}

    def about(self, change: Change) -> _About:
        return _About(change, self._view, self.policies)

    def among(self, index: WaitingIndex, change: Change) -> Iterable[int] | None:
        """Whom of the index the change may help; None: ask all."""
        try:
            return index.candidates(change, self._view)
        except Exception:  # noqa: BLE001 - whatever is odd about the change, nobody must wait for ever
            return None

    def stands_alone(self, uid: Uid) -> bool:
        """Nominated: others like it must leave that node to it."""
        return bool(self._view.nominated.node_of(uid))

    def told_by_labels(self, pod: PodInfo) -> bool:
        """An anti-affinity of pods on nodes selects it."""
        return bool(self._view.terms.matching(TermKind.REQUIRED_ANTI_AFFINITY, pod))


class _About:
    """One change, asked about for many pods."""

    def __init__(self, change: Change, view: Snapshot, policies: Mapping[str, Policy]) -> None:
        self._change, self._view, self._policies = change, view, policies
        ended = change.kind & ChangeKind.NOMINATION_ENDED
        # Whoever goes before the nominated pod never had to yield to it.
        self._most: int | None = change.before.priority if ended else None
        self._hints: dict[str, Callable[[PodInfo], bool]] = {}

    def __call__(self, plugin: str, queued: QueuedPod) -> bool:
        if self._most is not None and queued.pod.priority > self._most:
            return False
        try:
            return self._helps(plugin, queued)
        except Exception:  # noqa: BLE001 - whatever is odd about the change, the pod must not wait for ever
            return True

    def _helps(self, plugin: str, queued: QueuedPod) -> bool:
        if plugin == PolicyNodes.name:
            policy = self._policies.get(queued.policy, BUILT_IN)
            return PolicyNodes(policy).helps(self._change, queued.pod, self._view)
        if plugin not in self._hints:
            self._hints[plugin] = hint(plugin, self._change, self._view)
        return self._hints[plugin](queued.pod)
