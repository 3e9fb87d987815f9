from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from plimsoll.cluster.pod import Uid
from plimsoll.cluster.volume_matching import StaticBinding
from plimsoll.errors import Conflict, NotFound
from plimsoll.kube.client import ApiClient
from plimsoll.kube.nominating import Nominator
from plimsoll.kube.pod_status import PodStatusWriter
from plimsoll.kube.share import LaggingShare
from plimsoll.kube.volumes import VolumeWriter
from plimsoll.reporting.conditions import PodCondition
from tests.builders import make_pod
from tests.kube.api_server import ApiServer
from tests.kube.tasks import ended
from tests.volume_objects import SELECTED, a_claim, a_volume, claim_of, volume_of

Json = dict[str, Any]

VOLUME, CLAIM = "/api/v1/persistentvolumes/v", "/api/v1/namespaces/default/persistentvolumeclaims/data"


async def binding_of(server: ApiServer, volume: Json) -> StaticBinding:
    claim = claim_of(await server.put(CLAIM, a_claim("data")))
    return StaticBinding(claim, volume_of(await server.put(VOLUME, volume)))


@pytest.fixture
def writer(client: ApiClient) -> VolumeWriter:
    return VolumeWriter(client, timeout_s=1.0)


async def test_a_free_volume_gets_the_claim_and_says_that_a_controller_did_it(
    server: ApiServer, writer: VolumeWriter
) -> None:
    binding = await binding_of(server, a_volume("v"))
    version = await writer.bind(binding)
    found = server.objects[VOLUME]
    assert found["spec"]["claimRef"] == {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": "default",
        "name": "data",
        "uid": "uid-data",
        "resourceVersion": binding.claim.resource_version,
    }
    assert found["metadata"]["annotations"] == {"pv.kubernetes.io/bound-by-controller": "yes"}
    assert found["spec"]["capacity"] == {"storage": "10Gi"}
    assert version == found["metadata"]["resourceVersion"]


async def test_a_volume_that_a_person_has_bound_stays_a_persons(server: ApiServer, writer: VolumeWriter) -> None:
    binding = await binding_of(server, a_volume("v", claim={"namespace": "default", "name": "data"}))
    await writer.bind(binding)
    assert "annotations" not in server.objects[VOLUME]["metadata"]
    assert server.objects[VOLUME]["spec"]["claimRef"]["uid"] == "uid-data"


async def test_a_volume_that_has_changed_since_is_left_alone(server: ApiServer, writer: VolumeWriter) -> None:
    binding = await binding_of(server, a_volume("v"))
    theirs = await server.put(VOLUME, a_volume("v", claim={"namespace": "x", "name": "theirs"}))
    with pytest.raises(Conflict):
        await writer.bind(binding)
    assert server.objects[VOLUME] == theirs


async def test_a_claim_is_told_the_node(server: ApiServer, writer: VolumeWriter) -> None:
    claim = claim_of(await server.put(CLAIM, a_claim("data", metadata={"annotations": {"other": "kept"}})))
    version = await writer.select_node(claim, "node-1")
    metadata = server.objects[CLAIM]["metadata"]
    assert metadata["annotations"] == {"other": "kept", SELECTED: "node-1"}
    assert version == metadata["resourceVersion"]


@pytest.mark.parametrize("recreated", [False, True], ids=["changed", "recreated"])
async def test_a_claim_that_is_another_by_now_is_left_alone(
    server: ApiServer,
    writer: VolumeWriter,
    recreated: bool,  # noqa: FBT001
) -> None:
    claim = claim_of(await server.put(CLAIM, a_claim("data")))
    await server.put(CLAIM, a_claim("data", metadata={"uid": "uid-other"} if recreated else None))
    with pytest.raises(Conflict):
        await writer.select_node(claim, "node-1")
    assert server.objects[CLAIM]["metadata"]["annotations"] == {}


async def test_a_claim_that_is_gone_is_said_to_be(server: ApiServer, writer: VolumeWriter) -> None:
    claim = claim_of(await server.put(CLAIM, a_claim("data")))
    await server.delete(CLAIM)
    with pytest.raises(NotFound):
        await writer.select_node(claim, "node-1")


async def _nothing_waits(_: Uid) -> None:
    """No condition is to be written."""


async def test_a_pods_expected_node_is_written_and_taken_away(server: ApiServer, client: ApiClient) -> None:
    path, pod = "/api/v1/namespaces/default/pods/web", make_pod("web")
    await server.put(path, pod.obj())
    nominator = Nominator(client, withdraw=_nothing_waits, may_write=lambda: True, timeout_s=1.0)
    await nominator.nominate(pod.info(), "node-1")
    assert server.objects[path]["status"] == {"phase": "Pending", "nominatedNodeName": "node-1"}
    await nominator.nominate(pod.info(), "")
    assert server.objects[path]["status"] == {"phase": "Pending"}


async def test_an_expected_node_that_cannot_be_written_stops_nobody(server: ApiServer, client: ApiClient) -> None:
    path = "/api/v1/namespaces/default/pods/web"
    server.fail("PATCH", f"{path}/status", status=500, times=9)
    nominator = Nominator(client, withdraw=_nothing_waits, may_write=lambda: True, timeout_s=1.0)
    await nominator.nominate(make_pod("web").info(), "node-1")
    assert server.count("PATCH", path) == 1


async def test_a_condition_that_waits_does_not_take_the_expected_node_away(
    server: ApiServer, client: ApiClient, until: Callable[..., Any]
) -> None:
    """Conditions say that the pod is expected nowhere; the one that is on its way is waited for."""
    path, pod = "/api/v1/namespaces/default/pods/web", make_pod("web")
    await server.put(path, pod.obj())
    conditions = PodStatusWriter(
        client,
        condition_of=lambda _: None,
        written=lambda *_: None,
        may_write=lambda: True,
        timeout_s=1.0,
        share=LaggingShare(few=1, most=1),
    )
    task = asyncio.create_task(conditions.run())
    nominator = Nominator(client, withdraw=conditions.withdraw, may_write=lambda: True, timeout_s=1.0)
    conditions.unscheduled(pod.info(), PodCondition("False", "Unschedulable", "no cpu", nominated_node=""))
    await nominator.nominate(pod.info(), "node-1")
    conditions.unscheduled(make_pod("later").info(), PodCondition("False", "Unschedulable", "no cpu"))
    await until(lambda: server.count("PATCH", "/api/v1/namespaces/default/pods/later/status"))
    assert server.objects[path]["status"]["nominatedNodeName"] == "node-1"
    await ended(task)


async def test_who_leads_no_longer_nominates_nobody(server: ApiServer, client: ApiClient) -> None:
    leading = [True]

    async def withdraw(_: Uid) -> None:
        leading.append(False)

    nominator = Nominator(client, withdraw=withdraw, may_write=lambda: leading[-1], timeout_s=1.0)
    await nominator.nominate(make_pod("web").info(), "node-1")
    await nominator.nominate(make_pod("web").info(), "")
    assert server.requests == []
