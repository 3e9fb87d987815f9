"""Nodes on which preemption would help, found by trying (kube-scheduler's DryRunPreemption)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from plimsoll.scheduling.preemption.choosing import Candidate

# kube-scheduler's defaults: so many candidates are enough.
_SHARE_PERCENT, _AT_LEAST = 10, 100

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


def try_rows(rows: Sequence[int], victims_on: Callable[[int], Candidate | tuple[str, ...]], *, offset: int) -> Tried:
    """Tries row after row from the offset on, until enough are found, one without a violated budget among them."""
    tried = Tried()
    wanted, clean, harmful = enough(len(rows)), 0, 0
    for i in range(len(rows)):
        row = rows[(offset + i) % len(rows)]
        found = victims_on(row)
        if not isinstance(found, Candidate):
            tried.reasons.update(found)
        elif not found.victims:
            tried.odd = row
        elif not found.violations:
            tried.candidates.append(found)
            clean += 1
        elif harmful < wanted:
            tried.candidates.append(found)
            harmful += 1
        if clean and len(tried.candidates) >= wanted:
            break
    return tried
