"""Nodes on which preemption would help, found by trying (kube-scheduler's DryRunPreemption)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from plimsoll.cluster.pod import Uid
from plimsoll.cluster.snapshot import Bools
from plimsoll.scheduling.preemption.choosing import Candidate

# kube-scheduler's defaults: so many candidates are enough.
_SHARE_PERCENT, _AT_LEAST = 10, 100
# Pods of higher priority may come in between; whose search is dropped begins anew.
_MOST_PAUSES = 16

# What becomes of one row, or why nothing, and the effort that it took to find out.
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

    Attributes:
        skipped: rows that were passed over, the last time that it went on.
    """

    def __init__(self, rows: Sequence[int] | NDArray[np.int64], *, offset: int) -> None:
        self.tried = Tried()
        self.paused = False
        self._left: NDArray[np.int64] = np.roll(np.asarray(rows, dtype=np.int64), -offset)
        self.skipped = self._left[:0]
        self._wanted = enough(len(rows))
        self._clean = self._harmful = 0

    def go_on(self, look: Callable[[int], Look], *, effort: float = math.inf, skip: Bools | None = None) -> bool:
        """Whether it is over; if not, it goes on where it paused.

        Args:
            look: tries one row.
            effort: after how much of it it pauses.
            skip: [N], where nothing would come of trying.
        """
        self.skipped = self._left[:0]
        places = np.arange(len(self._left)) if skip is None else np.flatnonzero(~skip[self._left])
        for place, row in zip(places.tolist(), self._left[places].tolist(), strict=True):
            if self._enough:
                return True
            if effort <= 0:
                self._pause(place, skip)
                return False
            found, cost = look(row)
            self._note(row, found)
            effort -= cost
        self._skip(self._left, skip)
        return True

    def _pause(self, place: int, skip: Bools | None) -> None:
        self.paused = True
        self._skip(self._left[:place], skip)
        self._left = self._left[place:]

    def _skip(self, rows: NDArray[np.int64], skip: Bools | None) -> None:
        if skip is not None:
            self.skipped = rows[skip[rows]]

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
