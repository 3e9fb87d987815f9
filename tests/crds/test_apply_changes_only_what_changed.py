from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.crds.policies import Policies
from tests.policy.manifests import PROMETHEUS, VALID, cases, manifest, measuring, on_prometheus

pytestmark = pytest.mark.cluster
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))
EVERYTHING: dict[str, Any] = (
    VALID["a source with all it can have"]
    | VALID["selectors of all kinds"]
    | {
        "mode": "Enforce",
        "priority": 5,
        "weights": {"networkReceive": 3, "networkTransmit": 0, "memory": 1, "cpu": 1},
        "deviceName": "eth0",
        "timeRange": "1h30m",
        "refreshInterval": "1m",
        "metrics": measuring(goal="Minimize", min="0", max=1, limit="0.9", perPod="0.02")["metrics"],
        "networkCapacity": "1250M",
        "limits": {"cpu": 90, "memory": 90, "network": 90},
        "onOverload": "Wait",
        "onMissing": "Exclude",
        "formula": "Relative",
        "maxMemory": "64Gi",
        "strategy": {"type": "Pack", "target": 60},
        "placement": {"load": 1, "requests": 2, "spreading": 3, "preferences": 4},
        "inFlight": "Ignore",
    }
)
DEFAULTS = {
    "mode": "Enforce",
    "priority": 0,
    "timeRange": "5m",
    "refreshInterval": "30s",
    "onOverload": "LeastLoaded",
    "onMissing": "Requests",
    "formula": "Capacity",
    "strategy": {"type": "Spread"},
    "placement": {"load": 8, "requests": 2, "spreading": 3, "preferences": 6},
    "inFlight": "Count",
}


def versions(policies: Policies, name: str) -> tuple[str, int]:
    metadata = policies.get(name)["metadata"]
    return metadata["resourceVersion"], metadata["generation"]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_applies_and_the_second_time_changes_nothing(policies: Policies, example: Path) -> None:
    policies.kubectl("apply", "--server-side", "-f", str(example))
    before = versions(policies, example.stem)
    policies.kubectl("apply", "--server-side", "-f", str(example))
    assert versions(policies, example.stem) == before


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_applies_from_the_clients_side_as_well(policies: Policies, example: Path) -> None:
    policies.kubectl("apply", "-f", str(example))
    assert policies.kubectl("apply", "-f", str(example)).endswith("unchanged\n")


@pytest.mark.parametrize("spec", cases({"everything": EVERYTHING, "nothing": {}, "one metric": measuring(min=0)}))
def test_server_side_apply_twice_changes_nothing(policies: Policies, spec: dict[str, Any]) -> None:
    policies.apply(manifest(**spec))
    before = policies.get("p")
    policies.apply(manifest(**spec))
    assert policies.get("p") == before


def test_what_is_written_is_kept_as_it_was_written(policies: Policies) -> None:
    policies.apply(manifest(**EVERYTHING))
    assert policies.spec("p") == EVERYTHING


def test_defaults_are_as_documented(policies: Policies) -> None:
    policies.apply(manifest())
    assert policies.spec("p") == DEFAULTS


def test_prometheus_has_a_default_time_out(policies: Policies) -> None:
    policies.apply(manifest(metricsSource=PROMETHEUS))
    assert policies.spec("p")["metricsSource"]["prometheus"]["timeout"] == "10s"


def test_a_key_of_placement_that_is_left_out_keeps_its_default(policies: Policies) -> None:
    policies.apply(manifest(placement={"load": 0}))
    assert policies.spec("p")["placement"] == {"load": 0, "requests": 2, "spreading": 3, "preferences": 6}


HOW = pytest.mark.parametrize(
    "apply",
    [pytest.param(Policies.apply, id="server-side"), pytest.param(Policies.client_side_apply, id="client-side")],
)
CHANGES = pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param({}, {"weights": {"networkReceive": 3}, "metricsSource": PROMETHEUS}, id="weights are set"),
        pytest.param({"weights": {"memory": 3, "cpu": 1}}, {"weights": {"memory": 3}}, id="a weight is taken out"),
        pytest.param({"metricsSource": PROMETHEUS}, {"metricsSource": {"metricsServer": {}}}, id="to metrics-server"),
        pytest.param({"metricsSource": {"metricsServer": {}}}, {"metricsSource": PROMETHEUS}, id="to Prometheus"),
        pytest.param({"metricsSource": PROMETHEUS}, {}, id="the source is taken out"),
        pytest.param({"strategy": {"type": "Pack", "target": 60}}, {}, id="Pack is taken out"),
        pytest.param({"placement": {"load": 0}}, {}, id="placement is taken out"),
        pytest.param(
            {"podSelector": {"matchLabels": {"a": "b"}}},
            {"podSelector": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}},
            id="another selector",
        ),
        pytest.param(measuring(), on_prometheus(), id="a metric is taken out"),
        pytest.param({k: v for k, v in EVERYTHING.items() if k != "mode"}, {}, id="all but a default is taken out"),
    ],
)


@HOW
@CHANGES
def test_nothing_of_the_first_policy_is_left_in_the_second(
    policies: Policies, apply: Any, first: dict[str, Any], second: dict[str, Any]
) -> None:
    """A default that one apply brought in must not stand in the way of the next."""
    apply(policies, manifest("changed", **first))
    apply(policies, manifest("changed", **second))
    apply(policies, manifest("fresh", **second))
    assert policies.spec("changed") == policies.spec("fresh")


def test_two_people_can_own_one_metric_each(policies: Policies) -> None:
    def metric(name: str) -> dict[str, Any]:
        return {"name": name, "query": "up", "weight": 1}

    policies.apply(manifest(**on_prometheus(metrics=[metric("a")])), "--field-manager=one")
    policies.apply(manifest(metrics=[metric("b")]), "--field-manager=two")
    assert [m["name"] for m in policies.spec("p")["metrics"]] == ["a", "b"]


def test_examples_stand_beside_each_other() -> None:
    selectors = [yaml.safe_load(e.read_text())["spec"] for e in EXAMPLES]
    labels = [
        (s.get("podSelector") or s["namespaceSelector"])["matchLabels"]["plimsoll.dev/example"] for s in selectors
    ]
    assert labels == [example.stem for example in EXAMPLES]
