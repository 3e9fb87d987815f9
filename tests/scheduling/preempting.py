"""Preemption on values: nodes, pods and budgets in, what PostFilter says out. Sizes are those of upstream's tables."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import numpy as np

from plimsoll.cluster.cache import Cache
from plimsoll.cluster.kinds import KINDS
from plimsoll.filters.caches import FilterCaches
from plimsoll.filters.prepared import PodFilters, prepare_filters
from plimsoll.filters.run import run_filters
from plimsoll.policy.compiled import BUILT_IN
from plimsoll.scheduling.preemption.choosing import Candidate
from plimsoll.scheduling.preemption.post_filter import PostFilter, after_filters, after_problem
from plimsoll.scheduling.preemption.victims import DryRun
from tests.builders import NodeBuilder, PodBuilder, make_cache, make_node, make_pod

NEGATIVE, LOW, MIDDLE, HIGH, VERY_HIGH = -100, 0, 100, 1000, 10000
SMALL, MEDIUM, LARGE, VERY_LARGE = 1, 2, 3, 5


def node(name: str, size: int = VERY_LARGE) -> NodeBuilder:
    return make_node(name).offers(cpu=f"{size}00m", memory=f"{size}00", pods="32")


def pod(name: str, priority: int, size: int = 0, *, on: str = "", started_s: int | None = None) -> PodBuilder:
    made = make_pod(name).priority(priority)
    if size:
        made.cpu(f"{size}00m").memory(f"{size}00")
    if on:
        made.on(on)
    if started_s is not None:
        made.started(datetime.fromtimestamp(started_s, UTC).isoformat())
    return made


def budget(name: str = "guard", *, allowed: int = 0, disrupted: Iterable[str] = (), **labels: str) -> dict[str, Any]:
    return {
        "metadata": {"namespace": "default", "name": name},
        "spec": {"selector": {"matchLabels": labels}},
        "status": {"disruptionsAllowed": allowed, "disruptedPods": dict.fromkeys(disrupted, "2026-01-01T00:00:00Z")},
    }


def cluster(
    nodes: Iterable[NodeBuilder], pods: Iterable[PodBuilder] = (), budgets: Iterable[dict[str, Any]] = ()
) -> Cache:
    cache = make_cache(nodes, pods)
    kind = KINDS["PodDisruptionBudget"]
    for raw in budgets:
        cache.put_object(kind, kind.parse(raw))
    return cache


def filters_of(cache: Cache, incoming: PodBuilder) -> PodFilters:
    return prepare_filters(cache.view, incoming.info(), BUILT_IN)


def post_filter(cache: Cache, incoming: PodBuilder, *, seed: int = 1) -> PostFilter:
    """What happens after the incoming pod, which fits nowhere, was tried."""
    filters = filters_of(cache, incoming)
    if filters.problem is not None:
        return after_problem(filters)
    fit = run_filters(filters, FilterCaches())
    assert not fit.rows.any(), "the pod fits without preemption"
    return after_filters(filters, fit.refusals, rng=np.random.default_rng(seed))


def dry_runs(cache: Cache, incoming: PodBuilder) -> dict[str, Candidate]:
    """Every node on which preemption helps, whatever refused it before."""
    view = cache.view
    budgets = tuple(view.objects.all("PodDisruptionBudget"))
    run = DryRun(filters_of(cache, incoming), budgets)  # type: ignore[arg-type]
    found = {view.name(row): run.victims_on(row) for row, _ in view.live_nodes()}
    return {name: candidate for name, candidate in found.items() if isinstance(candidate, Candidate)}
