"""Releases do not get in each other's way."""

from __future__ import annotations

import pytest

from tests.chart.chart import render

pytestmark = pytest.mark.cluster

SECOND = {"crds": {"enabled": False}, "schedulerName": "second"}


@pytest.mark.parametrize(
    ("release", "namespace"),
    [
        pytest.param("other", "plimsoll-system", id="another name in the same namespace"),
        pytest.param("plimsoll", "elsewhere", id="the same name in another namespace"),
        pytest.param("system-plimsoll", "plimsoll", id="names that only together are the same"),
        pytest.param("plimsoll-canary", "plimsoll-system", id="a name that contains the chart's"),
    ],
)
def test_two_releases_share_no_object(release, namespace):
    second = render(SECOND, release=release, namespace=namespace)

    assert not second.names & render().names


@pytest.mark.parametrize(
    ("release", "values", "want"),
    [
        pytest.param("plimsoll", {}, "plimsoll", id="a release that is called like the chart"),
        pytest.param("prod", {}, "prod-plimsoll", id="any other"),
        pytest.param("prod", {"nameOverride": "scheduler"}, "prod-scheduler", id="another name for the chart"),
        pytest.param("prod", {"fullnameOverride": "mine"}, "mine", id="another name altogether"),
        pytest.param("r" * 53, {}, "r" * 46, id="no longer than the pods' names allow"),
    ],
)
def test_the_full_name_is_the_usual_one(release, values, want):
    assert render(values, release=release).one("Deployment")["metadata"]["name"] == want


def test_names_of_pods_and_services_are_as_long_as_host_names_may_be():
    rendered = render(release="r" * 53)
    name = rendered.one("Deployment")["metadata"]["name"]

    assert len(f"{name}-7d9f8c6b5d-x2x4z") <= 63
    assert len(rendered.one("Service")["metadata"]["name"]) <= 63


def test_another_namespace_may_be_chosen():
    rendered = render({"namespaceOverride": "elsewhere"})

    assert {namespace for _, namespace, _ in rendered.names} == {"", "elsewhere"}
    assert {
        subject["namespace"]
        for binding in rendered.all("ClusterRoleBinding") + rendered.all("RoleBinding")
        for subject in binding["subjects"]
    } == {"elsewhere"}


def test_selectors_find_the_pods_whatever_labels_are_added():
    labels = {"app.kubernetes.io/name": "not-mine", "team": "platform"}
    rendered = render({"commonLabels": labels, "podLabels": labels, "networkPolicy": {"enabled": True}})
    pod = rendered.pod["metadata"]["labels"]
    selectors = [
        rendered.one("Deployment")["spec"]["selector"]["matchLabels"],
        rendered.one("Service")["spec"]["selector"],
        rendered.one("PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
        rendered.one("NetworkPolicy")["spec"]["podSelector"]["matchLabels"],
        *(spread["labelSelector"]["matchLabels"] for spread in rendered.pod["spec"]["topologySpreadConstraints"]),
    ]

    assert pod["team"] == "platform"
    for selector in selectors:
        assert selector.items() <= pod.items()
    assert len({frozenset(selector.items()) for selector in selectors}) == 1


def test_a_spread_constraint_of_the_users_keeps_its_own_selector():
    own = {"matchLabels": {"of": "my-own"}}
    spread = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    rendered = render({"topologySpreadConstraints": [spread | {"labelSelector": own}, spread]})
    first, second = (found["labelSelector"] for found in rendered.pod["spec"]["topologySpreadConstraints"])

    assert first == own
    assert second["matchLabels"].keys() == {"app.kubernetes.io/name", "app.kubernetes.io/instance"}
