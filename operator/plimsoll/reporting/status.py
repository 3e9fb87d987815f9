"""The ``.status`` of a SchedulingPolicy, as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from plimsoll.cluster.times import timestamp
from plimsoll.errors import PolicyError
from plimsoll.load.readings import Readings, ReadingState
from plimsoll.load.verdicts import WHOLE_SOURCE
from plimsoll.policy.compiled import Policy, PrometheusSource
from plimsoll.reporting.policy_conditions import Condition, conditions, invalid
from plimsoll.reporting.preflight import preflight_conditions
from plimsoll.scheduling.observing import Observed
from plimsoll.scheduling.overview import NodeLoad, PolicyOverview

Json = dict[str, Any]

# The object must not grow with the cluster: etcd holds it, and every watcher is sent it at each refresh.
MAX_SCORES = 100
_EXAMPLE_MAX = 512
_STATES = {ReadingState.OK: "Fresh", ReadingState.STALE: "Stale", ReadingState.MISSING: "Missing"}


def policy_status(overview: PolicyOverview, *, previous: Mapping[str, Any] | None, now_s: float) -> Json:
    """The whole status; absent keys are things that are not known, never zeroes.

    ``previous`` is the status as last read or written; transition times are kept from it.
    """
    policy, readings, shown = overview.policy, overview.readings, overview.nodes[:MAX_SCORES]
    told = (*conditions(overview), *preflight_conditions(overview))
    status: Json = {
        "observedGeneration": policy.generation,
        "conditions": _conditions(told, generation=policy.generation, previous=previous, now_s=now_s),
        "nodes": _node_counts(overview),
        "bound": overview.bound,
        "pending": overview.pending,
        "scores": [_row(node) for node in shown],
    }
    if source := _source(policy):
        status["source"] = source
    if refreshed := _refreshed(readings, previous):
        status["lastRefreshTime"] = refreshed
    if readings is not None and isinstance(policy.source, PrometheusSource):
        status["unmappedSeries"] = _unmapped(readings)
    if overview.observed is not None:
        status |= _observed(overview.observed)
    if best := next((node for node in shown if node.score is not None), None):
        status["best"] = {"node": best.node, "score": _whole(best.score)}
    return status


def invalid_status(*, generation: int, error: PolicyError, previous: Mapping[str, Any] | None, now_s: float) -> Json:
    """Of an object that does not parse; nothing of an earlier generation stays, to be taken for current."""
    told = _conditions(invalid(error), generation=generation, previous=previous, now_s=now_s)
    return {"observedGeneration": generation, "conditions": told}


def _conditions(
    wanted: Iterable[Condition], *, generation: int, previous: Mapping[str, Any] | None, now_s: float
) -> list[Json]:
    before = {c.get("type"): c for c in (previous or {}).get("conditions") or ()}
    return [c.to_json(generation=generation, previous=before.get(c.type), now_s=now_s) for c in wanted]


def _source(policy: Policy) -> str | None:
    if policy.source is not None:
        return policy.source.kind
    # One that may not be asked yet is named nevertheless; of one that is invalid nothing is known.
    waits = any(path.startswith("spec.metricsSource.prometheus") for path in policy.not_yet_enforced)
    return PrometheusSource.kind if waits else None


def _refreshed(readings: Readings | None, previous: Mapping[str, Any] | None) -> str | None:
    """When the source last answered: a refresh without any answer leaves the time of the one before."""
    if readings is None or WHOLE_SOURCE in readings.failures:
        return (previous or {}).get("lastRefreshTime")
    return timestamp(readings.taken_at_s)


def _node_counts(overview: PolicyOverview) -> Json:
    counts, total = overview.states, len(overview.nodes)
    return {
        "total": total,
        "fresh": counts[ReadingState.OK],
        "stale": counts[ReadingState.STALE],
        "missing": counts[ReadingState.MISSING],
        "summary": f"{counts[ReadingState.OK]}/{total}",
    }


def _unmapped(readings: Readings) -> Json:
    found: Json = {"count": readings.oddities.counts.get("Unmapped", 0)}
    if example := readings.oddities.examples.get("Unmapped"):
        found["example"] = example[:_EXAMPLE_MAX]
    return found


def _observed(observed: Observed) -> Json:
    worst = observed.worst
    told = {"pod": worst.pod, "node": worst.node, "best": worst.best, "regret": _whole(worst.points)}
    return {"regret": _whole(observed.mean), "observed": observed.count, "worst": told}


def _row(node: NodeLoad) -> Json:
    row: Json = {"node": node.node, "state": _STATES[node.state]}
    if node.score is not None:
        row["score"] = _whole(node.score)
    if node.sampled_at_s is not None:
        row["sampleTime"] = timestamp(node.sampled_at_s)
    if known := {metric: percent for metric, percent in node.metrics.items() if percent is not None}:
        row["metrics"] = known
    return row


def _whole(score: float | None) -> int:
    assert score is not None
    return round(score)
