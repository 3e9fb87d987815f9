from __future__ import annotations

import pytest

LEASE = "/apis/coordination.k8s.io/v1/namespaces/plimsoll-system/leases/plimsoll"
POD = "/api/v1/namespaces/default/pods/web-1"
# Nothing listens on it: it is the port for discarding what is sent.
NOBODY = "http://127.0.0.1:9"
DECISIONS = "/debug/decisions?pod=default/web-1"


def failed_with(result, sentence):
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("Error: ")
    assert sentence in result.stderr


def test_no_such_pod(canned, kubeconfig_of, plimsoll):
    result = plimsoll("explain", "pod", "web-1", "--kubeconfig", kubeconfig_of(canned.url))
    failed_with(result, "Error: pod default/web-1 not found\n")


def test_no_cluster_there(kubeconfig_of, plimsoll):
    result = plimsoll("explain", "pod", "web-1", "--kubeconfig", kubeconfig_of(NOBODY))
    failed_with(result, f"the API server at {NOBODY} cannot be reached: Connection refused")


def test_the_cluster_speaks_another_protocol(canned, kubeconfig_of, plimsoll):
    secure = canned.url.replace("http:", "https:")
    result = plimsoll("explain", "pod", "web-1", "--kubeconfig", kubeconfig_of(secure))
    failed_with(result, f"the API server at {secure} cannot be reached: ")


def test_no_right_to_read_the_pod(canned, kubeconfig_of, plimsoll):
    refusal = {"kind": "Status", "message": 'pods "web-1" is forbidden: User "u" cannot get resource "pods"'}
    canned.put(POD, refusal, status=403)
    result = plimsoll("explain", "pod", "web-1", "--kubeconfig", kubeconfig_of(canned.url))
    failed_with(result, f"the API server answered 403: {refusal['message']}")


def test_no_right_to_reach_the_leader_is_a_note_only(canned, kubeconfig_of, plimsoll):
    proxy = f"/api/v1/namespaces/plimsoll-system/pods/http:plimsoll-0:10260/proxy{DECISIONS}"
    canned.put(LEASE, {"spec": {"holderIdentity": "plimsoll-0_1b2c"}})
    canned.put(proxy, {"kind": "Status", "message": 'cannot get resource "pods/proxy"'}, status=403)
    canned.put(POD, {"metadata": {"namespace": "default", "name": "web-1"}, "spec": {"schedulerName": "plimsoll"}})
    result = plimsoll("explain", "pod", "web-1", "--kubeconfig", kubeconfig_of(canned.url))
    assert result.exit_code == 0
    assert (
        'Note: the leader could not be asked: the API server answered 403: cannot get resource "pods/proxy";'
        " name its metrics address with --server" in result.stderr
    )


@pytest.mark.parametrize("lease", [{"spec": {}}, {"spec": {"holderIdentity": ""}}])
def test_nobody_leads(canned, kubeconfig_of, plimsoll, lease):
    canned.put(LEASE, lease)
    canned.put(POD, {"metadata": {"namespace": "default", "name": "web-1"}, "spec": {"schedulerName": "plimsoll"}})
    result = plimsoll("explain", "pod", "web-1", "--kubeconfig", kubeconfig_of(canned.url))
    assert "nobody holds the Lease plimsoll-system/plimsoll" in result.stderr


def test_no_kubeconfig_at_all(plimsoll):
    failed_with(plimsoll("explain", "pod", "web-1"), "no kubeconfig")


def test_a_kubeconfig_that_is_not_there(plimsoll):
    failed_with(plimsoll("explain", "pod", "web-1", "--kubeconfig", "/nonexistent/config"), "/nonexistent/config")


def test_a_kubeconfig_that_is_none(plimsoll, tmp_path):
    broken = tmp_path / "config"
    broken.write_text("{{{")
    failed_with(plimsoll("explain", "pod", "web-1", "--kubeconfig", str(broken)), str(broken))


def test_no_such_context(canned, kubeconfig_of, plimsoll):
    file = kubeconfig_of(canned.url)
    failed_with(plimsoll("explain", "pod", "web-1", "--kubeconfig", file, "--context", "away"), "away")


def test_no_server_there(plimsoll):
    failed_with(
        plimsoll("explain", "pod", "web-1", "--server", NOBODY), f"{NOBODY} cannot be reached: Connection refused"
    )


@pytest.mark.parametrize("url", ["file:///etc/passwd", "localhost:10260", "http://[", "http://host:port"])
def test_a_server_address_that_is_none(plimsoll, url):
    failed_with(plimsoll("explain", "pod", "web-1", "--server", url), url)


@pytest.mark.parametrize(
    ("status", "body", "want"),
    [
        pytest.param(503, "not ready\n", "answered 503: not ready", id="it refuses"),
        pytest.param(404, "404: Not Found", "answered 404: 404: Not Found", id="another server"),
        pytest.param(200, "<html>", "answered 200: <html>", id="no JSON"),
        pytest.param(200, "", "answered 200: no explanation", id="nothing"),
        pytest.param(200, {"status": "ok"}, "does not answer with decisions", id="other JSON"),
        pytest.param(200, {"decisions": [1]}, "does not answer with decisions", id="decisions of another kind"),
    ],
)
def test_a_server_that_does_not_answer_with_decisions(canned, plimsoll, status, body, want):
    canned.put(DECISIONS, body, status=status)
    failed_with(plimsoll("explain", "pod", "web-1", "--server", canned.url), want)


def test_decisions_of_another_version_can_still_be_had_as_json(canned, plimsoll):
    canned.put(DECISIONS, {"pod": "default/web-1", "decisions": [{"outcome": "Wait"}]})
    failed_with(plimsoll("explain", "pod", "web-1", "--server", canned.url), "or -o json")
    assert plimsoll("explain", "pod", "web-1", "--server", canned.url, "-o", "json").exit_code == 0
