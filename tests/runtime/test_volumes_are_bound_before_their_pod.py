"""Preparations over an API server in this process; what a watch would show is shown by hand."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from aiohttp import web

from plimsoll.cluster.kinds import KINDS
from plimsoll.cluster.pod import Uid
from plimsoll.cluster.reservation import Reservation
from plimsoll.kube.client import ApiClient
from plimsoll.kube.config import ClusterAccess
from plimsoll.kube.connection import Connection
from plimsoll.kube.nominating import Nominator
from plimsoll.kube.resource_claims import ReservationWriter
from plimsoll.kube.volumes import VolumeWriter
from plimsoll.runtime.mirror import ApiObjects
from plimsoll.runtime.prepare import Preparations
from plimsoll.scheduling.decision import Bind
from plimsoll.scheduling.preparing import Preparation
from plimsoll.scheduling.scheduler import Scheduler
from tests.builders import PodBuilder, make_node, make_pod
from tests.kube.api_server import ApiServer
from tests.kube.tasks import ended
from tests.volume_objects import SELECTED, a_claim, a_class, a_volume, using

Json = dict[str, Any]
Until = Callable[..., Any]

VOLUMES, CLAIMS = "/api/v1/persistentvolumes", "/api/v1/namespaces/default/persistentvolumeclaims"
PODS = "/api/v1/namespaces/default/pods"
RESOURCE_CLAIM = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/gpu"
HOST = "kubernetes.io/hostname"


class Pipeline:
    """Where prepared pods go on to."""

    full = False

    def __init__(self) -> None:
        self.bound: list[str] = []

    def submit(self, command: Bind, *, took_s: float) -> None:
        self.bound.append(command.pod.name)


class World:
    """One node, and everything that the preparations touch."""

    def __init__(self, server: ApiServer, client: ApiClient, *, timeout_s: float) -> None:
        self.server = server
        self.scheduler = Scheduler(scheduler_name="plimsoll", rng=np.random.default_rng(1))
        self.scheduler.node_seen(make_node("n1").info(), now_s=time.time())
        self.pipeline = Pipeline()
        self.failures: list[tuple[str, str]] = []
        self.taken_back: list[str] = []
        self.allowed = True
        self.withdrawn: list[Uid] = []
        self.preparations = Preparations(
            scheduler=self.scheduler,
            binds=self.pipeline,
            volumes=VolumeWriter(client, timeout_s=1.0),
            reservations=ReservationWriter(client, may_write=self.may_bind, timeout_s=1.0),
            nominate=Nominator(client, withdraw=self.withdraw, may_write=self.may_bind, timeout_s=1.0).nominate,
            may_bind=self.may_bind,
            failed=lambda command, problem, took_s: self.failures.append((command.pod.name, problem)),
            taken_back=lambda command: self.taken_back.append(command.pod.name),
            wake=lambda: None,
            timeout_s=timeout_s,
            writers=1,
        )

    def may_bind(self) -> bool:
        return self.allowed

    async def withdraw(self, uid: Uid) -> None:
        self.withdrawn.append(uid)

    async def there(self, path: str, thing: Json) -> None:
        """At the API server, and shown by the watch."""
        self.shown(await self.server.put(path, thing))

    def shown(self, thing: Json) -> None:
        kind = KINDS[thing["kind"]].name
        listener = ApiObjects(kind, self.scheduler, wake=lambda: None, changed=self.preparations.changed)
        listener.on_added(thing)

    async def changes(self, path: str, *, annotations: Json | None = None, **spec: Any) -> None:
        """Somebody else writes; annotations that are None are taken away."""
        found = self.server.objects[path]
        kept = found["metadata"].get("annotations", {}) | (annotations or {})
        metadata = found["metadata"] | {"annotations": {k: v for k, v in kept.items() if v is not None}}
        await self.there(path, found | {"metadata": metadata, "spec": found["spec"] | spec})

    async def pends(self, pod: PodBuilder) -> None:
        await self.server.put(f"{PODS}/{pod.info().name}", pod.obj())
        self.scheduler.pod_pending(pod.info(), now_s=time.time())

    def decides(self, *, reserve: Reservation | None = None) -> Bind:
        command = self.scheduler.next_command(now_s=time.time())
        assert isinstance(command, Bind), command
        if reserve is not None:
            command = Bind(command.pod, command.decision, Preparation(reservations=(reserve,)))
        self.preparations.submit(command, took_s=0.0)
        return command

    @property
    def in_backoff(self) -> int:
        return self.scheduler.pending_counts()["backoff"]


@pytest.fixture
async def server() -> AsyncIterator[ApiServer]:
    async with ApiServer.running() as running:
        yield running


@pytest.fixture
def timeout_s() -> float:
    return 600.0


@pytest.fixture
async def world(server: ApiServer, tmp_path: Path, timeout_s: float) -> AsyncIterator[World]:
    connection = Connection(ClusterAccess(str(server.kubeconfig(tmp_path))))
    async with ApiClient(connection) as client:
        made = World(server, client, timeout_s=timeout_s)
        made.shown(a_class(provisioner="csi"))
        task = asyncio.create_task(made.preparations.run())
        yield made
        assert not task.done(), task
        await ended(task)


async def provisioning(world: World, name: str = "web") -> None:
    """A pod whose volume is to be made, up to where the provisioner is asked."""
    await world.there(f"{CLAIMS}/{name}-data", a_claim(f"{name}-data"))
    await world.pends(using(make_pod(name), f"{name}-data"))
    world.decides()


async def makes_the_volume(world: World, name: str = "web", *, on: str = "n1") -> None:
    await world.there(f"{VOLUMES}/pvc-{name}", a_volume(f"pvc-{name}", on={HOST: [on]}, phase="Bound"))
    bound = {"pv.kubernetes.io/bind-completed": "yes"}
    await world.changes(f"{CLAIMS}/{name}-data", annotations=bound, volumeName=f"pvc-{name}")


async def asked(world: World, until: Until, name: str = "web") -> None:
    path = f"{CLAIMS}/{name}-data"
    await until(lambda: SELECTED in world.server.objects[path]["metadata"]["annotations"])
    world.shown(world.server.objects[path])


async def test_a_pod_that_needs_nothing_goes_on_at_once(world: World) -> None:
    await world.pends(make_pod("web"))
    world.decides()
    assert world.pipeline.bound == ["web"]
    assert world.preparations.under_way == 0


async def test_a_pod_is_bound_only_after_its_volume_was_made(world: World, until: Until) -> None:
    await provisioning(world)
    await asked(world, until)
    assert world.server.objects[f"{CLAIMS}/web-data"]["metadata"]["annotations"] == {SELECTED: "n1"}
    await asyncio.sleep(0.05)
    assert world.pipeline.bound == []
    assert world.preparations.under_way == 1
    await makes_the_volume(world)
    await until(lambda: world.pipeline.bound == ["web"], within_s=0.5)
    assert world.preparations.under_way == 0
    assert world.failures == []


async def test_autoscalers_are_told_the_node_before_anything_is_waited_for(world: World, until: Until) -> None:
    await provisioning(world)
    await asked(world, until)
    assert world.server.objects[f"{PODS}/web"]["status"]["nominatedNodeName"] == "n1"
    first = next(r for r in world.server.requests if r.startswith("PATCH"))
    assert first == f"PATCH {PODS}/web/status"


async def test_a_volume_that_is_there_is_given_to_the_claim(world: World, until: Until) -> None:
    await world.there(f"{VOLUMES}/v", a_volume("v"))
    await world.there(f"{CLAIMS}/data", a_claim("data"))
    await world.pends(using(make_pod("web"), "data"))
    world.decides()
    await until(lambda: "claimRef" in world.server.objects[f"{VOLUMES}/v"]["spec"])
    world.shown(world.server.objects[f"{VOLUMES}/v"])
    assert world.pipeline.bound == []
    bound = {"pv.kubernetes.io/bind-completed": "yes"}
    await world.changes(f"{CLAIMS}/data", annotations=bound, volumeName="v")
    await until(lambda: world.pipeline.bound == ["web"], within_s=0.5)


async def test_those_who_wait_take_no_writers_place(world: World, until: Until) -> None:
    for i in range(20):
        await provisioning(world, f"web-{i}")
    for i in range(20):
        await asked(world, until, f"web-{i}")
    assert world.preparations.under_way == 20
    await world.pends(make_pod("plain"))
    world.decides()
    assert world.pipeline.bound == ["plain"]
    await makes_the_volume(world, "web-19")
    await until(lambda: world.pipeline.bound == ["plain", "web-19"])


async def test_a_provisioner_that_gives_up_sends_the_pod_back(world: World, until: Until) -> None:
    await provisioning(world)
    await asked(world, until)
    await world.changes(f"{CLAIMS}/web-data", annotations={SELECTED: None})
    await until(lambda: world.failures, within_s=0.5)
    problem = 'running PreBind plugin "VolumeBinding": binding volumes: provisioning failed for PVC "web-data"'
    assert world.failures == [("web", problem)]
    assert world.in_backoff == 1
    assert "nominatedNodeName" not in world.server.objects[f"{PODS}/web"]["status"]


async def test_a_volume_that_somebody_else_took_first_sends_the_pod_back(world: World, until: Until) -> None:
    await world.there(f"{VOLUMES}/v", a_volume("v"))
    await world.there(f"{CLAIMS}/data", a_claim("data"))
    await world.pends(using(make_pod("web"), "data"))
    taken = a_volume("v", claim={"namespace": "x", "name": "theirs", "uid": "theirs"})
    await world.server.put(f"{VOLUMES}/v", taken)  # the watch is behind
    world.decides()
    await until(lambda: world.failures)
    assert world.failures == [("web", 'running PreBind plugin "VolumeBinding": the object has been modified')]
    assert world.server.objects[f"{VOLUMES}/v"]["spec"]["claimRef"]["name"] == "theirs"
    assert world.in_backoff == 1


@pytest.mark.parametrize("timeout_s", [0.2])
async def test_a_volume_that_takes_too_long_sends_the_pod_back(world: World, until: Until) -> None:
    await provisioning(world)
    await until(lambda: world.failures)
    problem = 'running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded'
    assert world.failures == [("web", problem)]


async def test_a_pod_that_is_deleted_is_waited_for_no_longer(world: World, until: Until) -> None:
    await provisioning(world)
    await asked(world, until)
    world.scheduler.pending_pod_gone(make_pod("web").info().uid, now_s=time.time())
    await until(lambda: world.preparations.under_way == 0)
    assert world.pipeline.bound == []
    assert world.in_backoff == 0


async def test_a_node_that_goes_sends_the_pod_back(world: World, until: Until) -> None:
    await provisioning(world)
    await asked(world, until)
    world.scheduler.node_gone("n1", now_s=time.time())
    await until(lambda: world.failures)
    (_, problem), *_ = world.failures
    assert problem.endswith('binding volumes: failed to get node "n1": node "n1" not found')


async def test_who_must_not_bind_any_more_takes_the_pod_back_and_writes_nothing(world: World, until: Until) -> None:
    await provisioning(world)
    await asked(world, until)
    await provisioning(world, "next")
    world.allowed = False
    writes = world.server.count("PATCH")
    world.preparations.wake_all()
    await until(lambda: world.preparations.under_way == 0)
    assert sorted(world.taken_back) == ["next", "web"]
    assert world.failures == []
    assert world.in_backoff == 2
    assert world.server.count("PATCH") == writes
    await makes_the_volume(world)
    assert world.pipeline.bound == []


async def test_the_next_attempt_goes_on_where_the_last_one_stopped(world: World, until: Until) -> None:
    await provisioning(world)
    await asked(world, until)
    world.allowed = False
    world.preparations.wake_all()
    await until(lambda: world.taken_back)
    world.allowed = True
    await until(lambda: (world.scheduler.wake_at_s() or 0.0) <= time.time())
    world.decides()
    await until(lambda: world.server.count("PATCH", f"{CLAIMS}/web-data") == 2)
    await makes_the_volume(world)
    await until(lambda: world.pipeline.bound == ["web"])
    assert world.failures == []


async def test_a_resource_claim_is_reserved_before_the_pod_goes_on(world: World, until: Until) -> None:
    claim = {"metadata": {"name": "gpu", "uid": "uid-gpu"}, "status": {"allocation": {"devices": {}}}}
    await world.server.put(RESOURCE_CLAIM, claim)
    await world.pends(make_pod("web"))
    world.decides(reserve=Reservation("default", "gpu", "uid-gpu"))
    await until(lambda: world.pipeline.bound == ["web"])
    (consumer,) = world.server.objects[RESOURCE_CLAIM]["status"]["reservedFor"]
    assert consumer == {"resource": "pods", "name": "web", "uid": make_pod("web").info().uid}


async def test_a_resource_claim_that_cannot_be_reserved_sends_the_pod_back(world: World, until: Until) -> None:
    await world.server.put(RESOURCE_CLAIM, {"metadata": {"name": "gpu", "uid": "uid-gpu"}, "status": {}})
    await world.pends(make_pod("web"))
    world.decides(reserve=Reservation("default", "gpu", "uid-gpu"))
    await until(lambda: world.failures)
    problem = "claim default/gpu got deallocated elsewhere in the meantime"
    assert world.failures == [("web", f'running PreBind plugin "DynamicResources": {problem}')]
    assert world.in_backoff == 1


async def test_who_loses_the_lease_while_undoing_takes_nothing_off_any_more(world: World, until: Until) -> None:
    """The next holder may have reserved the claim for the same pod by then."""
    await world.server.put(RESOURCE_CLAIM, {"metadata": {"name": "gpu", "uid": "uid-gpu"}, "status": {}})
    await world.pends(make_pod("web"))
    nominations: list[str | None] = []

    async def nominated(request: web.Request) -> web.StreamResponse:
        nominations.append((await request.json())["status"]["nominatedNodeName"])
        world.allowed = nominations[-1] is not None
        return web.json_response({})

    world.server.answer("PATCH", f"{PODS}/web/status", nominated, times=2)
    world.decides(reserve=Reservation("default", "gpu", "uid-gpu"))
    await until(lambda: world.preparations.under_way == 0)
    assert nominations == ["n1", None]
    assert world.server.count("PATCH", f"{RESOURCE_CLAIM}/status") == 0


async def test_who_loses_the_lease_while_reserving_blames_no_claim(world: World, until: Until) -> None:
    await world.pends(make_pod("web"))

    async def lost(_: web.Request) -> web.StreamResponse:
        world.allowed = False
        return web.json_response({"metadata": {"uid": "uid-gpu", "resourceVersion": "1"}, "status": {}})

    world.server.answer("GET", RESOURCE_CLAIM, lost)
    world.decides(reserve=Reservation("default", "gpu", "uid-gpu"))
    await until(lambda: world.preparations.under_way == 0)
    assert (world.taken_back, world.failures) == (["web"], [])


async def test_drained_means_that_no_pod_is_in_preparation(world: World, until: Until) -> None:
    await asyncio.wait_for(world.preparations.drain(), 1.0)
    await provisioning(world)
    await asked(world, until)
    drained = asyncio.create_task(world.preparations.drain())
    await asyncio.sleep(0.05)
    assert not drained.done()
    await makes_the_volume(world)
    await asyncio.wait_for(drained, 1.0)
    assert world.pipeline.bound == ["web"]
