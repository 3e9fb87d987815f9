"""Explanations as plain tables of text: from the documents, so that a command line far away can show them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.policy.compiled import BUILT_IN_METRICS
from plimsoll.reporting.text import listed

Json = Mapping[str, Any]

# More metrics than these do not fit beside each other in 100 columns; the document has them all.
MAX_METRIC_COLUMNS = 4
_UNKNOWN = "-"


@dataclass(frozen=True, slots=True)
class Table:
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def node_table(decision: Json) -> Table:
    """The best nodes: which was chosen, score, cost by term, ``measured->projected`` percent, sample age."""
    nodes = decision.get("best") or ()
    terms, metrics = _keys(nodes, "terms"), _keys(nodes, "readings", "projected")[:MAX_METRIC_COLUMNS]
    columns = ("", "node", "score", *terms, *map(_spaced, metrics), "age")
    return Table(columns, tuple(_row(node, terms, metrics, decision.get("node")) for node in nodes))


def legend(decision: Json) -> tuple[str, ...]:
    """What the columns of ``node_table`` mean, of those that it has."""
    nodes = decision.get("best") or ()
    lines = []
    if terms := _keys(nodes, "terms"):
        lines.append(f"{', '.join(terms)}: cost from 0 to 1, lower is better")
    if _keys(nodes, "projected"):
        lines.append("metrics: percent measured->percent with pods in flight and this one")
    elif _keys(nodes, "readings"):
        lines.append("metrics: percent measured")
    return tuple(lines)


def reason_table(decision: Json) -> Table:
    """Why nodes were refused, with some of them by name."""
    rows = tuple(
        (str(r["count"]), str(r["reason"]), listed(r["examples"], of=int(r["count"])))
        for r in decision.get("reasons") or ()
    )
    return Table(("nodes", "reason", "for example"), rows)


def headline(decision: Json) -> str:
    """The decision in one sentence."""
    by = f"policy {decision['policy']}" if decision.get("policy") else "the built-in default policy"
    if decision.get("outcome") == "SchedulerError" and not decision.get("policy"):
        by = "no policy"  # none was asked: the pod could not be decided on at all
    when = f" at {decision['decidedAt'].split('.')[0]}Z" if decision.get("decidedAt") else ""
    if decision.get("outcome") != "Bind":
        return f"{decision['pod']} was not placed{when} ({by}, {decision['outcome']}): {decision['message']}"
    runner_up = decision.get("runnerUp")
    second = f"; runner-up {runner_up['node']} ({_score(runner_up.get('score'))})" if runner_up else ""
    chosen = f"{decision.get('node') or 'a node'} (score {_score(decision.get('score'))})"
    if decision.get("bound") is False:
        return f"{decision['pod']} was not bound to {chosen}, chosen{when} by {by}; its events say why{second}"
    if claims := decision.get("waitsFor"):
        waits = f"is reserved on {chosen} and waits for {_counted('claim', claims)}"
        return f"{decision['pod']} {waits} (decided{when} by {by}{second})"
    return f"{decision['pod']} was placed on {chosen}{when} by {by}{second}"


def remarks(decision: Json) -> tuple[str, ...]:
    """What a reader of the scores must know besides."""
    found = []
    if node := decision.get("nominatedNode"):
        found.append(_makes_room(node, decision.get("victims") or ()))
    if decision.get("overloaded"):
        found.append("Every fit node was above the policy's limits; the least loaded was taken.")
    if _best_by_chance(decision):
        found.append("Nodes within 1 point of the best are as good; one of them was taken at random.")
    if decision.get("loadSetAside"):
        found.append(f"Metrics did not count: {decision['loadSetAside']}")
    found.extend(f"Set aside: {problem}." for problem in decision.get("ignored") or ())
    if decision.get("readingsTime"):
        found.append(f"The newest reading is of {decision['readingsTime']}.")
    if len(hidden := _keys(decision.get("best") or (), "readings", "projected")[MAX_METRIC_COLUMNS:]):
        found.append(f"Not shown here: {', '.join(hidden)}; -o json has every metric.")
    return tuple(found)


def _makes_room(node: str, victims: Sequence[str]) -> str:
    if not victims:
        return f"The pod is nominated to {node}, and waits for room there."
    goes = "them to go" if len(victims) > 1 else "it to go"
    return f"Preemption makes room on {node}: {listed(victims, at_most=10)}; the pod waits for {goes}."


def _counted(noun: str, names: Sequence[str]) -> str:
    return f"{noun}{'s' if len(names) > 1 else ''} {listed(names, at_most=10)}"


def _best_by_chance(decision: Json) -> bool:
    """Whether a reader would wonder why another node has the higher score."""
    chosen, second = decision.get("score"), (decision.get("runnerUp") or {}).get("score")
    return not decision.get("overloaded") and chosen is not None and second is not None and second > chosen


def _row(node: Json, terms: Iterable[str], metrics: Iterable[str], chosen: str | None) -> tuple[str, ...]:
    costs, readings = node.get("terms") or {}, node.get("readings") or {}
    projected = node.get("projected") or {}
    return (
        "*" if node["node"] == chosen else "",
        str(node["node"]),
        _score(node.get("score")),
        *(f"{costs[term]:.2f}" if term in costs else _UNKNOWN for term in terms),
        *(_load(readings.get(metric), projected.get(metric)) for metric in metrics),
        _age(node.get("sampleAgeSeconds")),
    )


def _keys(nodes: Iterable[Json], *fields: str) -> list[str]:
    """Every key that some node has, in the order of first appearance."""
    return list(dict.fromkeys(key for node in nodes for field in fields for key in node.get(field) or ()))


def _load(measured: int | None, projected: int | None) -> str:
    if projected is None:
        return _UNKNOWN if measured is None else str(measured)
    return f"{'?' if measured is None else measured}->{projected}"


def _score(score: float | None) -> str:
    return _UNKNOWN if score is None else f"{score:.1f}"


def _age(age_s: float | None) -> str:
    return _UNKNOWN if age_s is None else f"{age_s:.0f}s"


def _spaced(metric: str) -> str:
    """``networkReceive`` as ``network receive``, so that a narrow column can break the line; custom ones as named."""
    if metric not in BUILT_IN_METRICS:
        return metric
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in metric)
