"""One cluster judged by both, and what comes of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from tests.oracle import ours
from tests.oracle.clusters.odd import readable
from tests.oracle.comparing import Disagreement, compare
from tests.oracle.counting import Counts
from tests.oracle.deviations import deviation

Json = dict[str, Any]
# kube-scheduler chooses by chance among equally good victims: what a few runs agree on may still be chance, so a
# difference is one only if many runs agree.
RUNS, MANY_RUNS = 5, 60


class Judge(Protocol):
    """Items and the number of tries at preemption in, kube-scheduler's verdicts out."""

    def __call__(self, items: Sequence[Json], *, runs: int) -> list[Json]: ...


def disagreements(items: list[Json], judge: Judge, counts: Counts | None = None) -> list[Disagreement]:
    """Those that no documented deviation explains."""
    shown = readable(items)
    theirs, mine = judge(shown, runs=RUNS), ours.judge(items)
    if any(_by_chance(mine.get(document["pod"]), document) for document in theirs):
        theirs = judge(shown, runs=MANY_RUNS)
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


def _by_chance(ours: Json | None, theirs: Json) -> bool:
    return not theirs["gated"] and any(found.field == "preemption" for found in compare(ours, theirs))
