from __future__ import annotations

import pytest
from aiohttp import web

from plimsoll.cluster.pod import PodInfo
from plimsoll.kube.client import ApiClient
from plimsoll.kube.eviction import Eviction, Evictor, disruption_patch
from tests.builders import make_pod
from tests.kube.api_server import ApiServer

POD = "/api/v1/namespaces/default/pods/low"
STATUS = f"{POD}/status"
VICTIM = make_pod("low").on("n1").metadata(generation=3)


@pytest.fixture
def leading() -> list[bool]:
    """Whether the process leads: the last says."""
    return [True]


@pytest.fixture
async def evictor(server: ApiServer, client: ApiClient, leading: list[bool]) -> Evictor:
    await server.put(POD, VICTIM.obj())
    return Evictor(
        client, scheduler_name="plimsoll", may_write=lambda: leading[-1], timeout_s=5.0, now_s=lambda: 1_767_225_600.0
    )


async def test_a_victim_is_marked_then_deleted(server: ApiServer, evictor: Evictor) -> None:
    assert await evictor.evict(VICTIM.info()) is Eviction.EVICTED
    assert server.requests == [f"PATCH {STATUS}", f"DELETE {POD}"]
    assert POD not in server.objects


async def test_the_mark_has_the_words_of_kube_scheduler(server: ApiServer, evictor: Evictor) -> None:
    await evictor.evict(VICTIM.info())
    assert server.sent("PATCH", STATUS) == [
        {
            "metadata": {"uid": "uid-default-low"},
            "status": {
                "conditions": [
                    {
                        "type": "DisruptionTarget",
                        "status": "True",
                        "reason": "PreemptionByScheduler",
                        "message": "plimsoll: preempting to accommodate a higher priority pod",
                        "lastProbeTime": None,
                        "lastTransitionTime": "2026-01-01T00:00:00Z",
                        "observedGeneration": 3,
                    }
                ]
            },
        }
    ]
    assert server.headers[0]["Content-Type"] == "application/strategic-merge-patch+json"


async def test_a_victim_keeps_its_own_grace_period(server: ApiServer, evictor: Evictor) -> None:
    await evictor.evict(VICTIM.info())
    (options,) = server.sent("DELETE", POD)
    assert "gracePeriodSeconds" not in options
    assert options["preconditions"] == {"uid": "uid-default-low"}


async def test_a_victim_that_is_gone_is_no_failure(server: ApiServer, evictor: Evictor) -> None:
    await server.delete(POD)
    assert await evictor.evict(VICTIM.info()) is Eviction.GONE


async def test_another_pod_of_the_name_is_neither_marked_nor_deleted(server: ApiServer, evictor: Evictor) -> None:
    other = VICTIM.info()
    await server.put(POD, make_pod("low").metadata(uid="another").obj())
    assert await evictor.evict(other) is Eviction.GONE
    assert server.count("DELETE") == 0
    assert "conditions" not in server.objects[POD]["status"]


async def test_a_pod_recreated_after_the_mark_is_not_deleted(server: ApiServer, evictor: Evictor) -> None:
    server.fail("DELETE", POD, status=409)
    assert await evictor.evict(VICTIM.info()) is Eviction.GONE
    assert POD in server.objects


@pytest.mark.parametrize(("method", "path"), [("PATCH", STATUS), ("DELETE", POD)])
async def test_an_api_server_that_is_away_for_a_moment_is_asked_again(
    server: ApiServer, evictor: Evictor, method: str, path: str
) -> None:
    server.fail(method, path, status=503)
    assert await evictor.evict(VICTIM.info()) is Eviction.EVICTED
    assert server.count(method, path) >= 2


async def test_an_eviction_that_is_forbidden_fails(server: ApiServer, evictor: Evictor) -> None:
    server.fail("DELETE", POD, status=403)
    assert await evictor.evict(VICTIM.info()) is Eviction.FAILED
    assert POD in server.objects


async def test_who_leads_no_longer_evicts_nobody(server: ApiServer, evictor: Evictor, leading: list[bool]) -> None:
    leading.append(False)
    assert await evictor.evict(VICTIM.info()) is Eviction.FAILED
    assert server.requests == []


async def test_who_loses_the_lease_in_between_does_not_delete(
    server: ApiServer, evictor: Evictor, leading: list[bool]
) -> None:
    async def marked(_: web.Request) -> web.StreamResponse:
        leading.append(False)
        return web.json_response({})

    server.answer("PATCH", STATUS, marked)
    assert await evictor.evict(VICTIM.info()) is Eviction.FAILED
    assert server.requests == [f"PATCH {STATUS}"]


MARK = {
    "type": "DisruptionTarget",
    "status": "True",
    "reason": "PreemptionByScheduler",
    "message": "plimsoll: preempting to accommodate a higher priority pod",
    "lastTransitionTime": "2025-01-01T00:00:00Z",
}


def marked(condition: dict[str, str]) -> PodInfo:
    return make_pod("low").on("n1").metadata(generation=3).status(conditions=[condition]).info()


async def test_a_victim_that_is_marked_already_is_only_deleted(server: ApiServer, evictor: Evictor) -> None:
    """Where the deletion failed the first time; the mark keeps its time."""
    assert await evictor.evict(marked(MARK)) is Eviction.EVICTED
    assert server.requests == [f"DELETE {POD}"]


@pytest.mark.parametrize(
    ("condition", "stays"),
    [
        pytest.param(MARK | {"status": "False"}, False, id="it was not to go"),
        pytest.param(MARK | {"reason": "EvictionByEvictionAPI"}, True, id="another reason"),
        pytest.param(MARK | {"message": "other: preempting"}, True, id="another scheduler"),
    ],
)
async def test_a_victim_that_others_marked_is_marked_anew(
    server: ApiServer,
    evictor: Evictor,
    condition: dict[str, str],
    stays: bool,  # noqa: FBT001
) -> None:
    await evictor.evict(marked(condition))
    ((sent,),) = (body["status"]["conditions"] for body in server.sent("PATCH", STATUS))
    assert sent["message"] == MARK["message"]
    assert ("lastTransitionTime" not in sent) is stays


def test_an_unknown_generation_is_left_out() -> None:
    patch = disruption_patch(make_pod("low").info(), scheduler_name="plimsoll", now_s=0.0)
    assert "observedGeneration" not in patch["status"]["conditions"][0]
