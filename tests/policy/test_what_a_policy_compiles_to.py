from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from plimsoll.policy.compile import compile_policy
from plimsoll.policy.compiled import (
    Formula,
    Goal,
    InFlight,
    Metric,
    MetricsServerSource,
    Mode,
    OnMissing,
    OnOverload,
    Placement,
    PrometheusSource,
)
from tests.policy.manifests import PROMETHEUS, VALID, asking, cases, expressing, manifest, measuring, on_prometheus

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))
_KEY = {"name": "prometheus", "key": "token"}


@pytest.mark.parametrize("spec", cases(VALID))
def test_what_is_valid_is_in_force_without_problems(spec: dict[str, Any]) -> None:
    assert compile_policy(manifest(**spec)).problems == ()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_is_in_force_without_problems(example: Path) -> None:
    policy = compile_policy(yaml.safe_load(example.read_text()))
    assert policy.problems == ()
    assert policy.name == example.stem


def test_an_empty_spec_is_cpu_and_memory_from_metrics_server() -> None:
    policy = compile_policy(manifest())
    assert policy.metrics == (Metric("memory", 1), Metric("cpu", 1))
    assert policy.source == MetricsServerSource()
    assert (policy.mode, policy.priority) == (Mode.ENFORCE, 0)
    assert (policy.time_range_s, policy.refresh_interval_s) == (300, 30)
    assert policy.placement == Placement(load=8, requests=2, spreading=3, preferences=6)
    assert (policy.formula, policy.in_flight) == (Formula.CAPACITY, InFlight.COUNT)
    assert (policy.on_overload, policy.on_missing) == (OnOverload.LEAST_LOADED, OnMissing.REQUESTS)
    assert policy.not_yet_enforced == ()


def test_fields_that_are_null_are_as_absent() -> None:
    absent = compile_policy(manifest())
    assert compile_policy(manifest(mode=None, weights=None, timeRange=None, metricsSource=None)) == absent


def test_a_weight_that_is_left_out_is_0() -> None:
    assert compile_policy(manifest(weights={"cpu": 3})).metrics == (Metric("cpu", 3),)


def test_a_key_of_placement_that_is_left_out_keeps_its_default() -> None:
    assert compile_policy(manifest(placement={"load": 0})).placement == Placement(load=0)


def test_a_network_limit_is_for_both_directions() -> None:
    spec = on_prometheus(weights={"networkReceive": 3, "cpu": 1}, limits={"network": 90})
    assert compile_policy(manifest(**spec)).metrics == (
        Metric("networkReceive", 3, 0.9),
        Metric("networkTransmit", 0, 0.9),
        Metric("cpu", 1),
    )


def test_a_limit_without_weight_is_a_metric_of_weight_0() -> None:
    policy = compile_policy(manifest(weights={"cpu": 1}, limits={"memory": 80}))
    assert policy.metrics == (Metric("memory", 0, 0.8), Metric("cpu", 1))
    assert policy.limits == (Metric("memory", 0, 0.8),)


def test_a_prometheus_source_is_taken_over_in_units() -> None:
    spec = asking(
        url="http://prometheus/path/",
        timeout="1m",
        headers={"X-Scope-OrgID": "a"},
        queryParameters={"dedup": "true"},
        nodeLabel="node",
    )
    assert compile_policy(manifest(**spec)).source == PrometheusSource(
        url="http://prometheus/path",
        timeout_s=60,
        headers={"X-Scope-OrgID": "a"},
        query_parameters={"dedup": "true"},
        node_label="node",
    )


def test_durations_and_quantities_are_numbers() -> None:
    policy = compile_policy(
        manifest(timeRange="1h30m", refreshInterval="1m", networkCapacity="1250M", formula="Relative", maxMemory="64Gi")
    )
    assert (policy.time_range_s, policy.refresh_interval_s) == (5400, 60)
    assert (policy.network_capacity_bytes_s, policy.max_memory_bytes) == (1_250_000_000, 64 * 2**30)


def test_selectors_select() -> None:
    spec = {**VALID["selectors of all kinds"], **expressing(operator="Gt", values=["3"])}
    policy = compile_policy(manifest(**spec))
    assert policy.pod_selector.matches({"app": "web", "tier": "front"})
    assert not policy.pod_selector.matches({"app": "web"})
    assert not policy.namespace_selector.matches({"team": "a"})
    assert policy.node_selector == {"cpu": "true", "empty": ""}
    assert policy.node_affinity is not None
    assert policy.node_affinity.matches({"disks": "4"}, "node-1")
    assert not policy.node_affinity.matches({"disks": "3"}, "node-1")


def test_metadata_is_taken_over() -> None:
    raw = manifest("mine")
    raw["metadata"] |= {"uid": "u", "generation": 7, "creationTimestamp": "2026-01-01T00:00:00Z"}
    policy = compile_policy(raw)
    assert (policy.name, policy.uid, policy.generation, policy.created) == ("mine", "u", 7, "2026-01-01T00:00:00Z")


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        pytest.param({}, None, id="by default"),
        pytest.param({"strategy": {"type": "Spread"}}, None, id="Spread"),
        pytest.param({"strategy": {"type": "Pack"}}, 0.6, id="Pack"),
        pytest.param({"strategy": {"type": "Pack", "target": 75}}, 0.75, id="Pack up to a target"),
    ],
)
def test_a_target_is_a_share_and_only_of_pack(spec: dict[str, Any], want: float | None) -> None:
    policy = compile_policy(manifest(**spec))
    assert policy.pack_target == want
    assert policy.not_yet_enforced == ()


def test_what_only_observes_is_in_force_too() -> None:
    policy = compile_policy(manifest(mode="Observe"))
    assert not policy.enforced
    assert policy.not_yet_enforced == ()


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        pytest.param(asking(auth={"bearerToken": _KEY}), ("spec.metricsSource.prometheus.auth",), id="auth"),
        pytest.param(asking(url="https://p", tls={"ca": _KEY}), ("spec.metricsSource.prometheus.tls",), id="tls"),
    ],
)
def test_what_is_not_yet_enforced_is_named(spec: dict[str, Any], want: tuple[str, ...]) -> None:
    policy = compile_policy(manifest(**spec))
    assert policy.not_yet_enforced == want
    assert policy.problems == ()


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(asking(auth={"bearerToken": _KEY}), id="auth"),
        pytest.param(asking(url="https://prometheus", tls={}), id="tls"),
    ],
)
def test_a_source_that_asks_for_what_is_not_enforced_is_not_queried(spec: dict[str, Any]) -> None:
    assert compile_policy(manifest(**spec)).source is None


def test_a_custom_metric_does_not_stand_in_for_the_built_in_ones() -> None:
    spec = on_prometheus(weights={"cpu": 0}, metrics=[{"name": "a", "query": "up", "weight": 2}])
    assert [(m.name, m.custom) for m in compile_policy(manifest(**spec)).metrics] == [("a", True)]


def test_custom_metrics_come_after_the_built_in_ones_in_the_order_written() -> None:
    metrics = [{"name": name, "query": name, "limit": 1} for name in ("z", "a")]
    policy = compile_policy(manifest(**on_prometheus(limits={"memory": 80}, metrics=metrics)))
    assert [m.name for m in policy.metrics] == ["memory", "cpu", "z", "a"]
    assert [m.name for m in policy.limits] == ["memory", "z", "a"]
    assert policy.not_yet_enforced == ()


def test_a_custom_metrics_quantities_are_numbers_in_its_own_unit() -> None:
    spec = measuring(weight=3, goal="Maximize", min="500m", max="2Ki", limit="-1", perPod=2)
    assert compile_policy(manifest(**spec)).metrics[-1] == Metric(
        "disk-busy", 3.0, -1.0, query="up", goal=Goal.MAXIMIZE, min=0.5, max=2048.0, per_pod=2.0
    )


def test_a_custom_metric_needs_no_more_than_a_query_and_a_weight_or_a_limit() -> None:
    assert compile_policy(manifest(**measuring(weight=None, limit=0))).metrics[-1] == Metric(
        "disk-busy", 0.0, 0.0, query="up"
    )


@pytest.mark.parametrize(
    ("bounds", "weight"),
    [
        pytest.param({"min": 0, "max": 1}, 4.0, id="both ends are known"),
        pytest.param({"max": 1}, 2.0, id="the lower end is a guess"),
        pytest.param({"min": 0}, 2.0, id="the upper end is a guess"),
        pytest.param({}, 2.0, id="both are"),
    ],
)
def test_a_custom_metric_whose_scale_is_a_guess_weighs_half(bounds: dict[str, Any], weight: float) -> None:
    assert compile_policy(manifest(**measuring(weight=4, **bounds))).metrics[-1].weight == weight


def test_a_custom_metric_that_is_wrong_is_set_aside_alone() -> None:
    metrics = [{"name": "good", "query": "up", "weight": 1}, {"name": "bad", "query": "up", "goal": "Least"}]
    policy = compile_policy(manifest(**on_prometheus(metrics=metrics)))
    assert [m.name for m in policy.metrics if m.custom] == ["good"]
    assert [p.field for p in policy.problems] == ["spec.metrics[bad].goal"]


def test_the_manifest_is_left_as_it_was() -> None:
    raw = manifest(metricsSource=PROMETHEUS, deviceName="eth(", limits={"cpu": 0, "memory": 90}, mode=None)
    before = repr(raw)
    compile_policy(raw)
    assert repr(raw) == before
