"""Decisions and overviews to report on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from plimsoll.load.readings import MetricReadings, Oddities, Readings, ReadingState
from plimsoll.policy.compiled import Metric, Policy, PrometheusSource
from plimsoll.scheduling.decision import Decision, NodeScore, Outcome
from plimsoll.scheduling.overview import NodeLoad, PolicyOverview
from tests.builders import make_pod

NOW_S = 1_767_225_600.0  # 2026-01-01T00:00:00Z


def _bound(**changes: Any) -> Decision:
    best = (
        NodeScore(
            node="node-7",
            score=91.24,
            terms={"load": 0.06, "requests": 0.2, "spreading": 0.0},
            readings={"networkReceive": 4, "memory": 30, "cpu": None},
            projected={"networkReceive": 9, "memory": 34, "cpu": 12},
            sampled_at_s=NOW_S - 12,
        ),
        NodeScore(node="node-3", score=88.0, terms={"load": 0.1}, readings={"networkReceive": 7}),
    )
    fields: dict[str, Any] = {
        "pod": make_pod("web-1").info(),
        "outcome": Outcome.BIND,
        "policy": "network-first",
        "policy_generation": 3,
        "decided_at_s": NOW_S,
        "nodes": 12,
        "feasible": 12,
        "node": "node-7",
        "score": 91.24,
        "best": best,
        "readings_at_s": NOW_S - 10,
    }
    return Decision(**(fields | changes))


def _refused(**changes: Any) -> Decision:
    fields: dict[str, Any] = {
        "pod": make_pod("web-1").info(),
        "outcome": Outcome.UNSCHEDULABLE,
        "policy": "",
        "policy_generation": 0,
        "decided_at_s": NOW_S,
        "nodes": 5,
        "feasible": 0,
    }
    return Decision(**(fields | changes))


def _node(
    name: str, *, score: float | None = 50.0, state: ReadingState = ReadingState.OK, **metrics: int | None
) -> NodeLoad:
    sampled_at_s = None if state is ReadingState.MISSING else NOW_S - 15
    return NodeLoad(node=name, score=score, state=state, metrics=metrics, sampled_at_s=sampled_at_s)


def _readings(
    *, failures: Mapping[str, str] | None = None, oddities: Oddities | None = None, taken_at_s: float = NOW_S - 5
) -> Readings:
    one = np.array([0.5])
    metric = MetricReadings(one, one, one, one, 300.0, np.array([ReadingState.OK], dtype=np.int8))
    return Readings(
        id=1,
        taken_at_s=taken_at_s,
        nodes=("node-1",),
        metrics={"memory": metric},
        failures=failures or {},
        oddities=oddities or Oddities(),
    )


def _overview(*nodes: NodeLoad, **changes: Any) -> PolicyOverview:
    policy_changes = {key: changes.pop(key) for key in list(changes) if key not in PolicyOverview.__slots__}
    fields: dict[str, Any] = {
        "policy": Policy(
            **(
                {
                    "name": "network-first",
                    "uid": "uid-policy",
                    "generation": 4,
                    "metrics": (Metric("networkReceive", 3), Metric("memory", 1)),
                    "source": PrometheusSource(url="http://prometheus:9090"),
                }
                | policy_changes
            )
        ),
        "taken_at_s": NOW_S,
        "nodes": nodes,
        "states": Counter(node.state for node in nodes),
        "readings": _readings(),
        "load_set_aside": "",
        "bound": 0,
        "pending": 0,
    }
    return PolicyOverview(**(fields | changes))


@pytest.fixture(scope="session")
def now_s() -> float:
    return NOW_S


@pytest.fixture(scope="session")
def bound() -> Callable[..., Decision]:
    """A decision that binds default/web-1 to node-7."""
    return _bound


@pytest.fixture(scope="session")
def refused() -> Callable[..., Decision]:
    """A decision that found no node among five."""
    return _refused


@pytest.fixture(scope="session")
def node() -> Callable[..., NodeLoad]:
    return _node


@pytest.fixture(scope="session")
def readings() -> Callable[..., Readings]:
    return _readings


@pytest.fixture(scope="session")
def overview() -> Callable[..., PolicyOverview]:
    """``overview(node, ..., bound=3, mode=...)``: fields of the overview, and of its policy."""
    return _overview
