from __future__ import annotations

import json
from pathlib import Path

import pytest
from aiohttp import web

from plimsoll.errors import SettingsError
from plimsoll.kube import preflight
from plimsoll.kube.client import ApiClient
from plimsoll.kube.config import ClusterAccess
from plimsoll.kube.connection import Connection
from plimsoll.kube.permissions import ALWAYS, lease_permissions
from tests.kube.api_server import ApiServer

DISCOVERY = "/apis/plimsoll.dev/v1alpha1"
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
NEEDED = ALWAYS + lease_permissions(namespace="ns", name="plimsoll")


@pytest.fixture
def complete(server: ApiServer) -> ApiServer:
    """With the CRD, and with every right."""
    server.respond("GET", DISCOVERY, {"resources": [{"name": "schedulingpolicies"}]})
    server.respond("POST", REVIEWS, {"status": {"allowed": True}}, status=201)
    return server


async def test_nothing_is_said_where_nothing_is_missing(complete: ApiServer, client: ApiClient) -> None:
    await preflight.check(client, needed=NEEDED, patience_s=0)
    assert len(complete.sent("POST", REVIEWS)) == len(NEEDED)


async def test_a_missing_crd_is_told_with_the_way_to_install_it(server: ApiServer, client: ApiClient) -> None:
    with pytest.raises(SettingsError, match=r"does not know SchedulingPolicies.*kubectl apply --server-side -f crds/"):
        await preflight.check(client, needed=NEEDED, patience_s=30)


async def test_missing_rights_are_told_by_name(server: ApiServer, client: ApiClient) -> None:
    server.respond("GET", DISCOVERY, {"resources": [{"name": "schedulingpolicies"}]})

    async def review(request: web.Request) -> web.StreamResponse:
        wanted = json.loads(await request.read())["spec"]["resourceAttributes"]
        denied = (wanted["resource"], wanted["verb"]) in {("pods", "create"), ("leases", "update")}
        return web.json_response({"status": {"allowed": not denied}}, status=201)

    server.answer("POST", REVIEWS, review)
    with pytest.raises(SettingsError) as raised:
        await preflight.check(client, needed=NEEDED, patience_s=0)
    message = str(raised.value)
    assert "create pods/binding" in message
    assert "update leases.coordination.k8s.io in namespace ns" in message
    assert "list pods" not in message
    assert "helm/plimsoll" in message


async def test_refused_credentials_are_told(server: ApiServer, client: ApiClient) -> None:
    server.fail("GET", DISCOVERY, status=401, times=9)
    with pytest.raises(SettingsError, match="refuses these credentials"):
        await preflight.check(client, needed=NEEDED, patience_s=30)


async def test_an_api_server_that_is_still_starting_is_waited_for(
    complete: ApiServer, client: ApiClient, caplog: pytest.LogCaptureFixture
) -> None:
    complete.fail("GET", DISCOVERY, status=503, times=2)
    complete.prefer_failures()
    await preflight.check(client, needed=NEEDED, patience_s=30)
    assert "cannot be reached" in caplog.text


async def test_an_api_server_that_never_answers_is_given_up(tmp_path: Path) -> None:
    nobody = ApiServer(url="http://127.0.0.1:1")
    async with ApiClient(Connection(ClusterAccess(str(nobody.kubeconfig(tmp_path))))) as client:
        with pytest.raises(SettingsError, match=r"API server http://127\.0\.0\.1:1 .* cannot be reached") as raised:
            await preflight.check(client, needed=NEEDED, patience_s=0.2)
    assert "\n" not in str(raised.value)


async def test_something_that_is_no_api_server_is_told(server: ApiServer, client: ApiClient) -> None:
    server.fail("GET", DISCOVERY, status=418, times=9)
    with pytest.raises(SettingsError, match="does not answer as an API server does"):
        await preflight.check(client, needed=NEEDED, patience_s=0)
