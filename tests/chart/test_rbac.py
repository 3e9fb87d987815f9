"""The service account may do what the operator does, and nothing else."""

from __future__ import annotations

import pytest

from plimsoll.kube.permissions import ALWAYS, Permission, lease_permissions
from tests.chart.chart import NAMESPACE, VALUES_FILES, render
from tests.chart.flags import settings_of
from tests.chart.rbac import granted

pytestmark = pytest.mark.cluster

METRICS = {("list", "metrics.k8s.io", "nodes", ""), ("list", "metrics.k8s.io", "pods", "")}


def _access(permission: Permission):
    return permission.verb, permission.resource.group, permission.resource.plural, permission.subresource


def test_it_is_granted_what_the_operator_checks_at_its_start_and_the_metrics():
    lease = lease_permissions(namespace=NAMESPACE, name="plimsoll")

    assert granted(render().manifests) == {_access(found) for found in (*ALWAYS, *lease)} | METRICS


def test_metrics_are_granted_only_where_metrics_server_is_used():
    assert not METRICS & granted(render({"metricsServer": {"enabled": False}}).manifests)


def test_without_leader_election_it_has_nothing_to_do_with_leases():
    alone = render({"replicaCount": 1, "leaderElection": {"enabled": False}})

    assert not {access for access in granted(alone.manifests) if access[2] == "leases"}


@pytest.mark.parametrize("scheduler_name", ["plimsoll", "by-load"])
def test_the_one_lease_that_it_may_change_is_the_one_that_it_uses(scheduler_name):
    rendered = render({"schedulerName": scheduler_name})
    create, change = rendered.one("Role")["rules"]

    assert (create["verbs"], create.get("resourceNames")) == (["create"], None)
    assert change["resourceNames"] == [settings_of(rendered).lease] == [scheduler_name]


def test_rights_in_one_namespace_are_the_release_namespaces():
    role, binding = render().one("Role"), render().one("RoleBinding")

    assert role["metadata"]["namespace"] == binding["metadata"]["namespace"] == NAMESPACE
    assert binding["roleRef"]["name"] == role["metadata"]["name"]


def test_people_learn_of_policies_through_the_clusters_own_roles():
    roles = render().all("ClusterRole")
    aggregated = {
        label.rpartition("-")[2]: {verb for rule in role["rules"] for verb in rule["verbs"]}
        for role in roles
        for label in role["metadata"]["labels"]
        if "/aggregate-to-" in label and role["metadata"]["name"].endswith(label.rpartition("-")[2])
    }

    assert aggregated["view"] == {"get", "list", "watch"}
    assert aggregated["edit"] == {"create", "delete", "deletecollection", "patch", "update"}


@pytest.mark.parametrize("values", VALUES_FILES, ids=lambda path: path.stem)
def test_every_binding_is_to_the_account_that_the_pods_run_as(values):
    rendered = render(values)
    account = {
        "kind": "ServiceAccount",
        "name": rendered.pod["spec"]["serviceAccountName"],
        "namespace": rendered.one("Deployment")["metadata"]["namespace"],
    }

    for binding in rendered.all("ClusterRoleBinding") + rendered.all("RoleBinding"):
        assert binding["subjects"] == [account]
