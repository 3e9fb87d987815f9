"""One cluster judged by both, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.oracle import ours
from tests.oracle.comparing import Disagreement, compare
from tests.oracle.counting import Counts
from tests.oracle.deviations import deviation

Json = dict[str, Any]
# Items in, kube-scheduler's verdicts out.
Judge = Callable[[Sequence[Json]], list[Json]]


def disagreements(items: list[Json], judge: Judge, counts: Counts | None = None) -> list[Disagreement]:
    """Those that no documented deviation explains."""
    theirs, mine = judge(items), ours.judge(items)
    left: list[Disagreement] = []
    if counts is not None:
        counts.clusters += 1
    for document in theirs:
        if document["gated"]:
            # kube-scheduler does not try the pod, so there is nothing to compare.
            if counts is not None:
                counts.gated += 1
            continue
        found = compare(mine.get(document["pod"]), document)
        names = [deviation(f, mine.get(document["pod"]), document, items) for f in found]
        left.extend(f for f, name in zip(found, names, strict=True) if name is None)
        if counts is not None:
            counts.add(document)
            counts.deviations.update({name for name in names if name is not None})
    return left
