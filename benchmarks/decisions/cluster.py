"""A cluster of plain objects that tells a Scheduler what happens, as the operator's mirrors would."""

from __future__ import annotations

from collections.abc import Callable

import orjson

from benchmarks.decisions.clock import Clock
from benchmarks.decisions.served import Json, Serving, merge
from benchmarks.decisions.stopwatch import Step, Stopwatch
from benchmarks.throughput.workload import Thing
from benchmarks.throughput.workloads.objects import NAMESPACE, NODES, PODS
from plimsoll.cluster.kinds import KINDS
from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.scheduling.scheduler import Scheduler


class Cluster:
    """What ``workload.Api`` asks for, and what comes of the Scheduler's commands.

    Attributes:
        objects: as they are served, by their path; as bytes, since an operator does not keep them as objects
            either, which the garbage collector would have to look through.
    """

    def __init__(self, scheduler: Scheduler, stopwatch: Stopwatch, clock: Clock) -> None:
        self.objects: dict[str, bytes] = {}
        self._scheduler = scheduler
        self._stopwatch = stopwatch
        self._clock = clock
        self._serving = Serving(clock)
        scheduler.namespace_seen(NAMESPACE, {"kubernetes.io/metadata.name": NAMESPACE}, now_s=self._clock.now_s)

    # -- what a workload does -------------------------------------------------------------------------

    async def create(self, thing: Thing) -> None:
        self.add(thing)

    async def patch(self, path: str, body: Json) -> None:
        self.change(path, body, step=Step.NODE_CHANGED)

    async def delete(self, path: str) -> None:
        gone = self.objects.pop(path, None)
        if gone is not None:
            self._tell_gone(orjson.loads(gone))

    def add(self, thing: Thing) -> Json:
        served = self._serving.created(thing.body)
        self._keep(f"{thing.path}/{served['metadata']['name']}", served)
        self._tell(served)
        return served

    def change(self, path: str, patch: Json, *, step: Step) -> None:
        """Of a node."""
        served = self._serving.changed(orjson.loads(self.objects[path]))
        merge(served, patch)
        self._keep(path, served)
        self._node_seen(served, step)

    # -- what comes of commands -----------------------------------------------------------------------

    def confirm(self, pod: PodInfo, node: str) -> bool:
        """The Binding has arrived, and the watch shows it; False where the pod was deleted before."""
        path = f"{PODS}/{pod.name}"
        known = self._known(path)
        if known is None or known["metadata"]["uid"] != pod.uid:
            self._scheduler.bind_failed(pod.uid, retry=False, now_s=self._clock.now_s)
            return False
        self._scheduler.bound(pod.uid, now_s=self._clock.now_s)
        served = self._serving.bound(known, node)
        self._keep(path, served)
        self._pod_seen(served, self._scheduler.pod_assigned, Step.POD_CONFIRMED)
        return True

    def refused(self, pod: PodInfo, *, nominated_node: str | None) -> None:
        """Its condition is written, and the watch shows it."""
        path = f"{PODS}/{pod.name}"
        known = self._known(path)
        if known is not None:
            served = self._serving.refused(known, nominated_node=nominated_node)
            self._keep(path, served)
            self._pod_seen(served, self._scheduler.pod_pending, Step.POD_PENDING_AGAIN)

    def evict(self, victim: PodInfo) -> None:
        """It ends at once: there is no kubelet that would have to end it."""
        self._scheduler.victim_evicted(victim.uid, now_s=self._clock.now_s)
        gone = self.objects.pop(f"{PODS}/{victim.name}", None)
        if gone is not None:
            self._tell_gone(orjson.loads(gone))

    # -- inside ---------------------------------------------------------------------------------------

    def _keep(self, path: str, served: Json) -> None:
        self.objects[path] = orjson.dumps(served)

    def _known(self, path: str) -> Json | None:
        kept = self.objects.get(path)
        return None if kept is None else orjson.loads(kept)

    def _tell(self, served: Json) -> None:
        kind = served["kind"]
        if kind == "Node":
            self._node_seen(served, Step.NODE_ADDED)
        elif kind == "Pod" and served["spec"].get("nodeName"):
            self._pod_seen(served, self._scheduler.pod_assigned, Step.POD_ASSIGNED)
        elif kind == "Pod":
            self._pod_seen(served, self._scheduler.pod_pending, Step.POD_PENDING)
        elif kind in KINDS:
            parsed = KINDS[kind].parse(served)
            self._stopwatch.time(Step.OTHER_OBJECT, self._scheduler.object_seen, kind, parsed, now_s=self._clock.now_s)

    def _tell_gone(self, gone: Json) -> None:
        kind, metadata, now_s = gone["kind"], gone["metadata"], self._clock.now_s
        if kind == "Node":
            self._stopwatch.time(Step.NODE_GONE, self._scheduler.node_gone, metadata["name"], now_s=now_s)
        elif kind == "Pod" and gone["spec"].get("nodeName"):
            uid = Uid(metadata["uid"])
            self._stopwatch.time(Step.POD_GONE, self._scheduler.assigned_pod_gone, uid, now_s=now_s)
        elif kind == "Pod":
            self._scheduler.pending_pod_gone(Uid(metadata["uid"]), now_s=now_s)
        elif kind in KINDS:
            key = f"{metadata['namespace']}/{metadata['name']}"
            self._stopwatch.time(Step.OTHER_OBJECT, self._scheduler.object_gone, kind, key, now_s=now_s)

    def _node_seen(self, served: Json, step: Step) -> None:
        node = self._stopwatch.time(Step.NODE_PARSED, NodeInfo.parse, served)
        self._stopwatch.time(step, self._scheduler.node_seen, node, now_s=self._clock.now_s)

    def _pod_seen(self, served: Json, tell: Callable[..., None], step: Step) -> None:
        pod = self._stopwatch.time(Step.POD_PARSED, PodInfo.parse, served)
        self._stopwatch.time(step, tell, pod, now_s=self._clock.now_s)


def node_path(number: int) -> str:
    return f"{NODES}/node-{number}"
