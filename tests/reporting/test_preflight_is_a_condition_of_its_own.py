from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll.load.preflight import Finding, FindingKind, Preflight, Tried
from plimsoll.reporting.noise import worth_writing
from plimsoll.reporting.preflight import preflight_conditions
from plimsoll.reporting.status import policy_status

DOCUMENT = Path(__file__).parents[2] / "docs/conditions.md"
GONE = "http://prometheus:9090 cannot be reached: connection refused"
RECEIVE = Tried("networkReceive", series=12, nodes=12, of_nodes=12, example="eth0 of node-1 at about 12 %")
CPU = Tried("cpu", series=13, nodes=12, of_nodes=12, unmapped=1, unmapped_example='cpu{instance="x"}')


@pytest.fixture
def seen(overview, node, readings):
    """An overview whose readings were tried so."""
    return lambda preflight: overview(node("a"), readings=replace(readings(), preflight=preflight))


def lacking(metric: str, text: str = "1 of 3 nodes have no series, e.g. node-3: is it scraped?") -> Finding:
    return Finding(FindingKind.NODES_WITHOUT_SERIES, text, metric)


def test_what_works_is_summed_up(seen):
    (condition,) = preflight_conditions(seen(Preflight(tried=(RECEIVE, CPU))))
    assert (condition.type, condition.status, condition.reason) == ("Preflight", "True", "AllGood")
    assert condition.message == (
        "networkReceive: 12 series, 12 of 12 nodes, e.g. eth0 of node-1 at about 12 %;"
        ' cpu: 13 series, 12 of 12 nodes, and 1 name no node of this cluster, e.g. cpu{instance="x"}.'
    )


def test_findings_are_told_with_their_metrics_and_alike_ones_together(seen):
    rare = Finding(FindingKind.TOO_FEW_SAMPLES, "node-exporter is scraped every 1m: scrape more often.")
    findings = (lacking("cpu"), lacking("memory"), lacking("networkReceive", "Another thing."), rare)
    (condition,) = preflight_conditions(seen(Preflight(findings=findings)))
    assert (condition.status, condition.reason) == ("False", "SeveralFindings")
    assert condition.message == (
        "cpu and memory: 1 of 3 nodes have no series, e.g. node-3: is it scraped? networkReceive: Another thing."
        " node-exporter is scraped every 1m: scrape more often."
    )


def test_findings_of_one_kind_are_the_reason(seen):
    (condition,) = preflight_conditions(seen(Preflight(findings=(lacking("cpu"), lacking("memory")))))
    assert condition.reason == "NodesWithoutSeries"


@pytest.mark.parametrize(
    ("changes", "want"),
    [
        pytest.param({"readings": None}, [("Unknown", "NotAskedYet")], id="not asked yet"),
        pytest.param({"metrics": ()}, [], id="no metric to try"),
        pytest.param({"source": None}, [], id="no source to try"),
    ],
)
def test_without_an_answer_nothing_is_claimed(overview, node, changes, want):
    assert [(c.status, c.reason) for c in preflight_conditions(overview(node("a"), **changes))] == want


def test_a_source_that_does_not_answer_could_not_be_tried(overview, node, readings):
    (condition,) = preflight_conditions(overview(node("a"), readings=readings(failures={"": GONE})))
    assert (condition.status, condition.reason) == ("Unknown", "SourceUnreachable")


def test_the_status_holds_it_beside_the_others(seen, now_s):
    status = policy_status(seen(Preflight(tried=(RECEIVE,))), previous=None, now_s=now_s)
    assert [c["type"] for c in status["conditions"]] == ["Ready", "MetricsAvailable", "Preflight"]


@pytest.mark.parametrize(
    ("before", "after", "want"),
    [
        pytest.param("eth0 of a at about 12 %", "eth0 of a at about 13 %", False, id="a measured value trembles"),
        pytest.param("a at about 0.00012", "a at about -1e-05", False, id="of any size"),
        pytest.param("eth0 of a at about 12 %", "eth0 of b at about 12 %", True, id="another node"),
    ],
)
def test_measured_values_alone_are_not_worth_a_write(seen, now_s, before, after, want):
    old, new = (
        policy_status(seen(Preflight(tried=(replace(RECEIVE, example=text),))), previous=None, now_s=now_s)
        for text in (before, after)
    )
    assert worth_writing(old, new, now_s) == want


def test_however_many_findings_there_are_the_message_stays_short(seen, now_s):
    findings = tuple(lacking(f"metric-{i}", f"{i} " + "x" * 500) for i in range(40))
    status = policy_status(seen(Preflight(findings=findings)), previous=None, now_s=now_s)
    assert len(status["conditions"][-1]["message"].encode()) <= 4096


def test_every_finding_is_documented():
    table = DOCUMENT.read_text()
    assert all(f"| `{kind.value}` |" in table for kind in FindingKind)
