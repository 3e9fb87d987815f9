from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from plimsoll.load.metrics_server_readings import readings_from_metrics_server
from plimsoll.load.preflight import FindingKind, Preflight
from plimsoll.load.samples import MetricsServerAnswers, NodeUsage
from plimsoll.policy.compiled import CPU, MEMORY, NETWORK_RECEIVE, MetricsServerSource, Policy
from tests.load.answers import NOW_S, policy_of
from tests.load.trials import kinds, many

GI = float(2**30)
POLICY = policy_of(CPU, source=MetricsServerSource())


def usage(node: str, **fields: Any) -> NodeUsage:
    usual = {"sampled_at_s": NOW_S - 20, "window_s": 15.0, "cpu_cores": 4.0, "mem_bytes": 16 * GI}
    return NodeUsage(node=node, **{**usual, **fields})


def tried(*usages: NodeUsage, policy: Policy = POLICY, before: Preflight | None = None, count: int = 2) -> Preflight:
    def read(*told: NodeUsage) -> Any:
        answers = MetricsServerAnswers(asked_at_s=NOW_S, usages=told)
        infos = [node.info() for node in many(count)]
        return readings_from_metrics_server(policy=policy, nodes=infos, answers=answers, readings_id=1)

    readings = read(*usages)
    if before is not None:
        answers = MetricsServerAnswers(asked_at_s=NOW_S, usages=usages)
        previous = replace(read(), preflight=before)
        infos = [node.info() for node in many(count)]
        readings = readings_from_metrics_server(
            policy=policy, nodes=infos, answers=answers, readings_id=2, previous=previous
        )
    assert readings.preflight is not None
    found: Preflight = readings.preflight
    return found


def test_what_works_is_told() -> None:
    found = tried(usage("node-1"), usage("node-2"), policy=policy_of(CPU, MEMORY, source=MetricsServerSource()))
    assert found.findings == ()
    assert [(t.metric, t.series, t.nodes, t.example) for t in found.tried] == [
        (CPU, 2, 2, "node-1 at about 25 %"),
        (MEMORY, 2, 2, "node-1 at about 25 %"),
    ]


@pytest.mark.parametrize(
    ("other", "kind", "want"),
    [
        pytest.param(
            None,
            FindingKind.NODES_WITHOUT_SERIES,
            "1 of 2 nodes have no series, e.g. node-2: metrics-server needs two scrapes of a node; if it stays so,",
            id="a node that is not there",
        ),
        pytest.param(
            usage("node-2", sampled_at_s=math.nan), FindingKind.NODES_WITHOUT_SERIES, "e.g. node-2", id="no time"
        ),
        pytest.param(
            usage("node-2", cpu_cores=40 * 16.0),
            FindingKind.IMPOSSIBLE_VALUES,
            "node-2 is at about 4000 % of 16 cores, which status.capacity of the node says it has",
            id="more cores than there are",
        ),
    ],
)
def test_what_is_wrong_with_a_node_is_told(other: NodeUsage | None, kind: FindingKind, want: str) -> None:
    found = tried(usage("node-1"), *((other,) if other else ()))
    assert kinds(found) == [kind]
    assert want in found.findings[0].text


def test_a_window_that_is_longer_than_the_time_range_is_told() -> None:
    policy = replace(POLICY, time_range_s=30.0)
    found = tried(usage("node-1", window_s=60.2), usage("node-2", window_s=59.9), policy=policy)
    assert kinds(found) == [FindingKind.TOO_FEW_SAMPLES]
    assert found.findings[0].text == (
        "metrics-server averages over 1m, longer than spec.timeRange 30s: set spec.timeRange to 1m or more, or"
        " metrics-server's --metric-resolution to 30s or less."
    )


def test_what_metrics_server_cannot_know_fails() -> None:
    policy = policy_of(CPU, NETWORK_RECEIVE, source=MetricsServerSource())
    found = tried(usage("node-1"), usage("node-2"), policy=policy)
    assert [(f.kind, f.metric) for f in found.findings] == [(FindingKind.QUERY_FAILED, NETWORK_RECEIVE)]


def test_what_was_found_at_the_last_refresh_stays_until_it_is_clearly_gone() -> None:
    before = tried(usage("node-1", cpu_cores=32.0), usage("node-2"))
    now = (usage("node-1", cpu_cores=17.0), usage("node-2"))
    assert (kinds(tried(*now)), kinds(tried(*now, before=before))) == ([], [FindingKind.IMPOSSIBLE_VALUES])
