"""Nodes on which preemption would help, found by trying (kube-scheduler's DryRunPreemption)."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from plimsoll.cluster.pod import Uid
from plimsoll.scheduling.preemption.choosing import Candidate

# kube-scheduler's defaults: so many candidates are enough.
_SHARE_PERCENT, _AT_LEAST = 10, 100
# What looking at a node costs, whatever runs there.
_PODS_PER_NODE = 3
# Pods of higher priority may come in between; whose search is dropped begins anew.
_MOST_PAUSES = 16

# What becomes of one row, or why nothing, and how many pods had to be looked at.
Look = tuple["Candidate | tuple[str, ...]", int]

NOT_HELPFUL = "Preemption is not helpful for scheduling"


@dataclass(slots=True)
class Tried:
    """Attributes:
    candidates: in the order in which they were found.
    reasons: of the nodes that are none, counted.
    odd: the row of a node on which the pod was refused and fits nevertheless; None as a rule.
    """

    candidates: list[Candidate] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    odd: int | None = None


def enough(nodes: int) -> int:
    """How many candidates are looked for among so many nodes."""
    return min(max(nodes * _SHARE_PERCENT // 100, _AT_LEAST), nodes)


class Search:
    """Tries row after row until enough candidates are found, one without a violated budget among them.

    It may pause after any row: five hundred nodes with a hundred pods each take longer than others can wait.

    Args:
        offset: where among the rows it begins.
    """

    def __init__(self, rows: Sequence[int], *, offset: int) -> None:
        self.tried = Tried()
        self.paused = False
        self._left = deque((*rows[offset:], *rows[:offset]))
        self._wanted = enough(len(rows))
        self._clean = self._harmful = 0

    def go_on(self, look: Callable[[int], Look], *, effort: float = math.inf) -> bool:
        """Whether it is over; if not, it goes on where it paused.

        Args:
            look: tries one row.
            effort: after how many pods it pauses.
        """
        while self._left and not self._enough:
            if effort <= 0:
                self.paused = True
                return False
            row = self._left.popleft()
            found, pods = look(row)
            self._note(row, found)
            effort -= pods + _PODS_PER_NODE
        return True

    @property
    def _enough(self) -> bool:
        return self._clean > 0 and len(self.tried.candidates) >= self._wanted

    def _note(self, row: int, found: Candidate | tuple[str, ...]) -> None:
        tried = self.tried
        if not isinstance(found, Candidate):
            tried.reasons.update(found)
        elif not found.victims:
            tried.odd = row
        elif not found.violations:
            tried.candidates.append(found)
            self._clean += 1
        elif self._harmful < self._wanted:
            tried.candidates.append(found)
            self._harmful += 1


class Pauses:
    """Searches that have paused, by pod; the pod stays first in its queue meanwhile."""

    def __init__(self) -> None:
        self._searches: dict[Uid, Search] = {}

    def of(self, uid: Uid) -> Search | None:
        return self._searches.get(uid)

    def put(self, uid: Uid, search: Search) -> None:
        self._searches[uid] = search
        if len(self._searches) > _MOST_PAUSES:
            del self._searches[next(iter(self._searches))]

    def over(self, uid: Uid) -> None:
        self._searches.pop(uid, None)
