"""The operator's pods: what they run, as whom, and how they are watched."""

from __future__ import annotations

import pytest

import plimsoll
from plimsoll.cli.explain import explain_pod
from tests.chart.chart import CHART, VALUES_FILES, HelmFailed, helm, notes, render
from tests.chart.flags import settings_of

pytestmark = pytest.mark.cluster

DIGEST = "sha256:" + "0" * 64


@pytest.mark.parametrize("values", VALUES_FILES, ids=lambda path: path.stem)
def test_the_chart_is_without_complaints(values):
    assert "0 chart(s) failed" in helm("lint", "--strict", str(CHART), "--values", str(values))


@pytest.mark.parametrize("values", VALUES_FILES, ids=lambda path: path.stem)
def test_the_operator_understands_its_flags(values):
    assert settings_of(render(values)).metrics_address == ("0.0.0.0", 10260)


def test_values_reach_the_operators_settings():
    values = {
        "schedulerName": "by-load",
        "leaderElection": {
            "leaseDurationSeconds": 60,
            "renewDeadlineSeconds": 40,
            "retryPeriodSeconds": 2.5,
        },
        "log": {"format": "text", "level": "debug"},
        "extraArgs": ["--bind-concurrency=7"],
    }
    settings = settings_of(render(values))

    assert (settings.scheduler_name, settings.namespace, settings.lease) == ("by-load", "plimsoll-system", "by-load")
    times = settings.lease_times
    assert (times.duration_s, times.renew_deadline_s, times.retry_s) == (60, 40, 2.5)
    assert (settings.log_format, settings.log_level, settings.bind_concurrency) == ("text", "debug", 7)


def test_a_single_replica_without_a_lease_is_never_two():
    rendered = render({"replicaCount": 1, "leaderElection": {"enabled": False}})

    assert not settings_of(rendered).leader_elect
    assert rendered.one("Deployment")["spec"]["strategy"] == {"type": "Recreate"}


def test_its_pods_wait_for_no_scheduler_but_the_clusters_own():
    pod = render({"schedulerName": "by-load"}).pod["spec"]

    assert pod["schedulerName"] == "default-scheduler"
    assert pod["priorityClassName"] == "system-cluster-critical"


def test_pod_and_namespace_are_told_by_the_downward_api():
    env = {found["name"]: found["valueFrom"]["fieldRef"]["fieldPath"] for found in render().container["env"]}

    assert env == {"POD_NAME": "metadata.name", "POD_NAMESPACE": "metadata.namespace"}


def test_probes_ask_the_port_of_the_metrics_and_life_does_not_depend_on_readiness():
    container = render().container
    probes = {name: container[name]["httpGet"] for name in ("startupProbe", "livenessProbe", "readinessProbe")}
    (port,) = container["ports"]

    assert (port["name"], port["containerPort"]) == ("metrics", 10260)
    assert {probe["port"] for probe in probes.values()} == {"metrics"}
    assert {name: probe["path"] for name, probe in probes.items()} == {
        "startupProbe": "/livez",
        "livenessProbe": "/livez",
        "readinessProbe": "/readyz",
    }


@pytest.mark.parametrize(
    ("values", "want"),
    [
        pytest.param({}, f"plimsoll:{plimsoll.__version__}", id="the version of the chart"),
        pytest.param({"image": {"registry": "r.example"}}, f"r.example/plimsoll:{plimsoll.__version__}", id="registry"),
        pytest.param({"image": {"repository": "a/b", "tag": "v2"}}, "a/b:v2", id="repository and tag"),
        pytest.param({"image": {"digest": DIGEST}}, f"plimsoll@{DIGEST}", id="digest alone"),
        pytest.param({"image": {"tag": "v2", "digest": DIGEST}}, f"plimsoll:v2@{DIGEST}", id="tag and digest"),
        pytest.param(
            {"image": {"registry": "r.example", "tag": "v2"}, "global": {"imageRegistry": "g.example"}},
            "g.example/plimsoll:v2",
            id="the parent chart's registry goes first",
        ),
    ],
)
def test_the_image_is_named_by_its_parts(values, want):
    assert render(values).container["image"] == want


def test_pull_secrets_are_the_own_ones_and_the_parent_charts():
    values = {"imagePullSecrets": [{"name": "own"}], "global": {"imagePullSecrets": [{"name": "shared"}]}}

    assert render(values).pod["spec"]["imagePullSecrets"] == [{"name": "own"}, {"name": "shared"}]


@pytest.mark.parametrize(
    ("budget", "want"),
    [
        pytest.param({}, {"maxUnavailable": 1}, id="one may be away"),
        pytest.param({"maxUnavailable": "50%"}, {"maxUnavailable": "50%"}, id="a percentage"),
        pytest.param({"minAvailable": 1}, {"minAvailable": 1}, id="one must stay, and nothing else is said"),
        pytest.param({"minAvailable": 0}, {"minAvailable": 0}, id="zero is a number, too"),
    ],
)
def test_the_disruption_budget_says_one_of_two_things(budget, want):
    spec = render({"podDisruptionBudget": budget}).one("PodDisruptionBudget")["spec"]

    assert {key: spec[key] for key in ("minAvailable", "maxUnavailable") if key in spec} == want


@pytest.mark.parametrize(
    ("served", "want"),
    [
        pytest.param(["monitoring.coreos.com/v1"], 1, id="where the cluster knows it"),
        pytest.param([], 0, id="not where it would be refused"),
    ],
)
def test_a_service_monitor_is_created_only_where_there_is_the_kind(served, want):
    rendered = render({"serviceMonitor": {"enabled": True}}, api_versions=served)

    assert len(rendered.all("ServiceMonitor")) == want


def test_the_service_monitor_selects_the_metrics_service():
    rendered = render({"serviceMonitor": {"enabled": True}}, api_versions=["monitoring.coreos.com/v1"])
    monitor, service = rendered.one("ServiceMonitor")["spec"], rendered.one("Service")

    assert monitor["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    assert monitor["namespaceSelector"] == {"matchNames": [service["metadata"]["namespace"]]}
    assert [found["port"] for found in monitor["endpoints"]] == [found["name"] for found in service["spec"]["ports"]]


def test_the_network_policy_lets_through_what_the_operator_needs():
    spec = render({"networkPolicy": {"enabled": True}}).one("NetworkPolicy")["spec"]
    out = {(port["port"], port["protocol"]) for rule in spec["egress"] for port in rule["ports"]}

    assert [port["port"] for rule in spec["ingress"] for port in rule["ports"]] == ["metrics"]
    assert out == {(53, "UDP"), (53, "TCP"), (443, "TCP"), (6443, "TCP"), (9090, "TCP")}


def test_objects_of_the_users_are_templates():
    values = {
        "extraObjects": [
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "{{ .Release.Name }}-a"}},
            'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ include "plimsoll.fullname" . }}-b}\n',
        ]
    }

    assert [found["metadata"]["name"] for found in render(values).all("ConfigMap")] == ["plimsoll-a", "plimsoll-b"]


def test_an_older_cluster_is_refused_before_anything_is_installed():
    with pytest.raises(HelmFailed, match="requires kubeVersion"):
        render(kube_version="1.29.9")


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        pytest.param({}, "names no registry", id="an image that nobody has"),
        pytest.param({}, "serves no metrics.k8s.io", id="no metrics-server"),
        pytest.param({}, 'refused ("insufficient quota', id="a priority class that may be restricted"),
        pytest.param({"crds": {"enabled": False}}, "must have installed the", id="the CRD from elsewhere"),
        pytest.param({"crds": {"keep": False}}, "deletes the CRD", id="policies that go with the release"),
        pytest.param({"serviceMonitor": {"enabled": True}}, "no ServiceMonitor was", id="no Prometheus operator"),
        pytest.param({"metricsServer": {"enabled": False}}, "metricsServer.enabled is off", id="metrics off"),
        pytest.param({"rbac": {"create": False}}, "rbac.create is off", id="rights from elsewhere"),
        pytest.param({"replicaCount": 1}, "nothing is scheduled while it restarts", id="a single replica"),
    ],
)
def test_notes_tell_what_is_missing(values, sentence):
    assert sentence in notes(values)


@pytest.mark.parametrize(
    ("values", "namespace"),
    [
        pytest.param({}, "plimsoll-system", id="as the README installs it"),
        pytest.param({"schedulerName": "by-load"}, "elsewhere", id="under another name in another namespace"),
    ],
)
def test_notes_ask_for_an_explanation_where_the_leader_is(values, namespace):
    text = notes(values, namespace=namespace)
    (line,) = (line.strip() for line in text.splitlines() if line.strip().startswith("plimsoll explain"))
    _, *flags = line.removeprefix("plimsoll explain pod").split(">")

    with explain_pod.make_context("pod", ["web", *flags[0].split()]) as context:
        asked = context.params["operator_namespace"], context.params["scheduler_name"]

    assert asked == (namespace, values.get("schedulerName", "plimsoll"))


def test_notes_are_silent_about_what_is_well():
    quiet = {"image": {"registry": "registry.example.com"}, "priorityClassName": "own-class"}
    text = notes(quiet)

    # helm takes no other cluster for it than one without metrics-server.
    assert [line for line in text.splitlines() if line.startswith(("NOTE", "WARNING"))] == [
        "NOTE: the cluster serves no metrics.k8s.io: policies that read metrics-server get no readings until it is installed."
    ]
    assert "priority class" not in text
