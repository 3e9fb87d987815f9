from __future__ import annotations

import dataclasses
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import PolicyError
from plimsoll.policy.compile import compile_policy
from plimsoll.policy.compiled import Metric, MetricsServerSource, Placement, Problem
from plimsoll.policy.models.spec import Spec
from tests.policy.manifests import (
    BROKEN,
    BROKEN_ESSENTIALS,
    PROMETHEUS,
    VALID,
    Broken,
    asking,
    cases,
    manifest,
    on_prometheus,
)

KEPT: dict[str, Any] = {"priority": 7, "nodeSelector": {"cpu": "true"}}


def told(broken: Broken) -> str:
    return f"{broken.field}: {broken.sentence}"


@pytest.mark.parametrize("broken", cases(BROKEN))
def test_a_broken_rule_is_told_and_the_rest_is_kept(broken: Broken) -> None:
    policy = compile_policy(manifest(**KEPT, **broken.spec))
    assert [str(problem) for problem in policy.problems] == [told(broken)]
    assert (policy.priority, policy.node_selector) == (7, {"cpu": "true"})


@pytest.mark.parametrize("broken", cases(BROKEN_ESSENTIALS))
def test_nothing_is_in_force_where_pods_or_nodes_are_in_doubt(broken: Broken) -> None:
    with pytest.raises(PolicyError) as raised:
        compile_policy(manifest(**broken.spec))
    assert str(raised.value) == told(broken)


def test_a_bad_device_takes_the_network_metrics_along() -> None:
    spec = on_prometheus(deviceName="eth(", weights={"networkReceive": 3, "cpu": 1}, limits={"network": 90})
    policy = compile_policy(manifest(**spec))
    assert policy.device_name is None
    assert policy.metrics == (Metric("cpu", 1),)
    assert [problem.field for problem in policy.problems] == ["spec.deviceName"]


def test_one_bad_custom_metric_leaves_the_others() -> None:
    metrics = [
        {"name": "first", "query": "up", "weight": 1, "min": "many"},
        {"name": "second", "query": "up", "weight": 1},
        {"name": "third", "weight": 1},
        {"name": "fourth", "query": "up", "weight": 1, "perPod": "-1"},
    ]
    policy = compile_policy(manifest(**on_prometheus(metrics=metrics)))
    assert [m.name for m in policy.metrics if m.custom] == ["second"]
    assert [problem.field for problem in policy.problems] == [
        "spec.metrics[first].min",
        "spec.metrics[third].query",
        "spec.metrics[fourth].perPod",
    ]


def test_a_bad_source_is_not_queried_and_keeps_its_network_weights() -> None:
    spec = asking(url="ftp://prometheus") | {"weights": {"networkReceive": 3}, "deviceName": "eth0"}
    policy = compile_policy(manifest(**spec))
    assert policy.source is None
    assert policy.metrics == (Metric("networkReceive", 3),)
    assert [problem.field for problem in policy.problems] == ["spec.metricsSource.prometheus.url"]


def test_network_weights_without_prometheus_leave_the_other_weights() -> None:
    policy = compile_policy(manifest(weights={"networkReceive": 3, "cpu": 2}))
    assert policy.metrics == (Metric("cpu", 2),)
    assert policy.source == MetricsServerSource()


def test_a_bad_limit_leaves_the_other_limits() -> None:
    policy = compile_policy(manifest(limits={"cpu": 0, "memory": 80}))
    assert policy.limits == (Metric("memory", 1, 0.8),)


def test_a_bad_time_range_leaves_the_default() -> None:
    assert compile_policy(manifest(timeRange="5 minutes")).time_range_s == 300


def test_a_placement_of_nothing_leaves_the_default() -> None:
    zero = {"load": 0, "requests": 0, "spreading": 0, "preferences": 0}
    assert compile_policy(manifest(placement=zero)).placement == Placement()


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        pytest.param(
            {"weight": {"cpu": 1}},
            "spec.weight: SchedulingPolicy has no such field: "
            "take it out, or find its name in `kubectl explain schedulingpolicies.spec`",
            id="at the top",
        ),
        pytest.param(
            {"weights": {"cpu": 1, "disk": 1}},
            "spec.weights.disk: SchedulingPolicy has no such field: "
            "take it out, or find its name in `kubectl explain schedulingpolicies.spec.weights`",
            id="inside",
        ),
        pytest.param(
            {"time_range": "1m"},
            "spec.time_range: SchedulingPolicy has no such field: "
            "take it out, or find its name in `kubectl explain schedulingpolicies.spec`",
            id="spelt as in Python",
        ),
    ],
)
def test_a_field_that_nobody_knows_is_named(spec: dict[str, Any], want: str) -> None:
    assert [str(problem) for problem in compile_policy(manifest(**spec)).problems] == [want]


def test_an_unknown_field_of_the_source_keeps_it_from_being_queried() -> None:
    """It may say how to ask."""
    policy = compile_policy(manifest(**asking(sigv4={"region": "x"})))
    assert policy.source is None
    assert [problem.field for problem in policy.problems] == ["spec.metricsSource.prometheus.sigv4"]


def test_several_problems_are_told_in_the_order_of_the_fields() -> None:
    policy = compile_policy(manifest(weights={"cpu": 101}, timeRange="x", metricsSource=PROMETHEUS, limits=[]))
    assert [problem.field for problem in policy.problems] == ["spec.weights.cpu", "spec.timeRange", "spec.limits"]
    assert policy.problems[0] == Problem(
        "spec.weights.cpu",
        "input should be less than or equal to 100",
        "see `kubectl explain schedulingpolicies.spec.weights.cpu`",
    )


@pytest.mark.parametrize(
    ("raw", "want"),
    [
        pytest.param(manifest() | {"kind": "Pod"}, r"kind: this is 'Pod': write SchedulingPolicy", id="another kind"),
        pytest.param(manifest() | {"apiVersion": "plimsoll.dev/v2"}, "write plimsoll.dev/v1alpha1", id="a version"),
        pytest.param(manifest() | {"spec": []}, r"spec: the policy has no spec: write at least spec: {}", id="a list"),
        pytest.param({k: v for k, v in manifest().items() if k != "spec"}, "the policy has no spec", id="no spec"),
        pytest.param(manifest() | {"metadata": {}}, "metadata.name: the policy has no name: give it one", id="no name"),
        pytest.param({}, "apiVersion: this is None", id="nothing"),
        pytest.param(manifest(mode="Advise"), "spec.mode: .* see `kubectl explain", id="a mode that nobody knows"),
        pytest.param(manifest(podSelector={"matchLabel": {"a": "b"}}), "spec.podSelector.matchLabel: ", id="a typo"),
        pytest.param(manifest(nodeSelector={"cpu": True}), "spec.nodeSelector.cpu: ", id="a label that is no text"),
        pytest.param(manifest(priority="high"), "spec.priority: ", id="a priority in words"),
        pytest.param(manifest(priority="1"), "spec.priority: ", id="a priority in quotes"),
    ],
)
def test_what_cannot_be_in_force_at_all_is_an_error(raw: dict[str, Any], want: str) -> None:
    with pytest.raises(PolicyError, match=want):
        compile_policy(raw)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
_FIELDS = sorted(field.alias or name for name, field in Spec.model_fields.items())
_SPECS = st.dictionaries(st.sampled_from(_FIELDS) | st.text(max_size=8), _JSON, max_size=6)


def _damaged(value: Any) -> st.SearchStrategy[Any]:
    """The value with junk somewhere in it."""
    inside: list[st.SearchStrategy[Any]] = []
    if isinstance(value, dict):
        inside = [_damaged(v).map(lambda new, k=k: value | {k: new}) for k, v in value.items()]
        inside.append(st.dictionaries(st.text(max_size=8), _JSON, max_size=2).map(lambda more: value | more))
    if isinstance(value, list):
        inside = [_damaged(v).map(lambda new, i=i: [*value[:i], new, *value[i + 1 :]]) for i, v in enumerate(value)]
    return st.one_of(*inside, _JSON)


_DAMAGED = st.sampled_from([*VALID.values(), *(broken.spec for broken in BROKEN.values())]).flatmap(_damaged)


@given(_SPECS | _DAMAGED)
def test_whatever_is_written_is_in_force_or_a_policy_error(spec: dict[str, Any]) -> None:
    """Nothing else is ever raised, and what is left of it can place pods."""
    with suppress(PolicyError):
        policy = compile_policy(manifest() | {"spec": spec})
        assert all(problem.field.startswith("spec.") for problem in policy.problems)
        assert any(dataclasses.astuple(policy.placement))
