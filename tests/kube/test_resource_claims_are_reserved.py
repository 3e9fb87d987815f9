from __future__ import annotations

from typing import Any

import pytest
from aiohttp import web

from plimsoll.cluster.reservation import Reservation
from plimsoll.errors import NotFound
from plimsoll.kube.client import ApiClient
from plimsoll.kube.resource_claims import ReservationWriter
from tests.builders import make_pod
from tests.kube.api_server import ApiServer

Json = dict[str, Any]

PATH = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/gpu"
CLAIM = Reservation("default", "gpu", "uid-gpu")
POD = make_pod("web").info()
OURS = {"resource": "pods", "name": "web", "uid": POD.uid}
THEIRS = {"resource": "pods", "name": "other", "uid": "uid-other"}


def a_resource_claim(*reserved_for: Json, allocation: Json | None = None, **metadata: str) -> Json:
    status: Json = {"allocation": {"devices": {}} if allocation is None else allocation}
    if reserved_for:
        status["reservedFor"] = list(reserved_for)
    return {"metadata": {"name": "gpu", "namespace": "default", "uid": "uid-gpu"} | metadata, "status": status}


@pytest.fixture
def leading() -> list[bool]:
    """Whether the process leads: the last says."""
    return [True]


@pytest.fixture
def writer(client: ApiClient, leading: list[bool]) -> ReservationWriter:
    return ReservationWriter(client, may_write=lambda: leading[-1], timeout_s=1.0)


@pytest.mark.parametrize("before", [(), (THEIRS,)], ids=["nobody has it", "others share it"])
async def test_the_pod_joins_those_for_whom_the_claim_is_reserved(
    server: ApiServer, writer: ReservationWriter, before: tuple[Json, ...]
) -> None:
    await server.put(PATH, a_resource_claim(*before))
    assert await writer.reserve(CLAIM, POD) == ""
    assert server.objects[PATH]["status"]["reservedFor"] == [*before, OURS]
    assert server.objects[PATH]["status"]["allocation"] == {"devices": {}}


async def test_a_claim_that_is_reserved_already_is_not_written(server: ApiServer, writer: ReservationWriter) -> None:
    await server.put(PATH, a_resource_claim(OURS))
    assert await writer.reserve(CLAIM, POD) == ""
    assert server.count("PATCH") == 0


async def test_others_who_write_at_the_same_time_lose_nothing(server: ApiServer, writer: ReservationWriter) -> None:
    await server.put(PATH, a_resource_claim())

    async def they_come_first(_: web.Request) -> web.StreamResponse:
        await server.put(PATH, a_resource_claim(THEIRS))
        return web.json_response({"kind": "Status", "message": "changed", "reason": "Conflict"}, status=409)

    server.answer("PATCH", f"{PATH}/status", they_come_first, times=1)
    assert await writer.reserve(CLAIM, POD) == ""
    assert server.objects[PATH]["status"]["reservedFor"] == [THEIRS, OURS]


@pytest.mark.parametrize(
    ("found", "message"),
    [
        pytest.param(
            a_resource_claim(uid="uid-new"), "claim default/gpu got deleted in the meantime", id="another of the name"
        ),
        pytest.param(
            a_resource_claim(deletionTimestamp="2026-01-01T00:00:00Z"),
            "claim default/gpu got deleted in the meantime",
            id="being deleted",
        ),
        pytest.param(
            a_resource_claim(allocation={}),
            "claim default/gpu got deallocated elsewhere in the meantime",
            id="deallocated",
        ),
    ],
)
async def test_a_claim_that_is_of_no_use_any_more_is_said_to_be(
    server: ApiServer, writer: ReservationWriter, found: Json, message: str
) -> None:
    await server.put(PATH, found)
    assert await writer.reserve(CLAIM, POD) == message
    assert server.count("PATCH") == 0


async def test_what_the_api_server_refuses_is_told(server: ApiServer, writer: ReservationWriter) -> None:
    await server.put(PATH, a_resource_claim())
    server.fail("PATCH", f"{PATH}/status", status=422, message="too many consumers")
    assert await writer.reserve(CLAIM, POD) == "add reservation to claim default/gpu: too many consumers"


async def test_a_claim_that_others_keep_changing_is_given_up(server: ApiServer, writer: ReservationWriter) -> None:
    await server.put(PATH, a_resource_claim())
    server.fail("PATCH", f"{PATH}/status", status=409, times=99, message="changed again")
    assert await writer.reserve(CLAIM, POD) == "add reservation to claim default/gpu: changed again"
    assert server.count("PATCH") == 5


async def test_a_pod_is_taken_off_by_its_uid_alone(server: ApiServer, writer: ReservationWriter) -> None:
    await server.put(PATH, a_resource_claim(THEIRS, OURS))
    await writer.release(CLAIM, POD)
    (body,) = server.sent("PATCH", f"{PATH}/status")
    assert body == {
        "metadata": {"uid": "uid-gpu"},
        "status": {"reservedFor": [{"$patch": "delete", "uid": POD.uid}]},
    }
    assert server.headers[-1]["Content-Type"] == "application/strategic-merge-patch+json"


async def test_a_claim_that_is_gone_cannot_be_released(writer: ReservationWriter) -> None:
    with pytest.raises(NotFound):
        await writer.release(CLAIM, POD)


async def test_who_leads_no_longer_asks_for_nothing(
    server: ApiServer, writer: ReservationWriter, leading: list[bool]
) -> None:
    await server.put(PATH, a_resource_claim(OURS))
    leading.append(False)
    assert await writer.reserve(CLAIM, POD) == "this process does not lead any more"
    await writer.release(CLAIM, POD)
    assert server.requests == []


async def test_who_loses_the_lease_after_looking_does_not_reserve(
    server: ApiServer, writer: ReservationWriter, leading: list[bool]
) -> None:
    async def looked(_: web.Request) -> web.StreamResponse:
        leading.append(False)
        return web.json_response(a_resource_claim(resourceVersion="1"))

    server.answer("GET", PATH, looked)
    assert await writer.reserve(CLAIM, POD) == "this process does not lead any more"
    assert server.count("PATCH") == 0


async def test_who_loses_the_lease_does_not_look_again(
    server: ApiServer, writer: ReservationWriter, leading: list[bool]
) -> None:
    await server.put(PATH, a_resource_claim())

    async def refused(_: web.Request) -> web.StreamResponse:
        leading.append(False)
        return web.json_response({"kind": "Status", "message": "changed", "reason": "Conflict"}, status=409)

    server.answer("PATCH", f"{PATH}/status", refused)
    await writer.reserve(CLAIM, POD)
    assert server.count("GET", PATH) == 1
