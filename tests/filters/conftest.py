"""Filters over a handful of nodes, read back by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import pytest

from plimsoll.filters.caches import FilterCaches
from plimsoll.filters.prepared import prepare_filters
from plimsoll.filters.run import Feasibility, run_filters
from plimsoll.policy.compiled import BUILT_IN, Policy
from tests.builders import NodeBuilder, PodBuilder, make_cache


@dataclass(frozen=True)
class Fit:
    """Node names: that fit, by reason, and by reason those where removing pods could help."""

    nodes: set[str]
    refused: dict[str, set[str]]
    resolvable: dict[str, set[str]]
    plugins: list[str]
    problem: str


FitOf = Callable[..., Fit]


def fit_of(
    pod: PodBuilder, nodes: Iterable[NodeBuilder], pods: Iterable[PodBuilder] = (), policy: Policy = BUILT_IN
) -> Fit:
    view = make_cache(nodes, pods).view
    filters = prepare_filters(view, pod.info(), policy)
    found = Feasibility(np.zeros(view.size, bool), ()) if filters.problem else run_filters(filters, FilterCaches())

    def names(rows: Iterable[bool]) -> set[str]:
        return {view.name(row) for row, there in enumerate(rows) if there}

    return Fit(
        nodes=names(found.rows),
        refused={r.reason: names(r.rows) for r in found.refusals},
        resolvable={r.reason: names(r.resolvable) for r in found.refusals},
        plugins=[r.plugin for r in found.refusals],
        problem=filters.problem.message if filters.problem else "",
    )


@pytest.fixture(name="fit_of")
def _fit_of() -> FitOf:
    return fit_of
