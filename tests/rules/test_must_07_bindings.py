from __future__ import annotations

import pytest

from plimsoll.kube.binding import Binder, BindOutcome
from plimsoll.kube.client import ApiClient
from tests.builders import make_pod
from tests.kube.api_server import ApiServer

POD = "/api/v1/namespaces/default/pods/web"


@pytest.fixture
async def binder(server: ApiServer, client: ApiClient) -> Binder:
    await server.put(POD, make_pod("web").obj())
    return Binder(client, timeout_s=0.2)


async def bound(binder: Binder, *, node: str = "n1") -> BindOutcome:
    result = await binder.bind(make_pod("web").info(), node=node, annotation=f"to {node}")
    return result.outcome


async def test_a_binding_names_the_uid(server: ApiServer, binder: Binder) -> None:
    assert await bound(binder) is BindOutcome.BOUND
    (sent,) = server.sent("POST", f"{POD}/binding")
    assert sent["metadata"]["uid"] == "uid-default-web"
    assert server.objects[POD]["spec"]["nodeName"] == "n1"


async def test_another_pod_of_the_name_is_not_bound(server: ApiServer, binder: Binder) -> None:
    await server.put(POD, make_pod("web").metadata(uid="another").obj())
    assert await bound(binder) is BindOutcome.REPLACED
    assert "nodeName" not in server.objects[POD]["spec"]


async def test_a_pod_that_somebody_else_bound_stays_there(server: ApiServer, binder: Binder) -> None:
    await server.put(POD, make_pod("web").on("n9").obj())
    outcome = await bound(binder)
    assert (outcome, outcome.retry) == (BindOutcome.ASSIGNED, False)
    assert server.objects[POD]["spec"]["nodeName"] == "n9"


async def test_a_pod_that_is_gone_is_not_tried_again(server: ApiServer, binder: Binder) -> None:
    await server.delete(POD)
    outcome = await bound(binder)
    assert (outcome, outcome.retry) == (BindOutcome.GONE, False)


async def test_no_answer_to_a_binding_that_was_carried_out_is_no_failure(server: ApiServer, binder: Binder) -> None:
    server.hang("POST", f"{POD}/binding", carried_out=True)
    assert await bound(binder) is BindOutcome.BOUND
    assert server.count("POST") == 1


async def test_no_answer_to_a_binding_that_was_not_carried_out_is_one(server: ApiServer, binder: Binder) -> None:
    server.hang("POST", f"{POD}/binding")
    outcome = await bound(binder)
    assert (outcome, outcome.retry) == (BindOutcome.FAILED, True)
