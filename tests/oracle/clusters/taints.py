"""Taints of nodes, and what pods tolerate."""

from __future__ import annotations

from tests.oracle.clusters.vocabulary import Json
from tests.oracle.source import Source

_KEYS = ("dedicated", "gpu", "node.kubernetes.io/unschedulable", "node.kubernetes.io/not-ready")
_VALUES = ("", "x", "y")
_EFFECTS = ("NoSchedule", "NoExecute", "PreferNoSchedule")


def taints(source: Source) -> list[Json]:
    found = {}
    for _ in range(source.integer(0, 3)):
        key, effect = source.pick(_KEYS[:2] if source.chance(80) else _KEYS), source.pick(_EFFECTS)
        taint: Json = {"key": key, "effect": effect}
        if value := source.pick(_VALUES):
            taint["value"] = value
        found[key, effect] = taint
    return list(found.values())


def tolerations(source: Source) -> list[Json]:
    return [_toleration(source) for _ in range(source.integer(1, 3))]


def _toleration(source: Source) -> Json:
    toleration: Json = {}
    if source.chance(85):
        toleration["key"] = source.pick(_KEYS)
    operator = source.pick(("Exists", "Equal", "")) if "key" in toleration else "Exists"
    if operator:
        toleration["operator"] = operator
    if operator == "Equal" and source.chance(2):
        # What clusters with the alpha feature for numbers in taints would have.
        return {**toleration, "operator": source.pick(("Gt", "Lt")), "value": "5"}
    if operator != "Exists" and (value := source.pick(_VALUES)):
        toleration["value"] = value
    if source.chance(60):
        toleration["effect"] = source.pick(_EFFECTS)
    if toleration.get("effect") == "NoExecute" and source.chance(30):
        toleration["tolerationSeconds"] = 30
    return toleration
