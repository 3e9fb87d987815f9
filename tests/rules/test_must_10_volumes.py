from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from plimsoll.cluster.pod import Uid
from plimsoll.kube.client import ApiClient
from plimsoll.kube.nominating import Nominator
from plimsoll.kube.resource_claims import ReservationWriter
from plimsoll.kube.volumes import VolumeWriter
from plimsoll.runtime.prepare import Preparations
from plimsoll.scheduling.decision import Bind
from tests.builders import PodBuilder, make_node, make_pod
from tests.kube.api_server import ApiServer
from tests.kube.conftest import until
from tests.kube.tasks import ended
from tests.rules.asking import HOST, cluster, fits, reasons, sentence, shown
from tests.scheduling.conftest import World
from tests.volume_objects import SELECTED, a_claim, a_class, a_volume, using

Json = dict[str, Any]
CLAIM = "/api/v1/namespaces/default/persistentvolumeclaims/data"
IN_USE = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)


def web() -> PodBuilder:
    return using(make_pod("web"), "data")


def two(*objects: Json, pods: tuple[PodBuilder, ...] = ()) -> World:
    return cluster(make_node("n1"), make_node("n2"), pods=pods, objects=objects)


def decided(world: World, pod: PodBuilder) -> Bind:
    world.pending(pod)
    command = world.scheduler.next_command(now_s=world.now_s)
    assert isinstance(command, Bind)
    return command


def test_a_bound_claims_pod_goes_where_the_volume_is() -> None:
    world = two(a_claim("data", volume="v", bound=True), a_volume("v", on={HOST: ["n2"]}))
    assert fits(world, web()) == {"n2"}
    assert reasons(world, web()) == {"n1": ("node(s) didn't match PersistentVolume's node affinity",)}


@pytest.mark.parametrize(
    ("objects", "want"),
    [
        pytest.param([], 'persistentvolumeclaim "data" not found', id="a claim that is missing"),
        pytest.param(
            [a_class("now", mode="Immediate"), a_claim("data", of_class="now")],
            "pod has unbound immediate PersistentVolumeClaims",
            id="a claim that is bound at once, and is not yet",
        ),
        pytest.param(
            [a_claim("data", of_class="absent")],
            "pod has unbound immediate PersistentVolumeClaims",
            id="a claim of a class that is missing",
        ),
        pytest.param(
            [a_claim("data", volume="v", bound=True)],
            'persistentvolume "v" not found',
            id="a volume that is missing",
        ),
        pytest.param(
            [a_claim("data", phase="Lost", volume="v")],
            'persistentvolumeclaim "data" bound to non-existent persistentvolume "v"',
            id="a claim that lost its volume",
        ),
        pytest.param(
            [a_claim("data", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})],
            'persistentvolumeclaim "data" is being deleted',
            id="a claim that is being deleted",
        ),
    ],
)
def test_a_pod_waits_for(objects: list[Json], want: str) -> None:
    world = two(*objects)
    assert fits(world, web()) == set()
    assert want in sentence(world, web())


def test_a_claim_for_one_pod_alone_is_no_second_pods() -> None:
    claim = a_claim("data", volume="v", bound=True, accessModes=["ReadWriteOncePod"])
    user = using(make_pod("user"), "data").on("n1")
    world = two(claim, a_volume("v"), pods=(user,))
    assert reasons(world, web()) == {"n1": (IN_USE,), "n2": (IN_USE,)}
    world.assigned_goes(user)
    assert fits(world, web()) == {"n1", "n2"}


def test_a_claim_that_was_given_a_node_keeps_it() -> None:
    world = two(a_class(provisioner="csi"), a_claim("data", selected="n2"))
    assert fits(world, web()) == {"n2"}


def test_a_claim_that_waits_for_its_first_consumer_is_part_of_the_decision() -> None:
    command = decided(two(a_class(provisioner="csi"), a_claim("data")), web())
    assert command.prepare is not None
    assert [claim.name for claim in command.prepare.volumes.provisions] == ["data"]


def test_it_is_waited_for_until_it_is_bound() -> None:
    world = two(a_class(provisioner="csi"), a_claim("data"))
    command = decided(world, web())
    written = {"default/data": "1000000"}
    asked = a_claim("data", selected=command.decision.node, metadata={"resourceVersion": "1000000"})
    shown(world, asked)
    world.scheduler.volume_written("default/data")
    assert not world.scheduler.progress(command, written).done
    done = a_claim("data", selected=command.decision.node, volume="v", bound=True)
    done["metadata"]["resourceVersion"] = "1000001"
    shown(world, a_volume("v", claim={"namespace": "default", "name": "data", "uid": "uid-data"}), done)
    assert world.scheduler.progress(command, written).done


class Pipeline:
    full = False

    def __init__(self) -> None:
        self.bound: list[str] = []

    def submit(self, command: Bind, *, took_s: float) -> None:
        self.bound.append(command.pod.name)


async def _nothing_waits(_: Uid) -> None:
    """No condition is to be written."""


async def test_the_node_is_written_into_the_claim_before_the_pod_is_bound(server: ApiServer, client: ApiClient) -> None:
    world = two(a_class(provisioner="csi"))
    world.now_s = time.time()
    shown(world, await server.put(CLAIM, a_claim("data")))
    pipeline = Pipeline()
    preparations = Preparations(
        scheduler=world.scheduler,
        binds=pipeline,
        volumes=VolumeWriter(client, timeout_s=1.0),
        reservations=ReservationWriter(client, may_write=lambda: True, timeout_s=1.0),
        nominate=Nominator(client, withdraw=_nothing_waits, may_write=lambda: True, timeout_s=1.0).nominate,
        may_bind=lambda: True,
        failed=lambda *_: None,
        taken_back=lambda _: None,
        wake=lambda: None,
        timeout_s=60.0,
    )
    task = asyncio.create_task(preparations.run())
    command = decided(world, web())
    preparations.submit(command, took_s=0.0)
    await until(lambda: server.objects[CLAIM]["metadata"]["annotations"].get(SELECTED))
    assert server.objects[CLAIM]["metadata"]["annotations"][SELECTED] == command.decision.node
    assert pipeline.bound == []
    await ended(task)
