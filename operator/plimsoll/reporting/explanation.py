"""Decisions as documents: what ``GET /debug/decisions?pod=<namespace>/<name>`` answers.

    {"pod": "default/web-1", "decisions": [<the newest>, ...]}

Each decision:

    pod, uid            whose
    outcome             Bind, Unschedulable or SchedulerError
    policy              the policy's name, "" is the built-in default; and policyGeneration
    decidedAt           RFC 3339 with microseconds
    nodes               {total, feasible}
    node, score         where to (outcome Bind), score 0..100
    waitsFor            claims (namespace/name) that must be bound, or reserved for the pod, before it is bound itself;
                        while it waits for any
    bound               false where the pod was not bound after all: its preparation or its Binding failed
    runnerUp            {node, score}, where there was one
    best                up to ten feasible nodes, best first:
                          node, score
                          terms: cost by term, 0..1, lower is better
                          preferences: kube-scheduler's score by plugin, 0..100, of those that tell the nodes apart
                          readings: measured percent by metric, null where missing
                          projected: percent by metric, with pods in flight and this pod added
                          sampleTime, sampleAgeSeconds: of the oldest reading, at the time of the decision
    readingsTime        when the readings that were used were taken
    overloaded          true where every fit node was above the policy's limits and the least loaded was taken
    loadSetAside        why metrics did not count, where they did not
    ignored             annotations of the pod that do not parse and were set aside, each with the reason, where any
    message             (not bound) the sentence of the FailedScheduling event
    reasons             (not bound) [{count, reason, plugin, resolvable, examples}], most nodes first
    nominatedNode       (not bound) where preemption makes room, where it does
    victims             (not bound) pods (namespace/name) that must go for it, the most important first

A decision that was read back from the pod's annotation has what that holds, and ``from: annotation``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from plimsoll.cluster.times import timestamp, timestamp_micro
from plimsoll.reporting.annotation import DecisionNote
from plimsoll.reporting.fit import fit_message
from plimsoll.scheduling.decision import Decision, NodeScore, Outcome, Rejection

Json = dict[str, Any]


def explanation(pod_key: str, decisions: Iterable[Decision]) -> Json:
    """Every kept decision about one pod (``namespace/name``), newest first."""
    newest_first = sorted(decisions, key=lambda d: d.decided_at_s, reverse=True)
    return {"pod": pod_key, "decisions": [decision_document(decision) for decision in newest_first]}


def decision_document(decision: Decision) -> Json:
    document: Json = {
        "pod": decision.pod.key,
        "uid": decision.pod.uid,
        "outcome": decision.outcome.value,
        "policy": decision.policy,
        "policyGeneration": decision.policy_generation,
        "decidedAt": timestamp_micro(decision.decided_at_s),
        "nodes": {"total": decision.nodes, "feasible": decision.feasible},
        "best": [_node(score, decision.decided_at_s) for score in decision.best],
    }
    if decision.readings_at_s is not None:
        document["readingsTime"] = timestamp(decision.readings_at_s)
    if decision.overloaded:
        document["overloaded"] = True
    if decision.load_set_aside:
        document["loadSetAside"] = decision.load_set_aside
    if decision.pod.ignored:
        document["ignored"] = list(decision.pod.ignored)
    return document | (_placed(decision) if decision.outcome is Outcome.BIND else _refused(decision))


def annotation_document(pod_key: str, note: DecisionNote) -> Json:
    """What is left to say about a bound pod when no process remembers the decision."""
    document: Json = {"pod": pod_key, "outcome": Outcome.BIND.value, "from": "annotation"}
    document |= {"policy": note.policy, "node": note.node, "score": note.score}
    best: list[Json] = []
    if note.node is not None:
        best.append({"node": note.node, "score": note.score, "readings": dict(note.readings)})
    if note.runner_up is not None:
        document["runnerUp"] = {"node": note.runner_up, "score": note.runner_up_score}
        best.append(document["runnerUp"])
    if note.readings_at_s is not None:
        document["readingsTime"] = timestamp(note.readings_at_s)
    return document | {"best": best}


def _placed(decision: Decision) -> Json:
    placed: Json = {"node": decision.node, "score": round(decision.score, 1)}
    if decision.bound is False:
        placed["bound"] = False
    if decision.bound is None and decision.prepare:
        claims = [claim.key for claim in decision.prepare.claims]
        placed["waitsFor"] = claims + [claim.key for claim in decision.prepare.reservations]
    if runner_up := decision.runner_up:
        placed["runnerUp"] = {"node": runner_up.node, "score": round(runner_up.score, 1)}
    return placed


def _refused(decision: Decision) -> Json:
    most_first = sorted(decision.rejections, key=lambda r: (-r.count, r.reason))
    refused: Json = {"message": fit_message(decision), "reasons": [_reason(rejection) for rejection in most_first]}
    if decision.nominated_node:
        refused["nominatedNode"] = decision.nominated_node
        refused["victims"] = [victim.key for victim in decision.victims]
    return refused


def _reason(rejection: Rejection) -> Json:
    return {
        "count": rejection.count,
        "reason": rejection.reason,
        "plugin": rejection.plugin,
        "resolvable": rejection.resolvable,
        "examples": list(rejection.examples),
    }


def _node(scored: NodeScore, decided_at_s: float) -> Json:
    row: Json = {
        "node": scored.node,
        "score": round(scored.score, 1),
        "terms": {term: round(cost, 3) for term, cost in scored.terms.items()},
        "readings": dict(scored.readings),
        "projected": dict(scored.projected),
    }
    if scored.preferences:
        row["preferences"] = dict(scored.preferences)
    if scored.sampled_at_s is not None:
        row["sampleTime"] = timestamp(scored.sampled_at_s)
        row["sampleAgeSeconds"] = round(decided_at_s - scored.sampled_at_s, 1)
    return row
