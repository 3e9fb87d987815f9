"""What pods of each priority hold on each node: how much preemption could free there, without looking at pods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from plimsoll.cluster.resources import PODS, Amounts, add


class HeldByPriority:
    """Requests by row and priority; ``pods`` counts pods."""

    def __init__(self) -> None:
        self._held: dict[int, dict[int, Amounts]] = {}
        self._pods: Counter[int] = Counter()

    def count(self, row: int, priority: int, requests: Mapping[str, int], *, sign: int) -> None:
        """A pod that came (+1) or went (-1)."""
        by_priority = self._held.setdefault(row, {})
        held = by_priority.setdefault(priority, {PODS: 0})
        add(held, {name: sign * value for name, value in requests.items()})
        held[PODS] += sign
        self._pods[priority] += sign
        if not self._pods[priority]:
            del self._pods[priority]
        if not held[PODS]:
            del by_priority[priority]
            if not by_priority:
                del self._held[row]

    def any_below(self, priority: int) -> bool:
        """Whether any pod of lower priority is on any node."""
        return any(held_at < priority for held_at in self._pods)

    def below(self, row: int, priority: int) -> Amounts:
        """What pods of lower priority hold together."""
        total: Amounts = {}
        for held_at, held in self._held.get(row, {}).items():
            if held_at < priority:
                add(total, held)
        return total
