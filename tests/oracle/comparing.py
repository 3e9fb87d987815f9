"""Where Plimsoll's verdict on a pod and kube-scheduler's differ."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Json = Mapping[str, Any]

# kube-scheduler's plugins that judge by what pods and nodes say they prefer; the others weigh resources, which
# Plimsoll's load and requests terms do in their own way.
SOFT = ("TaintToleration", "NodeAffinity", "PodTopologySpread", "InterPodAffinity", "ImageLocality")
_LEFT_OUT = "node(s) didn't satisfy plugin(s)"


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One difference.

    Attributes:
        field: feasible, code, reasons, filter, message, reason, nominating, preemption, or ``score <plugin>``.
        where: the node it is about; "" for the pod as a whole.
    """

    pod: str
    field: str
    where: str
    ours: Any
    theirs: Any

    def __str__(self) -> str:
        at = f" on {self.where}" if self.where else ""
        return f"{self.pod}{at}: {self.field}\n      ours: {self.ours}\n    theirs: {self.theirs}"


def compare(ours: Json | None, theirs: Json) -> list[Disagreement]:
    """Empty where both say the same."""
    if ours is None:
        return [Disagreement(theirs["pod"], "feasible", "", "the pod cannot be read", theirs["feasible"])]
    return [*_by_node(ours, theirs), *_as_a_whole(ours, theirs), *_scores(ours, theirs)]


def _by_node(ours: Json, theirs: Json) -> Iterator[Disagreement]:
    for node in sorted({*ours["nodes"], *theirs["nodes"]}):
        mine, other = _verdict(ours, node), _verdict(theirs, node)
        for field in ("code", "filter", "reasons"):
            if mine[field] != other[field]:
                yield Disagreement(theirs["pod"], field, node, mine[field], other[field])


def _verdict(document: Json, node: str) -> Json:
    verdict = document["nodes"].get(node) or {"code": "no verdict", "reasons": [], "filter": ""}
    # Of a node that a PreFilter left out no filter is asked; the sentence has the plugin's name.
    left_out = any(reason.startswith(_LEFT_OUT) for reason in verdict["reasons"])
    # In which order one filter gives its reasons says nothing: sentences are made of their counts.
    return {**verdict, "filter": "" if left_out else verdict["filter"], "reasons": sorted(verdict["reasons"])}


def _as_a_whole(ours: Json, theirs: Json) -> Iterator[Disagreement]:
    if sorted(ours["feasible"]) != sorted(theirs["feasible"]):
        yield Disagreement(theirs["pod"], "feasible", "", sorted(ours["feasible"]), sorted(theirs["feasible"]))
    for field in ("message", "reason", "nominating"):
        if ours[field] != theirs[field]:
            yield Disagreement(theirs["pod"], field, "", ours[field], theirs[field])
    if (mine := preemption(ours)) not in (allowed := outcomes(theirs)):
        yield Disagreement(theirs["pod"], "preemption", "", mine, allowed)


def preemption(document: Json) -> tuple[str, tuple[str, ...]]:
    """Nominated node and victims, in an order of their own."""
    return document["nominatedNode"] or "", tuple(sorted(document["victims"]))


def outcomes(theirs: Json) -> list[tuple[str, tuple[str, ...]]]:
    """What the judge's runs came to; one where kube-scheduler's choice is deterministic."""
    runs = ((node, tuple(sorted(victims))) for node, victims in theirs.get("alternatives") or ())
    return sorted({preemption(theirs), *runs})


def pairs(theirs: Json, plugin: str) -> Iterator[tuple[str, str]]:
    """Better and worse, of the feasible nodes that kube-scheduler's normalised scores hold apart by more than 1."""
    scores = (theirs.get("scores") or {}).get(plugin) or {}
    for better, worse in itertools.permutations(sorted(scores), 2):
        if scores[better] > scores[worse] + 1:
            yield better, worse


def _scores(ours: Json, theirs: Json) -> Iterator[Disagreement]:
    for plugin in SOFT:
        mine = ours["preferences"].get(plugin) or {}
        for better, worse in pairs(theirs, plugin):
            if not mine.get(better, 0) > mine.get(worse, 0):
                yield Disagreement(theirs["pod"], f"score {plugin}", "", mine, theirs["scores"][plugin])
                break
