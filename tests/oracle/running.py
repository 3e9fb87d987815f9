"""Many random clusters, one after the other; every disagreement is shrunk and kept."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

from tests.oracle.cases import Judge, disagreements
from tests.oracle.clusters.cluster import cluster
from tests.oracle.comparing import Disagreement
from tests.oracle.counting import Counts
from tests.oracle.kept import keep
from tests.oracle.shrinking import shrink
from tests.oracle.source import Source


@dataclass(slots=True)
class Run:
    """Attributes:
    found: disagreements with the seed of their cluster, at most ``stop_after``.
    """

    counts: Counts = field(default_factory=Counts)
    found: list[tuple[int, Disagreement]] = field(default_factory=list)


def run(judge: Judge, *, pods: int, seed: int, stop_after: int = 1, nominations: int = 0, scored: int = 0) -> Run:
    """Until so many pods have been compared, or so many clusters with disagreements been found.

    Args:
        nominations: and in so many of them preemption nominated.
        scored: and in so many of them kube-scheduler's scores told nodes apart.
        seed: of the first cluster; each further cluster has the next one.
    """
    done = Run()
    counts = done.counts
    while len(done.found) < stop_after:
        if counts.pods >= pods and counts.nominated >= nominations and counts.score_pods >= scored:
            break
        found = disagreements(cluster(Source.seeded(seed)), judge, counts)
        if found:
            done.found.append((seed, found[0]))
        seed += 1
    return done


def shrink_and_keep(judge: Judge, seed: int, kind: Disagreement) -> str:
    """Writes the smallest cluster with a disagreement of this kind beside the others; answers with its path."""

    def holds(items: list[dict[str, object]]) -> bool:
        return any((d.field, d.pod) == (kind.field, kind.pod) for d in disagreements(items, judge))

    smallest = shrink(cluster(Source.seeded(seed)), holds)
    for found in disagreements(smallest, judge):
        print(f"  {found}", file=sys.stderr)
    return str(keep(smallest, seed=seed))
