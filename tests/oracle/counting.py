"""What a run came upon: a comparison of clusters in which nothing happens proves nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.oracle.comparing import SOFT, outcomes, pairs
from tests.oracle.reasons import SAYINGS

Json = Mapping[str, Any]

# Names of objects differ from case to case; which sentence it is does not.
_NAMED = re.compile(r'"[^"]*"')
_KEYS = re.compile(r"(resource claim|PVC|pod) [^\s/]+/\S+")


@dataclass(slots=True)
class Counts:
    """Attributes:
    reasons: kube-scheduler's, by pods that met them.
    nominated, deterministic: cases in which preemption nominates, and those in which every run does alike.
    score_pairs: pairs of nodes that were compared, by plugin; score_pods: pods in which there was one.
    deviations: pods whose difference is an intended one, by its id.
    """

    clusters: int = 0
    pods: int = 0
    placeable: int = 0
    gated: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    nominated: int = 0
    deterministic: int = 0
    score_pairs: Counter[str] = field(default_factory=Counter)
    score_pods: int = 0
    deviations: Counter[str] = field(default_factory=Counter)

    def add(self, theirs: Json) -> None:
        self.pods += 1
        self.placeable += bool(theirs["feasible"])
        self.reasons.update(
            {reason for verdict in theirs["nodes"].values() for reason in map(general, verdict["reasons"])}
        )
        self.reasons.update(saying for saying in SAYINGS if saying in theirs["message"])
        if theirs["nominatedNode"]:
            self.nominated += 1
            self.deterministic += len(outcomes(theirs)) == 1
        compared = {plugin: sum(1 for _ in pairs(theirs, plugin)) for plugin in SOFT}
        self.score_pairs.update(compared)
        self.score_pods += any(compared.values())

    def lines(self) -> Iterator[str]:
        yield f"{self.pods} pods in {self.clusters} clusters, {self.placeable} of them placeable; {self.gated} more are not tried"
        share = 100 * self.deterministic / self.nominated if self.nominated else 100.0
        yield f"preemption nominates in {self.nominated}; deterministic in {self.deterministic} ({share:.1f} %)"
        told = ", ".join(f"{plugin} {self.score_pairs[plugin]}" for plugin in SOFT)
        yield f"pairs of nodes compared by score, in {self.score_pods} pods: {told}"
        yield "kube-scheduler's reasons, by pods:"
        yield from (f"  {count:6} {reason}" for reason, count in self.reasons.most_common())
        yield "intended deviations (docs/deviations.md), by pods:"
        yield from (f"  {count:6} {name}" for name, count in self.deviations.most_common())


def general(reason: str) -> str:
    """The sentence without the names in it."""
    return _KEYS.sub(r"\1 ...", _NAMED.sub('"..."', reason))
