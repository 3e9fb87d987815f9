"""The policy's own node selector and node affinity: only these nodes, whatever the pod says."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.selectors import selects_node
from plimsoll.cluster.snapshot import Snapshot
from plimsoll.filters.node_hints import admits_now
from plimsoll.policy.compiled import Policy


@dataclass(frozen=True, slots=True)
class PolicyNodes:
    policy: Policy

    name = "SchedulingPolicyNodes"
    reason = "node(s) didn't match the scheduling policy's node selector"
    wakes = ChangeKind.NODE_ADDED | ChangeKind.NODE_LABELS | ChangeKind.POLICY_CHANGED

    def concerns(self, pod: PodInfo) -> bool:  # noqa: ARG002
        return bool(self.policy.node_selector) or self.policy.node_affinity is not None

    def refuses(self, pod: PodInfo, node: NodeInfo) -> bool:  # noqa: ARG002
        policy = self.policy
        return not selects_node(policy.node_selector, policy.node_affinity, labels=node.labels, name=node.name)

    def helps(self, change: Change, pod: PodInfo, view: Snapshot) -> bool:  # noqa: ARG002
        """A node that came, or whose labels changed, and that the policy selects now; or another policy."""
        return admits_now(self, change, pod)
