"""What of a SchedulingPolicy is replayed, what is not, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.cli.simulate_policy import GivenPolicy, given_policy
from plimsoll.cluster.selectors import LabelSelector
from plimsoll.errors import InvalidInput
from plimsoll.policy.compiled import Mode

_FILES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))
_EXAMPLES = [path for path in _FILES if path.read_text().count("\nkind: SchedulingPolicy") == 1]
_HEAD = "apiVersion: plimsoll.dev/v1alpha1\nkind: SchedulingPolicy\nmetadata: {name: mine}\nspec:\n"
_PROMETHEUS = '  metricsSource: {prometheus: {url: "http://prometheus:9090"}}\n'
_SELECTING = """\
  podSelector: {matchLabels: {tier: streaming}}
  namespaceSelector: {matchLabels: {team: a}}
  nodeSelector: {cpu: "true"}
  nodeAffinity: {nodeSelectorTerms: [{matchExpressions: [{key: disk, operator: Exists}]}]}
"""


@pytest.fixture
def given(tmp_path):
    def read(spec: str, *, head: str = _HEAD) -> GivenPolicy:
        path = tmp_path / "policy.yaml"
        path.write_text(head + spec)
        return given_policy(path)

    return read


def test_a_policy_is_for_all_replayed_pods_and_nodes(given):
    found = given(_SELECTING)
    assert found.policy.pod_selector == found.policy.namespace_selector == LabelSelector()
    assert (found.policy.node_selector, found.policy.node_affinity) == ({}, None)
    [said] = found.remarks
    assert said.endswith("all nodes: podSelector, namespaceSelector, nodeSelector, nodeAffinity.")


def test_a_policy_that_observes_places(given):
    found = given("  mode: Observe\n")
    assert found.policy.mode is Mode.ENFORCE
    [said] = found.remarks
    assert "mode Observe" in said


def test_custom_metrics_are_left_out(given):
    found = given(f"  metrics: [{{name: disk, query: up, weight: 1}}]\n{_PROMETHEUS}")
    assert [metric.name for metric in found.policy.metrics] == ["memory", "cpu"]
    [said] = found.remarks
    assert said.endswith("the custom metrics disk.")


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        (
            "  weights: {cpu: 500, memory: 1}\n",
            "Set aside: spec.weights.cpu: input should be less than or equal to 100",
        ),
        ("  timeRange: 1s\n", "Set aside: spec.timeRange: "),
        ("  weights: {networkReceive: 1, cpu: 1}\n", "Set aside: spec.weights: network weights need Prometheus"),
        (
            '  metricsSource: {prometheus: {url: "https://p:9090", tls: {insecureSkipVerify: true}}}\n',
            "Without effect so far: spec.metricsSource.prometheus.tls.",
        ),
    ],
    ids=["out of range", "too short", "needs prometheus", "not yet enforced"],
)
def test_what_is_without_effect_is_said(given, spec, says):
    [said] = given(spec).remarks
    assert said.startswith(says)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("  weights: {netwrokReceive: 3}\n", "no field spec.weights.netwrokReceive (did you mean networkReceive?)"),
        ("  podSelector: {matchLables: {a: b}}\n", "spec.podSelector.matchLables (did you mean matchLabels"),
        ("  colour: red\n  size: 3\n", "no field spec.colour and no field spec.size: "),
        (f"  metrics: [{{name: disk, quer: up}}]\n{_PROMETHEUS}", "spec.metrics[0].quer (did you mean query?)"),
        ("  weights: {cpu: 1}\nspecs: {}\n", "no field specs (did you mean spec?)"),
        ("  priority: high\n", "spec.priority: "),
    ],
    ids=["a weight", "a selector", "two", "in a list", "beside spec", "essential and wrong"],
)
def test_what_the_api_server_would_refuse_is_refused(given, spec, says):
    with pytest.raises(InvalidInput) as refused:
        given(spec)
    assert says in str(refused.value)


def test_maps_have_whatever_keys_people_give_them(given):
    spec = '  nodeSelector: {anything: "1"}\n  podSelector: {matchLabels: {what.ever/x: y}}\n'
    labelled = _HEAD.replace("{name: mine}", "{name: mine, labels: {a: b}, uid: u}")
    assert given(spec, head=labelled).policy.name == "mine"


@pytest.mark.parametrize("path", _EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_are_read(path):
    found = given_policy(path)
    assert found.policy.enforced
    assert not found.policy.problems


@pytest.mark.parametrize(
    ("arguments", "text", "says"),
    [
        (("--policies", "ours"), "{kind: Pod, metadata: {name: p}}", "it should hold one"),
        (("--policies", "kube,random"), f"{_HEAD}  weights: {{cpu: 1}}\n", "add ours to --policies"),
    ],
    ids=["no policy in it", "nobody to place by it"],
)
def test_a_policy_that_cannot_be_judged_is_refused(plimsoll, tmp_path, arguments, text, says):
    path = tmp_path / "policy.yaml"
    path.write_text(text)
    result = plimsoll("simulate", *arguments, "--policy", str(path))
    assert result.exit_code == 2
    assert says in result.stderr
