from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from plimsoll.kube.binding import Binder, BindOutcome
from plimsoll.kube.client import ApiClient
from tests.builders import make_pod
from tests.kube.api_server import ApiServer

POD = "/api/v1/namespaces/default/pods/web"
BINDING = f"{POD}/binding"
Arrange = Callable[[ApiServer], Any]


@pytest.fixture
async def binder(server: ApiServer, client: ApiClient) -> Binder:
    await server.put(POD, make_pod("web").obj())
    return Binder(client, timeout_s=0.3)


async def _bind(binder: Binder, node: str = "node-1") -> BindOutcome:
    result = await binder.bind(make_pod("web").info(), node=node, annotation='{"node":"node-1"}')
    return result.outcome


async def test_the_binding_carries_uid_node_and_decision(server: ApiServer, binder: Binder) -> None:
    assert await _bind(binder) is BindOutcome.BOUND
    assert server.sent("POST", BINDING) == [
        {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {
                "name": "web",
                "namespace": "default",
                "uid": "uid-default-web",
                "annotations": {"plimsoll.dev/decision": '{"node":"node-1"}'},
            },
            "target": {"apiVersion": "v1", "kind": "Node", "name": "node-1"},
        }
    ]


async def _nothing(_: ApiServer) -> None: ...


async def _bound_by_another(server: ApiServer) -> None:
    await server.put(POD, make_pod("web").on("node-9").obj())


async def _bound_there_by_another(server: ApiServer) -> None:
    await server.put(POD, make_pod("web").on("node-1").obj())


async def _recreated(server: ApiServer) -> None:
    await server.put(POD, make_pod("web").metadata(uid="another").obj())


async def _deleted(server: ApiServer) -> None:
    await server.delete(POD)


async def _deleting(server: ApiServer) -> None:
    await server.put(POD, make_pod("web").deleting().obj())
    server.fail("POST", BINDING, status=409, message="pod web is being deleted, cannot be assigned to a host")


async def _gated(server: ApiServer) -> None:
    await server.put(POD, make_pod("web").gated("wait").obj())
    server.fail("POST", BINDING, status=409, message="pod web has non-empty .spec.schedulingGates")


async def _fails(server: ApiServer) -> None:
    server.fail("POST", BINDING, status=500)


async def _fails_although_done(server: ApiServer) -> None:
    server.fail("POST", BINDING, status=500, carried_out=True)


async def _hangs(server: ApiServer) -> None:
    server.hang("POST", BINDING)


async def _hangs_although_done(server: ApiServer) -> None:
    server.hang("POST", BINDING, carried_out=True)


async def _throttled(server: ApiServer) -> None:
    server.fail("POST", BINDING, status=429, headers={"Retry-After": "0"})


async def _forbidden(server: ApiServer) -> None:
    server.fail("POST", BINDING, status=403)


async def _dark(server: ApiServer) -> None:
    """Unanswered, and the first looks are answered with errors."""
    server.fail("POST", BINDING, status=503, carried_out=True)
    server.fail("GET", POD, status=503, times=2)


@pytest.mark.parametrize(
    ("arrange", "want", "retry"),
    [
        pytest.param(_nothing, BindOutcome.BOUND, False, id="bound"),
        pytest.param(_bound_by_another, BindOutcome.ASSIGNED, False, id="another was first"),
        pytest.param(_bound_there_by_another, BindOutcome.ASSIGNED, False, id="another chose the same node"),
        pytest.param(_recreated, BindOutcome.REPLACED, False, id="recreated under its name"),
        pytest.param(_deleted, BindOutcome.GONE, False, id="deleted"),
        pytest.param(_deleting, BindOutcome.GONE, False, id="being deleted"),
        pytest.param(_gated, BindOutcome.FAILED, True, id="gates were added"),
        pytest.param(_fails, BindOutcome.FAILED, True, id="server error"),
        pytest.param(_fails_although_done, BindOutcome.BOUND, False, id="server error although it was done"),
        pytest.param(_hangs, BindOutcome.FAILED, True, id="no answer"),
        pytest.param(_hangs_although_done, BindOutcome.BOUND, False, id="no answer although it was done"),
        pytest.param(_throttled, BindOutcome.FAILED, True, id="too many requests"),
        pytest.param(_forbidden, BindOutcome.FAILED, True, id="not allowed"),
        pytest.param(_dark, BindOutcome.BOUND, False, id="looks until it sees"),
    ],
)
async def test_the_outcome_is_what_became_of_the_pod(
    server: ApiServer, binder: Binder, arrange: Arrange, want: BindOutcome, *, retry: bool
) -> None:
    await arrange(server)
    outcome = await _bind(binder)
    assert outcome is want
    assert outcome.retry is retry
    assert server.count("POST", BINDING) == 1, "it is never sent twice"


async def test_a_binding_of_ours_that_was_in_the_way_counts_as_bound(server: ApiServer, binder: Binder) -> None:
    assert await _bind(binder) is BindOutcome.BOUND
    assert await _bind(binder) is BindOutcome.BOUND
    assert await _bind(binder, node="node-2") is BindOutcome.ASSIGNED
