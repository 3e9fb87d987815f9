from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.errors import ApiError
from plimsoll.kube import handlers
from plimsoll.kube.backoff import Backoff
from plimsoll.kube.binding import Binder, BindOutcome
from plimsoll.kube.client import ApiClient
from plimsoll.kube.config import ClusterAccess
from plimsoll.kube.connection import Connection
from plimsoll.kube.embedding import EmbeddedKopf
from plimsoll.kube.events import EventRecorder
from plimsoll.kube.lease import LeaseElector
from plimsoll.kube.permissions import ALWAYS, lease_permissions, missing
from plimsoll.kube.pod_status import PodStatusWriter
from plimsoll.kube.policy_status import write_policy_status
from plimsoll.kube.reflector import Identity, Reflector
from plimsoll.kube.resources import ASSIGNED_SELECTOR, EVENTS, LEASES, NODES, PODS, POLICIES
from plimsoll.reporting.conditions import PodCondition
from plimsoll.reporting.events import failed_scheduling
from tests.kube.tasks import ended

if TYPE_CHECKING:
    from devcluster import DevCluster

pytestmark = pytest.mark.cluster

Json = dict[str, Any]
Until = Callable[..., Any]
_CRD = Path(__file__).parent.parent.parent / "crds"
_serial = itertools.count(1)


@pytest.fixture
async def real(api: DevCluster) -> AsyncIterator[ApiClient]:
    async with ApiClient(Connection(ClusterAccess(str(api.kubeconfig)))) as client:
        yield client


@pytest.fixture
async def make(real: ApiClient) -> AsyncIterator[Callable[..., Any]]:
    """Creates pods; they are deleted afterwards."""
    made: list[str] = []

    async def create(**spec: Any) -> PodInfo:
        name = f"pod-{next(_serial)}"
        body = {
            "metadata": {"name": name},
            "spec": {"schedulerName": "plimsoll", "containers": [{"name": "main", "image": "app"}], **spec},
        }
        pod = PodInfo.parse(await real.post(PODS.path(namespace="default"), body))
        made.append(name)
        return pod

    yield create
    for name in made:
        await _delete(real, name)


async def _delete(client: ApiClient, name: str) -> None:
    path = PODS.path(namespace="default", name=name)
    url = f"{client.connection.server}{path}?gracePeriodSeconds=0"
    async with client.connection.session() as session, session.delete(url) as response:
        await response.read()


async def _get(client: ApiClient, pod: PodInfo) -> Json:
    return await client.get(PODS.path(namespace=pod.namespace, name=pod.name))


async def test_what_becomes_of_bindings(real: ApiClient, make: Callable[..., Any]) -> None:
    binder = Binder(real, timeout_s=4.5)
    pod = await make()
    assert (await binder.bind(pod, node="n1", annotation="{}")).outcome is BindOutcome.BOUND
    found = await _get(real, pod)
    assert found["spec"]["nodeName"] == "n1"
    assert found["metadata"]["annotations"] == {"plimsoll.dev/decision": "{}"}
    assert (await binder.bind(pod, node="n1", annotation="{}")).outcome is BindOutcome.BOUND
    other = await binder.bind(pod, node="n2", annotation="{}")
    assert other.outcome is BindOutcome.ASSIGNED
    assert "n1" in other.message


async def test_bindings_of_pods_that_are_not_there_any_more(real: ApiClient, make: Callable[..., Any]) -> None:
    binder = Binder(real, timeout_s=4.5)
    gone, gated = await make(), await make(schedulingGates=[{"name": "example.com/wait"}])
    await _delete(real, gone.name)
    assert (await binder.bind(gone, node="n1", annotation="")).outcome is BindOutcome.GONE
    assert (await binder.bind(gated, node="n1", annotation="")).outcome is BindOutcome.FAILED
    body = {"metadata": {"name": gone.name}, "spec": {"containers": [{"name": "main", "image": "app"}]}}
    await real.post(PODS.path(namespace="default"), body)
    assert (await binder.bind(gone, node="n1", annotation="")).outcome is BindOutcome.REPLACED


async def test_the_lease_passes_from_one_to_the_other(real: ApiClient) -> None:
    def elector(identity: str) -> LeaseElector:
        return LeaseElector(real, namespace="default", name="lease-test", identity=identity)

    first, second = elector("first"), elector("second")
    assert await first.attempt()
    assert await first.attempt()
    assert not await second.attempt()
    await first.release()
    assert await second.attempt()
    assert not await first.attempt()
    spec = (await real.get(LEASES.path(namespace="default", name="lease-test")))["spec"]
    assert (spec["holderIdentity"], spec["leaseTransitions"], spec["leaseDurationSeconds"]) == ("second", 1, 15)


async def test_an_event_and_its_series_are_taken(real: ApiClient, make: Callable[..., Any]) -> None:
    pod, lost = await make(), list[str]()
    recorder = EventRecorder(real, instance="here", dropped=lost.append)
    task = asyncio.create_task(recorder.run())
    event = failed_scheduling(pod, message="0/0 nodes are available.", controller="plimsoll")
    for _ in range(3):
        recorder.record(event)
        await recorder.flush()
    await ended(task)
    assert lost == []
    listed = await real.get(EVENTS.path(namespace="default"))
    (found,) = [e for e in listed["items"] if e["regarding"].get("uid") == pod.uid]
    assert (found["note"], found["series"]["count"]) == ("0/0 nodes are available.", 3)


async def test_the_condition_of_a_pod_is_taken(real: ApiClient, make: Callable[..., Any], until: Until) -> None:
    pod, known = await make(), dict[Uid, PodCondition]()
    writer = PodStatusWriter(
        real, condition_of=known.get, written=known.__setitem__, may_write=lambda: True, timeout_s=5.0
    )
    task = asyncio.create_task(writer.run())
    writer.unscheduled(pod, PodCondition("False", "Unschedulable", "0/0 nodes are available.", 1))
    await until(lambda: known)
    await ended(task)
    (condition,) = (await _get(real, pod))["status"]["conditions"]
    assert condition["lastTransitionTime"]
    kept = {k: condition[k] for k in ("type", "status", "reason", "message", "observedGeneration")}
    assert kept == {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/0 nodes are available.",
        "observedGeneration": 1,
    }


async def test_the_status_of_a_policy_is_replaced_and_its_spec_kept(real: ApiClient, api: DevCluster) -> None:
    api.kubectl("apply", "--server-side", "-f", str(_CRD))
    await _wait_for_crd(real)
    body = {"apiVersion": "plimsoll.dev/v1alpha1", "kind": "SchedulingPolicy", "metadata": {"name": "p"}}
    made = await real.post(POLICIES.path(), body | {"spec": {"weights": {"cpu": 1}}})
    uid = made["metadata"]["uid"]
    first = {"observedGeneration": 1, "bound": 2, "best": {"node": "n1", "score": 90}}
    await write_policy_status(real, name="p", uid=uid, status=first, previous=None)
    second = {"observedGeneration": 1, "bound": 3}
    await write_policy_status(real, name="p", uid=uid, status=second, previous=first)
    found = await real.get(POLICIES.path(name="p"))
    assert found["status"] == second
    assert found["spec"]["weights"] == {"cpu": 1}
    assert found["metadata"]["generation"] == 1
    api.kubectl("delete", "schedulingpolicy", "p")


async def _wait_for_crd(client: ApiClient) -> None:
    for _ in range(100):
        try:
            await client.get(POLICIES.path())
        except ApiError:
            await asyncio.sleep(0.05)
        else:
            return


async def test_an_administrator_lacks_nothing(real: ApiClient) -> None:
    assert await missing(real, ALWAYS + lease_permissions(namespace="default", name="plimsoll")) == []


class Told:
    """A reflector's listener and kopf's sink."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.log: list[str] = []

    def on_added(self, raw: Json) -> None:
        self.names.add(raw["metadata"]["name"])

    on_updated = on_added

    def on_deleted(self, identity: Identity) -> None:
        self.names.discard(identity.name)

    def on_listed(self, *, asked_at_s: float) -> None:
        assert asked_at_s <= time.monotonic()

    def seen(self, raw: Json) -> None:
        self.log.append(f"seen {raw['metadata']['name']}")

    def gone(self, raw: Json) -> None:
        self.log.append(f"gone {raw['metadata']['name']}")


async def test_a_bound_pod_moves_from_the_pending_to_the_assigned(
    *, real: ApiClient, api: DevCluster, make: Callable[..., Any], until: Until
) -> None:
    api.kubectl("apply", "--server-side", "-f", str(_CRD))
    await _wait_for_crd(real)
    pending, assigned = Told(), Told()

    async def ready() -> None: ...

    registry = handlers.make_registry(connection=real.connection, policies=Told(), pods=pending)
    settings = handlers.make_settings(scheduler_name="plimsoll")
    kopf = EmbeddedKopf(registry, settings, started=lambda: None, ready=ready)
    params = {"fieldSelector": ASSIGNED_SELECTOR}
    reflector = Reflector(real, PODS.path(), listener=assigned, name="pods", params=params)
    tasks = [asyncio.create_task(kopf.run()), asyncio.create_task(reflector.run())]
    other = await make(schedulerName="another")
    pod = await make()
    await until(lambda: f"seen {pod.name}" in pending.log, within_s=10)
    await reflector.wait_synced()
    assert pod.name not in assigned.names
    await Binder(real, timeout_s=4.5).bind(pod, node="n1", annotation="{}")
    await until(lambda: pod.name in assigned.names and f"gone {pod.name}" in pending.log)
    assert f"seen {other.name}" not in pending.log
    await ended(*tasks)


async def test_mirrors_live_through_a_restart_of_the_api_server(real: ApiClient, api: DevCluster, until: Until) -> None:
    told = Told()
    reflector = Reflector(real, NODES.path(), listener=told, name="nodes", backoff=Backoff(cap_s=0.5))
    task = asyncio.create_task(reflector.run())
    await reflector.wait_synced()
    await real.post(NODES.path(), {"metadata": {"name": "before"}})
    await until(lambda: "before" in told.names)
    await asyncio.to_thread(api.stop_process, "kube-apiserver")
    await until(lambda: reflector.broken_for_s() > 0, within_s=10)
    await asyncio.to_thread(api.start_process, "kube-apiserver")
    await real.post(NODES.path(), {"metadata": {"name": "after"}})
    await until(lambda: "after" in told.names, within_s=20)
    assert reflector.broken_for_s() == 0
    await reflector.catch_up(within_s=1.0)
    assert {"before", "after"} <= told.names
    await ended(task)
    api.kubectl("delete", "node", "before", "after")
