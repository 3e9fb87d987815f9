from __future__ import annotations

import pytest

from devcluster.errors import KubectlError
from tests.crds.policies import Policies
from tests.policy.manifests import manifest

pytestmark = pytest.mark.cluster
STATUS = {
    "observedGeneration": 1,
    "conditions": [
        {
            "type": "Ready",
            "status": "True",
            "observedGeneration": 1,
            "lastTransitionTime": "2026-01-01T00:00:00Z",
            "reason": "InForce",
            "message": "The policy is in force.",
        }
    ],
    "source": "Prometheus",
    "lastRefreshTime": "2026-01-01T00:00:00Z",
    "nodes": {"total": 12, "fresh": 12, "stale": 0, "missing": 0, "summary": "12/12"},
    "unmappedSeries": {"count": 1, "example": "{instance=}"},
    "best": {"node": "node-7", "score": 91},
    "bound": 240,
    "pending": 0,
    "regret": 3,
    "observed": 214,
    "worst": {"pod": "default/web-1", "node": "node-3", "best": "node-7", "regret": 40},
    "scores": [
        {
            "node": "node-7",
            "score": 91,
            "state": "Fresh",
            "sampleTime": "2026-01-01T00:00:00Z",
            "metrics": {"networkReceive": 12, "cpu": 140},
        },
        {"node": "node-8", "state": "Missing"},
    ],
}


@pytest.fixture
def reported(policies: Policies) -> Policies:
    policies.apply(manifest("network-first"))
    policies.write_status("network-first", STATUS)
    return policies


def table(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_the_status_is_kept_as_it_was_written(reported: Policies) -> None:
    assert reported.get("network-first")["status"] == STATUS


def test_a_status_does_not_change_the_generation(reported: Policies) -> None:
    assert reported.get("network-first")["metadata"]["generation"] == 1


@pytest.mark.parametrize("name", ["schedulingpolicies", "schedulingpolicy", "schedpol", "plimsoll"])
def test_get_prints_the_table_of_the_manual(reported: Policies, name: str) -> None:
    head, row = table(reported.kubectl("get", name))
    assert head == ["NAME", "SOURCE", "MODE", "READY", "NODES", "BEST", "SCORE", "BOUND", "PENDING", "AGE"]
    assert row[:-1] == ["network-first", "Prometheus", "Enforce", "True", "12/12", "node-7", "91", "240", "0"]


def test_wide_tells_more(reported: Policies) -> None:
    head, row = table(reported.kubectl("get", "schedpol", "-o", "wide"))
    assert head[-5:] == ["AGE", "PRIORITY", "FORMULA", "REFRESHED", "REASON"]
    assert (row[-4], row[-3], row[-1]) == ("0", "Capacity", "InForce")


def test_a_policy_without_status_is_listed(policies: Policies) -> None:
    policies.apply(manifest("new"))
    _, row = table(policies.kubectl("get", "schedpol"))
    assert row[:2] == ["new", "Enforce"]


@pytest.mark.parametrize(
    ("field", "want"),
    [
        pytest.param("spec.timeRange", "as a duration in h, m and s", id="timeRange"),
        pytest.param("spec.weights", "cpu 1 and memory 1", id="weights"),
        pytest.param("spec.metricsSource.prometheus.auth.bearerToken.name", "metrics-credentials", id="deep down"),
        pytest.param("status.scores.metrics", "Percent of capacity by metric", id="status"),
    ],
)
def test_explain_has_text(crd: Policies, field: str, want: str) -> None:
    text = crd.kubectl("explain", f"schedulingpolicies.{field}")
    assert want in " ".join(text.split())


def test_a_status_without_the_reason_for_a_condition_is_refused(policies: Policies) -> None:
    policies.apply(manifest("p"))
    with pytest.raises(KubectlError, match="reason"):
        policies.write_status(
            "p", {"conditions": [{k: v for k, v in STATUS["conditions"][0].items() if k != "reason"}]}
        )


def test_more_than_100_scores_are_refused(policies: Policies) -> None:
    policies.apply(manifest("p"))
    with pytest.raises(KubectlError, match="must have at most 100 items"):
        policies.write_status("p", {"scores": [{"node": f"node-{i}"} for i in range(101)]})
