"""What pods ask of other pods: topology spread, affinity and anti-affinity."""

from __future__ import annotations

from tests.oracle.clusters.vocabulary import (
    NAMESPACE_LABELS,
    NAMESPACES,
    POD_KEYS,
    POD_VALUES,
    TOPOLOGY_KEYS,
    Json,
    label_selector,
)
from tests.oracle.source import Source

_REQUIRED, _PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)


def spread(source: Source, pod_labels: dict[str, str]) -> list[Json]:
    found = {}
    for _ in range(source.integer(1, 2)):
        constraint = _constraint(source, pod_labels)
        found[constraint["topologyKey"], constraint["whenUnsatisfiable"]] = constraint
    return list(found.values())


def _constraint(source: Source, pod_labels: dict[str, str]) -> Json:
    unsatisfiable = "DoNotSchedule" if source.chance(65) else "ScheduleAnyway"
    constraint: Json = {
        "topologyKey": source.pick(TOPOLOGY_KEYS),
        "maxSkew": source.pick((1, 1, 2, 3)),
        "whenUnsatisfiable": unsatisfiable,
    }
    if source.chance(90):
        constraint["labelSelector"] = label_selector(source, POD_VALUES)
    if unsatisfiable == "DoNotSchedule" and source.chance(25):
        constraint["minDomains"] = source.integer(1, 4)
    if source.chance(30):
        constraint["nodeAffinityPolicy"] = source.pick(("Honor", "Ignore"))
    if source.chance(30):
        constraint["nodeTaintsPolicy"] = source.pick(("Honor", "Ignore"))
    if "labelSelector" in constraint and source.chance(25):
        _match_label_keys(source, constraint, pod_labels, "matchLabelKeys", "In")
    return constraint


def _match_label_keys(source: Source, holder: Json, pod_labels: dict[str, str], field: str, operator: str) -> None:
    """With what the API server adds to the selector when the pod is created; a key in the selector is refused."""
    selector = holder["labelSelector"]
    said = {*selector.get("matchLabels", {}), *(e["key"] for e in selector.get("matchExpressions", ()))}
    keys = [key for key in POD_KEYS if key not in said]
    if not keys:
        return
    key = source.pick(keys)
    holder[field] = [key]
    if key in pod_labels:
        requirement = {"key": key, "operator": operator, "values": [pod_labels[key]]}
        holder["labelSelector"] = {
            **selector,
            "matchExpressions": [*selector.get("matchExpressions", ()), requirement],
        }


def pod_affinity(source: Source, pod_labels: dict[str, str]) -> Json:
    """``podAffinity`` and ``podAntiAffinity``, required and preferred."""
    affinity: Json = {}
    for kind in source.some(("podAffinity", "podAntiAffinity"), at_least=1):
        held: Json = {}
        if source.chance(65):
            held[_REQUIRED] = [_term(source, pod_labels) for _ in range(1 + source.chance(25))]
        if not held or source.chance(35):
            held[_PREFERRED] = [
                {"weight": source.pick((1, 10, 100)), "podAffinityTerm": _term(source, pod_labels)}
                for _ in range(source.integer(1, 2))
            ]
        affinity[kind] = held
    return affinity


def _term(source: Source, pod_labels: dict[str, str]) -> Json:
    term: Json = {"topologyKey": source.pick(TOPOLOGY_KEYS)}
    if source.chance(93):
        term["labelSelector"] = label_selector(source, POD_VALUES)
    if source.chance(25):
        term["namespaces"] = source.some(NAMESPACES, at_least=1, at_most=2)
    if source.chance(30):
        term["namespaceSelector"] = label_selector(source, NAMESPACE_LABELS)
    if "labelSelector" in term and source.chance(15):
        _match_label_keys(
            source, term, pod_labels, *source.pick((("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")))
        )
    return term
