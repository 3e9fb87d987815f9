"""Where the pods went, against what each node carried."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from devcluster import DevCluster

_EXTREMES = 3
_BAR = 30


@dataclass(frozen=True, slots=True)
class Placements:
    """Pods per node of one Deployment, and the load (percent) that its policy looks at first.

    Attributes:
        first_pod: name of one of its pods.
    """

    deployment: str
    metric: str
    load: Mapping[str, int]
    pods: Mapping[str, int]
    unbound: int
    first_pod: str

    @property
    def idlest(self) -> int:
        """Pods on the three idlest nodes together."""
        return self._pods_on(sorted(self.load, key=self._load_of)[:_EXTREMES])

    @property
    def busiest(self) -> int:
        """Pods on the three busiest nodes together."""
        return self._pods_on(sorted(self.load, key=self._load_of)[-_EXTREMES:])

    def table(self) -> str:
        head = f"{'NODE':<9}{self.metric:<18}PODS"
        rows = (self._row(node) for node in sorted(self.load, key=self._load_of))
        summary = f"3 idlest nodes: {self.idlest} pods, 3 busiest: {self.busiest}"
        return "\n".join((head, *rows, summary))

    def _row(self, node: str) -> str:
        count = self.pods.get(node, 0)
        return f"{node:<9}{self.load[node]:>3} %{'':<13}{count:>3}  {'#' * min(count, _BAR)}".rstrip()

    def _load_of(self, node: str) -> int:
        return self.load[node]

    def _pods_on(self, nodes: list[str]) -> int:
        return sum(self.pods.get(node, 0) for node in nodes)


def placements(cluster: DevCluster, deployment: str, *, metric: str, load: Mapping[str, int]) -> Placements:
    listed = json.loads(cluster.kubectl("get", "pods", "--selector", f"app={deployment}", "--output", "json"))["items"]
    nodes = [pod["spec"].get("nodeName", "") for pod in listed]
    bound = Counter(node for node in nodes if node)
    first = min((pod["metadata"]["name"] for pod in listed), default="")
    return Placements(deployment, metric, load, bound, nodes.count(""), first)
