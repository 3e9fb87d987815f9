"""What the helpers that judge a run say of manifests and audit logs."""

from __future__ import annotations

import itertools
import json

import pytest

from tests.chart.rbac import denied, granted, used

USER = "system:serviceaccount:plimsoll-system:plimsoll"


def _role(*rules, kind="ClusterRole", name="role", namespace=None):
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"kind": kind, "metadata": metadata, "rules": list(rules)}


def _rule(group, resources, verbs):
    return {"apiGroups": [group], "resources": resources, "verbs": verbs}


def _binding(kind="ClusterRole", name="role", namespace=None, subject="ServiceAccount"):
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    bound = {"roleRef": {"kind": kind, "name": name}, "subjects": [{"kind": subject, "name": "a"}]}
    return {"kind": "RoleBinding" if namespace else "ClusterRoleBinding", "metadata": metadata, **bound}


def test_granted_is_every_combination_that_a_rule_names():
    role = _role(_rule("", ["pods", "pods/status"], ["get", "patch"]))

    assert granted([role, _binding()]) == {
        ("get", "", "pods", ""),
        ("patch", "", "pods", ""),
        ("get", "", "pods", "status"),
        ("patch", "", "pods", "status"),
    }


def test_granted_reads_what_helm_prints():
    text = """
---
# Source: a template
---
kind: Role
metadata: {name: r, namespace: n}
rules: [{apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get]}]
---
kind: RoleBinding
metadata: {name: b, namespace: n}
roleRef: {kind: Role, name: r}
subjects: [{kind: ServiceAccount, name: a}]
"""

    assert granted(text) == {("get", "coordination.k8s.io", "leases", "")}


@pytest.mark.parametrize(
    "manifests",
    [
        pytest.param([_role(_rule("", ["pods"], ["get"]))], id="a role that nobody is bound to"),
        pytest.param([_role(_rule("", ["pods"], ["get"])), _binding(subject="User")], id="a role of a person"),
    ],
)
def test_granted_counts_only_what_a_service_account_is_bound_to(manifests):
    assert granted(manifests) == set()


def test_a_binding_to_a_role_from_elsewhere_is_not_passed_over():
    with pytest.raises(KeyError):
        granted([_binding(name="cluster-admin")])


def test_a_wildcard_is_not_passed_over():
    with pytest.raises(ValueError, match="wildcard"):
        granted([_role(_rule("", ["pods"], ["*"])), _binding()])


_serial = itertools.count(1)


def _event(
    verb="list", resource="pods", *, code=200, user=USER, stage="ResponseComplete", audit_id="", at_s=0, **target
):
    event = {"requestReceivedTimestamp": f"2026-11-21T02:38:{at_s:02}.481312Z"}
    event |= {"auditID": audit_id or str(next(_serial)), "stage": stage, "verb": verb, "user": {"username": user}}
    event |= {"requestURI": f"/{resource}", "objectRef": {"resource": resource, **target}}
    return event | ({"responseStatus": {"code": code}} if code else {})


@pytest.fixture
def audit_log(tmp_path):
    def write(*events, unfinished=""):
        path = tmp_path / "audit.log"
        path.write_text("".join(json.dumps(event) + "\n" for event in events) + unfinished)
        return path

    return write


def test_used_is_what_the_user_asked_for_and_was_given(audit_log):
    log = audit_log(
        _event("create", subresource="binding"),
        _event("patch", "events", apiGroup="events.k8s.io"),
        _event("get", "secrets", user="somebody-else"),
        _event("watch", "nodes", stage="ResponseStarted"),
        _event("delete", "pods", code=403),
        _event("get", "leases", code=404, apiGroup="coordination.k8s.io"),
    )

    assert used(log, USER) == {
        ("create", "", "pods", "binding"),
        ("patch", "events.k8s.io", "events", ""),
        ("watch", "", "nodes", ""),
        ("get", "coordination.k8s.io", "leases", ""),
    }


def test_a_request_that_only_arrived_is_not_used_yet(audit_log):
    arrived = _event("delete", code=None, stage="RequestReceived", audit_id="a")

    assert used(audit_log(arrived, _event("delete", code=403, audit_id="a")), USER) == set()


def test_denied_tells_what_where_and_how_often(audit_log):
    log = audit_log(
        _event("watch", "nodes", code=403, audit_id="a", stage="ResponseStarted"),
        _event("watch", "nodes", code=403, audit_id="a"),
        _event("watch", "nodes", code=403),
        _event("get", "leases", code=403, apiGroup="coordination.k8s.io", namespace="n"),
        _event("patch", code=403, subresource="status", namespace="n"),
        _event("get", "secrets", code=403, user="somebody-else"),
        _event("get"),
    )

    assert denied(log, USER) == [
        "get leases.coordination.k8s.io in namespace n (1 times)",
        "patch pods/status in namespace n (1 times)",
        "watch nodes in the whole cluster (2 times)",
    ]


@pytest.mark.parametrize(
    ("later", "want"),
    [
        pytest.param({"at_s": 12}, 0, id="the same a moment later: the API server had just started"),
        pytest.param({"at_s": 12, "name": "other"}, 1, id="another object"),
        pytest.param({"at_s": 12, "namespace": "other"}, 1, id="another namespace"),
        pytest.param({"at_s": 12, "code": 403}, 2, id="refused again"),
        pytest.param({"at_s": 40}, 1, id="long after: somebody has granted it by hand"),
        pytest.param({"at_s": 5}, 1, id="before: the right was taken away"),
    ],
)
def test_what_a_starting_api_server_refuses_to_everybody_is_no_gap_in_the_roles(audit_log, later, want):
    lease = {"apiGroup": "coordination.k8s.io", "namespace": "n", "name": "plimsoll"}
    refused = _event("get", "leases", code=403, at_s=11, **lease)

    found = denied(audit_log(refused, _event("get", "leases", **(lease | later))), USER)

    assert sum(int(sentence.rpartition("(")[2].split()[0]) for sentence in found) == want


def test_paths_that_are_no_resource_can_be_denied_as_well(audit_log):
    event = _event(code=403) | {"requestURI": "/metrics", "verb": "get"}
    del event["objectRef"]

    assert denied(audit_log(event), USER) == ["get /metrics (1 times)"]
    assert used(audit_log(event | {"responseStatus": {"code": 200}}), USER) == set()


def test_a_line_that_is_still_being_written_waits_for_the_next_look(audit_log):
    assert used(audit_log(_event(), unfinished='{"auditID": "7", "us'), USER) == {("list", "", "pods", "")}
