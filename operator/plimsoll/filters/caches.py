"""What filters keep between decisions: verdicts per class of pods, for pods and for each policy in force."""

from __future__ import annotations

from collections.abc import Collection

from plimsoll.filters.node_verdicts import NodeVerdicts
from plimsoll.filters.order import LATE_NODE_FILTERS, NODE_FILTERS
from plimsoll.filters.policy_nodes import PolicyNodes
from plimsoll.filters.row_verdicts import RowVerdicts
from plimsoll.policy.compiled import Policy


class FilterCaches:
    """Kept verdicts of node filters; never change an answer."""

    def __init__(self) -> None:
        self._policies: dict[str, tuple[Policy, NodeVerdicts]] = {}
        self.first = NodeVerdicts(NODE_FILTERS)
        self.late = NodeVerdicts(LATE_NODE_FILTERS)
        self.rows = RowVerdicts(self.first)

    def keep_policies(self, names: Collection[str]) -> None:
        """Drops what was kept for policies that are gone."""
        self._policies = {name: kept for name, kept in self._policies.items() if name in names}

    def of_policy(self, policy: Policy) -> NodeVerdicts:
        kept, verdicts = self._policies.get(policy.name, (None, None))
        if verdicts is None or kept is not policy:
            verdicts = NodeVerdicts((PolicyNodes(policy),))
            self._policies[policy.name] = policy, verdicts
        return verdicts
