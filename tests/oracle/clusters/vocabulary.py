"""Few words, so that what one object says concerns others."""

from __future__ import annotations

from typing import Any

from tests.oracle.source import Source

Json = dict[str, Any]

SCHEDULER = "default-scheduler"
HOSTNAME, ZONE, REGION = "kubernetes.io/hostname", "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"
ZONES = ("eu-west-a", "eu-west-b", "us-east-a")
TOPOLOGY_KEYS = (ZONE, HOSTNAME, "rack")
NODE_KEYS = ("disk", "gen", "rack")
NODE_VALUES: dict[str, tuple[str, ...]] = {
    "disk": ("ssd", "hdd", ""),
    "gen": ("1", "2", "10", "007", "x"),
    "rack": ("r1", "r2", "r3"),
    ZONE: ZONES,
}
POD_KEYS = ("app", "tier")
POD_VALUES: dict[str, tuple[str, ...]] = {"app": ("web", "db"), "tier": ("front", "back", "")}
NAMESPACES = ("default", "team", "other")
NAMESPACE_LABELS: dict[str, tuple[str, ...]] = {"env": ("prod", "dev")}


def node_name(i: int) -> str:
    return f"n{i}"


def time_at(second: int) -> str:
    return f"2026-01-01T00:{second // 60:02d}:{second % 60:02d}Z"


def labels(source: Source, words: dict[str, tuple[str, ...]], *, percent: int = 70) -> dict[str, str]:
    return {key: source.pick(values) for key, values in words.items() if source.chance(percent)}


def label_selector(source: Source, words: dict[str, tuple[str, ...]]) -> Json:
    """metav1.LabelSelector: matchLabels, every operator, now and then empty."""
    if source.chance(8):
        return {}
    selector: Json = {}
    if source.chance(60):
        key = source.pick(tuple(words))
        selector["matchLabels"] = {key: source.pick(words[key])}
    if not selector or source.chance(25):
        selector["matchExpressions"] = [_expression(source, words) for _ in range(source.integer(1, 2))]
    return selector


def _expression(source: Source, words: dict[str, tuple[str, ...]]) -> Json:
    key = source.pick(tuple(words))
    operator = source.pick(("In", "NotIn", "Exists", "DoesNotExist"))
    expression: Json = {"key": key, "operator": operator}
    if operator in {"In", "NotIn"}:
        expression["values"] = source.some(words[key], at_least=1, at_most=2)
    return expression
