"""Verdicts as documents: what ``plimsoll explain --cluster FILE -o json`` prints, one per pending pod.

Each document:

    pod             namespace/name
    feasible        names of the nodes that it fits on, sorted
    nodes           by name: {code, reasons, filter}
                      code: kube-scheduler's: Success, Unschedulable (removing pods could help),
                            UnschedulableAndUnresolvable, Error (the pod cannot be judged)
                      filter: the plugin that refused; "" where none did
    message         the sentence of the FailedScheduling event; "" where the pod fits
    reason          of the PodScheduled condition: Unschedulable or SchedulerError; "" where the pod fits
    nominatedNode   where preemption would make room; "" where it would not
    victims         namespace/name of the pods that would give way, sorted
    nominating      what becomes of the pod's nominatedNodeName: set, clear or keep; "" where the pod fits
    scores          by term, then by feasible node: cost from 0 to 1, lower is better
    preferences     by kube-scheduler's plugin, then by feasible node: its normalised score from 0 to 100, higher is
                    better; what the term ``preferences`` is made of
    policy          the SchedulingPolicy that would place it; "" is the built-in default
    gates           the scheduling gates that hold it back, where there are any; it is judged as if they were lifted
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from plimsoll.reporting.fit import fit_message
from plimsoll.reporting.tables import Table
from plimsoll.reporting.text import listed
from plimsoll.scheduling.decision import Outcome
from plimsoll.scheduling.judgement import SUCCESS, Judgement

Json = dict[str, Any]

# More refusals than these are read by reason, not by node.
MAX_REFUSED_ROWS = 20
_DIGITS = re.compile(r"([0-9]+)")


def verdict_document(judgement: Judgement) -> Json:
    decision = judgement.decision
    fits = decision.outcome is Outcome.BIND
    document: Json = {
        "pod": decision.pod.key,
        "feasible": judgement.feasible,
        "nodes": {
            name: {"code": verdict.code, "reasons": list(verdict.reasons), "filter": verdict.plugin}
            for name, verdict in judgement.nodes.items()
        },
        "message": "" if fits else fit_message(decision),
        "reason": "" if fits else decision.outcome.value,
        "nominatedNode": decision.nominated_node or "",
        "victims": sorted(victim.key for victim in decision.victims),
        "nominating": "" if fits else _nominating(decision.nominated_node),
        "scores": {term: _rounded(costs) for term, costs in judgement.terms.items()},
        "preferences": {plugin: dict(scores) for plugin, scores in judgement.preferences.items()},
        "policy": decision.policy,
    }
    return document | ({"gates": list(decision.pod.gates)} if decision.pod.gates else {})


def _nominating(node: str | None) -> str:
    if node is None:
        return "keep"
    return "set" if node else "clear"


def verdict_sentences(document: Mapping[str, Any]) -> tuple[str, ...]:
    """The document in words: where the pod could go, or why it cannot, and who would give way."""
    feasible, total = document["feasible"], len(document["nodes"])
    if feasible:
        first = f"{document['pod']} fits on {len(feasible)} of {total} nodes"
    else:
        first = f"{document['pod']} fits on no node: {document['message']}"
    found = [first]
    if document["nominatedNode"]:
        found.append(f"Preemption would make room on {document['nominatedNode']}: {', '.join(document['victims'])}")
    if gates := document.get("gates"):
        found.append(f"Held back by scheduling gates: {', '.join(gates)}")
    return tuple(found)


def verdict_table(document: Mapping[str, Any]) -> Table:
    """Every node: its costs by term where the pod fits, else the filter and its reasons; the fitting ones first.

    Where many nodes refuse, these are left to ``refusal_table``.
    """
    terms, plugins = tuple(document["scores"]), _telling(document["preferences"])
    nodes = sorted(document["nodes"].items(), key=lambda item: (item[1]["code"] != SUCCESS, _natural(item[0])))
    if _many_refuse(document):
        nodes = nodes[: len(document["feasible"])]
    rows = tuple(
        (
            name,
            *(_cell(document["scores"][term], name, "{:.2f}") for term in terms),
            *(_cell(document["preferences"][plugin], name, "{}") for plugin in plugins),
            verdict["filter"] or "-",
            _reason(verdict) or "fits",
        )
        for name, verdict in nodes
    )
    return Table(("node", *terms, *plugins, "filter", "reason"), rows)


def refusal_table(document: Mapping[str, Any]) -> Table:
    """Where many nodes refuse: why, with some of them by name, the commonest reason first."""
    groups: dict[tuple[str, str], list[str]] = {}
    if _many_refuse(document):
        for name in sorted(document["nodes"], key=_natural):
            verdict = document["nodes"][name]
            if verdict["code"] != SUCCESS:
                groups.setdefault((verdict["filter"] or "-", _reason(verdict)), []).append(name)
    ordered = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
    rows = tuple((str(len(names)), plugin, reason, listed(names)) for (plugin, reason), names in ordered)
    return Table(("nodes", "filter", "reason", "for example"), rows)


def _many_refuse(document: Mapping[str, Any]) -> bool:
    return len(document["nodes"]) - len(document["feasible"]) > MAX_REFUSED_ROWS


def _reason(verdict: Mapping[str, Any]) -> str:
    return "; ".join(f"{n}x {text}" if n > 1 else text for text, n in Counter(verdict["reasons"]).items())


def verdict_legend(document: Mapping[str, Any]) -> tuple[str, ...]:
    """What the numbers of ``verdict_table`` mean, of those that it has."""
    lines = []
    if document["scores"]:
        lines.append(f"{', '.join(document['scores'])}: cost from 0 to 1, lower is better")
    if plugins := _telling(document["preferences"]):
        lines.append(f"{', '.join(plugins)}: score from 0 to 100, higher is better")
    return tuple(lines)


def _natural(name: str) -> tuple[tuple[int, str], ...]:
    """A key that puts node-2 before node-10."""
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in _DIGITS.split(name))


def _telling(preferences: Mapping[str, Mapping[str, int]]) -> tuple[str, ...]:
    """Plugins to which the nodes are not all alike: the others say nothing that helps to choose."""
    return tuple(plugin for plugin, scores in preferences.items() if len(set(scores.values())) > 1)


def _cell(values: Mapping[str, float], node: str, shape: str) -> str:
    return shape.format(values[node]) if node in values else "-"


def _rounded(costs: Mapping[str, float]) -> dict[str, float]:
    return {node: round(cost, 4) for node, cost in costs.items()}
