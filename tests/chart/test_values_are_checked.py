"""Values that cannot be meant are refused, with their place."""

from __future__ import annotations

from functools import reduce

import pytest

from tests.chart.chart import HelmFailed, render
from tests.chart.schema import closed_groups

pytestmark = pytest.mark.cluster


@pytest.mark.parametrize("path", closed_groups(), ids=".".join)
def test_a_typing_error_in_a_nested_key_is_refused(path):
    values = reduce(lambda inner, key: {key: inner}, reversed(path), {"enabeld": True})

    with pytest.raises(HelmFailed, match=f"at '/{'/'.join(path)}'.*'enabeld' not allowed"):
        render(values)


def test_a_typing_error_at_the_root_is_refused():
    with pytest.raises(HelmFailed, match="'replicas' not allowed"):
        render({"replicas": 3})


def test_a_parent_chart_may_share_globals_and_switch_the_chart_on():
    values = {"enabled": True, "global": {"storageClass": "fast", "other": {"nested": 1}}}

    assert render(values).manifests == render().manifests


@pytest.mark.parametrize(
    ("values", "place"),
    [
        pytest.param({"replicaCount": "2"}, "/replicaCount", id="a number as text"),
        pytest.param({"replicaCount": -1}, "/replicaCount", id="fewer than none"),
        pytest.param({"schedulerName": "default-scheduler"}, "/schedulerName", id="the cluster's own scheduler"),
        pytest.param({"schedulerName": "By_Load"}, "/schedulerName", id="a name that no Lease can have"),
        pytest.param({"schedulerName": "a..b"}, "/schedulerName", id="an empty part of a name"),
        pytest.param({"image": {"digest": "sha256:abc"}}, "/image/digest", id="half a digest"),
        pytest.param({"image": {"pullPolicy": "always"}}, "/image/pullPolicy", id="a small letter"),
        pytest.param({"fullnameOverride": "x" * 47}, "/fullnameOverride", id="no room for suffixes"),
        pytest.param({"podLabels": {"a": 1}}, "/podLabels/a", id="a label that is no text"),
        pytest.param({"networkPolicy": {"apiServerPorts": [0]}}, "/networkPolicy/apiServerPorts/0", id="port 0"),
        pytest.param({"podDisruptionBudget": {"minAvailable": "half"}}, "/podDisruptionBudget", id="no percentage"),
        pytest.param({"serviceMonitor": {"interval": "30"}}, "/serviceMonitor/interval", id="time without a unit"),
        pytest.param({"log": {"level": "trace"}}, "/log/level", id="a level that there is not"),
        pytest.param({"global": {"imageRegistry": 5}}, "/global/imageRegistry", id="a global of ours"),
        pytest.param({"imagePullSecrets": ["login"]}, "/imagePullSecrets/0", id="a secret without `name:`"),
    ],
)
def test_a_value_that_cannot_work_is_refused(values, place):
    with pytest.raises(HelmFailed, match=f"at '{place}"):
        render(values)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        pytest.param(
            {"leaderElection": {"enabled": False}},
            "several replicas would all bind pods: set replicaCount to 1",
            id="two replicas without leader election",
        ),
        pytest.param(
            {"leaderElection": {"renewDeadlineSeconds": 15}},
            "leaseDurationSeconds must be more than renewDeadlineSeconds",
            id="a holder that goes on while others take over",
        ),
        pytest.param(
            {"leaderElection": {"retryPeriodSeconds": 9}},
            "more than 1.2 times retryPeriodSeconds",
            id="a holder with a single try",
        ),
    ],
)
def test_values_that_contradict_each_other_are_refused_with_a_mend(values, sentence):
    with pytest.raises(HelmFailed, match=sentence):
        render(values)
