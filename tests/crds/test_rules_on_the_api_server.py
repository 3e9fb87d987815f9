from __future__ import annotations

from typing import Any

import pytest

from tests.crds.policies import Policies
from tests.crds.schema_fields import rules
from tests.policy.manifests import (
    BROKEN,
    BROKEN_ESSENTIALS,
    PROMETHEUS,
    VALID,
    Broken,
    asking,
    cases,
    manifest,
    measuring,
    on_prometheus,
)

pytestmark = pytest.mark.cluster
ALL = BROKEN | BROKEN_ESSENTIALS


def test_every_rule_is_tried() -> None:
    tried = {broken.sentence for broken in ALL.values()}
    assert {rule["message"] for rule in rules()} == tried


@pytest.mark.parametrize("broken", cases(ALL))
def test_a_broken_rule_is_refused_at_apply_with_its_sentence(crd: Policies, broken: Broken) -> None:
    refusal = crd.refusal(manifest(**broken.spec))
    assert broken.sentence in refusal
    assert broken.field.partition("[")[0] in refusal


@pytest.mark.parametrize("spec", cases(VALID))
def test_what_is_valid_is_taken(crd: Policies, spec: dict[str, Any]) -> None:
    crd.try_out(manifest(**spec))


def test_an_expression_that_does_not_compile_is_told_in_the_compilers_words(crd: Policies) -> None:
    refusal = crd.refusal(manifest(**on_prometheus(deviceName="eth(")))
    assert "missing closing ): `eth(`" in refusal


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        pytest.param({"weights": {"cpu": 101}}, "spec.weights.cpu", id="a weight of 101"),
        pytest.param({"weights": {"cpu": -1}}, "spec.weights.cpu", id="a negative weight"),
        pytest.param({"weights": {"cpu": "1"}}, "spec.weights.cpu", id="a weight in quotes"),
        pytest.param({"weights": {"cpu": 0.5}}, "spec.weights.cpu", id="half a weight"),
        pytest.param({"placement": {"load": 101}}, "spec.placement.load", id="a placement of 101"),
        pytest.param({"mode": "Advise"}, 'supported values: "Enforce", "Observe"', id="a mode that nobody knows"),
        pytest.param({"onOverload": "Refuse"}, 'supported values: "LeastLoaded", "Wait"', id="onOverload"),
        pytest.param({"onMissing": "Zero"}, 'supported values: "Requests", "Exclude"', id="onMissing"),
        pytest.param({"formula": "Absolute"}, 'supported values: "Capacity", "Relative"', id="formula"),
        pytest.param({"inFlight": "No"}, 'supported values: "Count", "Ignore"', id="inFlight"),
        pytest.param({"strategy": {"type": "Stack"}}, 'supported values: "Spread", "Pack"', id="strategy"),
        pytest.param(measuring(goal="Least"), 'supported values: "Minimize", "Maximize"', id="goal"),
        pytest.param({"weight": {"cpu": 1}}, 'unknown field "spec.weight"', id="an unknown field"),
        pytest.param(asking(sigv4={}), 'unknown field "spec.metricsSource.prometheus.sigv4"', id="one further down"),
        pytest.param({"metricsSource": {"prometheus": {}}}, "prometheus.url: Required value", id="no url"),
        pytest.param(measuring(query=""), "metrics[0].query", id="an empty query"),
        pytest.param(on_prometheus(deviceName=""), "spec.deviceName", id="an empty device name"),
        pytest.param(on_prometheus(deviceName="e" * 257), "may not be more than 256", id="a device name too long"),
        pytest.param({"nodeSelector": {"cpu": True}}, "spec.nodeSelector.cpu", id="a label that is no text"),
        pytest.param({"priority": 2_000_000_000}, "spec.priority", id="a priority out of bounds"),
        pytest.param(
            on_prometheus(metrics=[{"name": "a", "query": "up", "weight": 1}] * 2), "Duplicate value", id="a name twice"
        ),
        pytest.param(
            on_prometheus(metrics=[{"name": f"m{i}", "query": "up", "weight": 1} for i in range(17)]),
            "must have at most 16 items",
            id="17 metrics",
        ),
    ],
)
def test_what_the_schema_bounds_is_refused(crd: Policies, spec: dict[str, Any], want: str) -> None:
    assert want in crd.refusal(manifest(**spec))


def test_a_policy_without_spec_is_refused(crd: Policies) -> None:
    without = {key: value for key, value in manifest().items() if key != "spec"}
    assert "spec: Required value" in crd.refusal(without)


def test_the_largest_policy_is_within_the_cost_of_its_rules(crd: Policies) -> None:
    """The API server counts at apply as well, and stops a request whose rules take too long."""
    words = [f"v{i:061}" for i in range(256)]
    term = {"matchExpressions": [{"key": f"k{i}", "operator": "In", "values": words[:8]} for i in range(32)]}
    crd.try_out(
        manifest(
            **asking(
                url="http://prometheus/" + "p" * 2000,
                headers={f"X-Header-{i}": "v" * 1024 for i in range(16)},
                queryParameters={f"parameter{i}": "v" * 1024 for i in range(16)},
            ),
            nodeAffinity={"nodeSelectorTerms": [term] * 64},
            podSelector={"matchExpressions": [{"key": "k", "operator": "In", "values": words}] * 32},
            deviceName="(a|b)?" * 42,
            metrics=[
                {
                    "name": f"metric-{i}" + "m" * 50,
                    "query": "up" * 2048,
                    "weight": 100,
                    "min": "-" + "9" * 16,
                    "max": "9" * 18,
                    "limit": "9" * 18,
                    "perPod": "9" * 18,
                }
                for i in range(16)
            ],
        )
    )


def test_all_that_is_wrong_is_told_at_once(crd: Policies) -> None:
    refusal = crd.refusal(manifest(metricsSource=PROMETHEUS, timeRange="1s", limits={"cpu": 0}))
    assert "spec.timeRange" in refusal
    assert "spec.limits.cpu" in refusal
