"""kube-scheduler's InterPodAffinity and PodTopologySpread as plain loops over JSON, to judge the vectorised ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.filters.inter_pod_affinity import ALONE, OTHERS, OWN
from plimsoll.filters.interface import Reason
from plimsoll.filters.pod_topology_spread import SKEWED, UNLABELLED

Json = Mapping[str, Any]
Pairs = Counter[tuple[str, str]]
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
MANY = 2**31 - 1


def selects(selector: Json | None, labels: Json) -> bool:
    if selector is None:
        return False
    equal = all(labels.get(key) == value for key, value in (selector.get("matchLabels") or {}).items())
    return equal and all(holds(e, labels) for e in selector.get("matchExpressions") or ())


def holds(expression: Json, labels: Json) -> bool:
    value = labels.get(expression["key"])
    match expression["operator"]:
        case "In":
            return value in expression["values"]
        case "NotIn":
            return value is None or value not in expression["values"]
        case "Exists":
            return value is not None
        case _:
            return value is None


def terms(pod: Json, kind: str) -> Sequence[Json]:
    return ((pod["spec"].get("affinity") or {}).get(kind) or {}).get(REQUIRED) or ()


def term_selects(term: Json, owner: Json, pod: Json, namespaces: Sequence[Json | None]) -> bool:
    """With the labels of the other pod's namespace; several sets of them are alternatives."""
    named, selector = term.get("namespaces") or [], term.get("namespaceSelector")
    if not named and selector is None:
        named = [owner["metadata"]["namespace"]]
    there = pod["metadata"]["namespace"] in named or any(selects(selector, labels or {}) for labels in namespaces)
    return there and selects(term.get("labelSelector"), pod["metadata"]["labels"])


class Affinity:
    """One incoming pod in a cluster of nodes and pods as JSON."""

    def __init__(self, pod: Json, nodes: Sequence[Json], placed: Sequence[Json], spaces: Mapping[str, Json]) -> None:
        self.pod, self.spaces = pod, spaces
        self.others, self.own, self.affinity = Pairs(), Pairs(), Pairs()
        at = {node["metadata"]["name"]: node["metadata"]["labels"] for node in nodes}
        for existing in placed:
            if existing["spec"]["nodeName"] in at:
                self.count(existing, at[existing["spec"]["nodeName"]])

    def count(self, existing: Json, labels: Json) -> None:
        own_space = self.spaces.get(self.pod["metadata"]["namespace"])
        for term in terms(existing, "podAntiAffinity"):
            if term_selects(term, existing, self.pod, [own_space]):
                self.add(self.others, term, labels)
        for term in terms(self.pod, "podAntiAffinity"):
            if self.selects(term, existing):
                self.add(self.own, term, labels)
        if all(self.selects(term, existing) for term in terms(self.pod, "podAffinity")):
            for term in terms(self.pod, "podAffinity"):
                self.add(self.affinity, term, labels)

    def selects(self, term: Json, existing: Json) -> bool:
        return term_selects(term, self.pod, existing, [self.spaces.get(existing["metadata"]["namespace"]), {}])

    @staticmethod
    def add(pairs: Pairs, term: Json, labels: Json) -> None:
        if term["topologyKey"] in labels:
            pairs[term["topologyKey"], labels[term["topologyKey"]]] += 1

    @property
    def skipped(self) -> bool:
        own = (*terms(self.pod, "podAffinity"), *terms(self.pod, "podAntiAffinity"))
        return not own and not self.others

    def reason(self, node: Json) -> Reason | None:
        labels = node["metadata"]["labels"]
        if not self.satisfied(labels):
            return Reason(ALONE, resolvable=False)
        if any(self.own[pair] > 0 for pair in labels.items()):
            return Reason(OWN, resolvable=True)
        if any(self.others[pair] > 0 for pair in labels.items()):
            return Reason(OTHERS, resolvable=True)
        return None

    def satisfied(self, labels: Json) -> bool:
        wanted = terms(self.pod, "podAffinity")
        if any(term["topologyKey"] not in labels for term in wanted):
            return False
        if all(self.affinity[term["topologyKey"], labels[term["topologyKey"]]] > 0 for term in wanted):
            return True
        return not self.affinity and all(self.selects(term, self.pod) for term in wanted)


class Spread:
    """One incoming pod in a cluster of nodes and pods as JSON."""

    def __init__(self, pod: Json, nodes: Sequence[Json], placed: Sequence[Json]) -> None:
        self.pod, self.labels = pod, pod["metadata"]["labels"]
        every = pod["spec"].get("topologySpreadConstraints") or ()
        self.constraints = [c for c in every if c["whenUnsatisfiable"] == "DoNotSchedule"]
        self.counts: list[Counter[str]] = [Counter() for _ in self.constraints]
        for node in nodes:
            on_it = [p for p in placed if p["spec"]["nodeName"] == node["metadata"]["name"]]
            if all(c["topologyKey"] in node["metadata"]["labels"] for c in self.constraints):
                self.count(node, on_it)

    def count(self, node: Json, placed: Sequence[Json]) -> None:
        for counts, constraint in zip(self.counts, self.constraints, strict=True):
            if self.included(constraint, node):
                matching = sum(self.counted(constraint, pod) for pod in placed)
                counts[node["metadata"]["labels"][constraint["topologyKey"]]] += matching

    def included(self, constraint: Json, node: Json) -> bool:
        selected = (self.pod["spec"].get("nodeSelector") or {}).items() <= node["metadata"]["labels"].items()
        if constraint.get("nodeAffinityPolicy", "Honor") == "Honor" and not selected:
            return False
        tolerated = bool(self.pod["spec"].get("tolerations")) or not node["spec"].get("taints")
        return constraint.get("nodeTaintsPolicy", "Ignore") == "Ignore" or tolerated

    def counted(self, constraint: Json, pod: Json) -> bool:
        if not self.merged(constraint) or "deletionTimestamp" in pod["metadata"]:
            return False
        same = pod["metadata"]["namespace"] == self.pod["metadata"]["namespace"]
        return same and self.selects(constraint, pod["metadata"]["labels"])

    def merged(self, constraint: Json) -> list[Json]:
        """Requirements of the selector and of matchLabelKeys."""
        selector = constraint.get("labelSelector") or {}
        own = [(key, self.labels[key]) for key in constraint.get("matchLabelKeys") or () if key in self.labels]
        pairs = [*(selector.get("matchLabels") or {}).items(), *own]
        equal = [{"key": key, "operator": "In", "values": [value]} for key, value in pairs]
        return [*equal, *(selector.get("matchExpressions") or ())]

    def selects(self, constraint: Json, labels: Json) -> bool:
        return "labelSelector" in constraint and all(holds(e, labels) for e in self.merged(constraint))

    def reason(self, node: Json) -> Reason | None:
        for counts, constraint in zip(self.counts, self.constraints, strict=True):
            domain = node["metadata"]["labels"].get(constraint["topologyKey"])
            if domain is None:
                return Reason(UNLABELLED, resolvable=False)
            fewest = 0 if len(counts) < constraint.get("minDomains", 1) else min(counts.values(), default=MANY)
            if counts[domain] + self.selects(constraint, self.labels) - fewest > constraint["maxSkew"]:
                return Reason(SKEWED, resolvable=True)
        return None
