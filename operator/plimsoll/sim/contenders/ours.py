"""Ours: the product's own Scheduler and load model, driven as the operator drives them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from plimsoll.cluster.kinds import KINDS
from plimsoll.cluster.node import HOSTNAME_LABEL, NodeInfo
from plimsoll.cluster.owner import Owner as Controller
from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.cluster.resources import CPU, MEMORY, PODS
from plimsoll.cluster.workload import WorkloadKey
from plimsoll.load.workload_use import WorkloadUse
from plimsoll.policy.compiled import Policy
from plimsoll.scheduling.decision import Bind
from plimsoll.scheduling.scheduler import Scheduler
from plimsoll.sim.contenders.interface import Placement
from plimsoll.sim.metrics import MetricsPlane
from plimsoll.sim.reading_worlds import world_readings
from plimsoll.sim.readings import workload_use
from plimsoll.sim.world import Node, Owner, World

_NAMESPACE, _SCHEDULER = "replayed", "plimsoll"
_MOST_PODS = 110
# Nodes that are there from the start are old.
_LONG_AGO_S = -1e6
_USE_EVERY_S = 60.0
# As the queries for pods have it, with timeRange 5m.
_OLDEST_USE_S = 75.0
# Without pods to place nothing is read; the history of workloads goes on.
_IDLE_USE_EVERY_S = 300.0


class Ours:
    """Metrics are read as of the last refresh, but only when a pod is there to be placed: what they would have said in
    between changes nothing, as long as the policy has no limits, whose marks flip at each refresh.
    """

    def __init__(self, policy: Policy, world: World, plane: MetricsPlane, rng: np.random.Generator) -> None:
        self._policy, self._world, self._plane = policy, world, plane
        self._scheduler = Scheduler(scheduler_name=_SCHEDULER, rng=rng)
        self._scheduler.namespace_seen(_NAMESPACE, {}, now_s=0.0)
        self._scheduler.policies_changed([policy], now_s=0.0)
        self._keys = [WorkloadKey(f"{_NAMESPACE}/app-{app}") for app in range(len(world.curves))]
        self._known_apps: set[int] = set()
        self._placed: dict[int, PodInfo] = {}
        self._waiting: set[int] = set()
        self._readings_id = 0
        self._seen: WorkloadUse | None = None
        self._refreshed_s, self._read_s, self._use_s = 0.0, -1.0, -np.inf

    def node_joined(self, node: int, *, now_s: float) -> None:
        self._scheduler.node_seen(self._node(self._world.nodes[node], created_s=now_s), now_s=now_s)

    def node_drained(self, node: int, *, now_s: float) -> None:
        drained = self._node(self._world.nodes[node], created_s=0.0)
        self._scheduler.node_seen(replace(drained, unschedulable=True), now_s=now_s)

    def arrived(self, pod: int, *, now_s: float) -> None:
        self._waiting.add(pod)
        self._scheduler.pod_pending(self._pod(pod, now_s=now_s), now_s=now_s)

    def started(self, pod: int, *, now_s: float) -> None:
        running = replace(self._placed[pod], phase="Running", started_s=now_s, running_s=now_s)
        self._placed[pod] = running
        self._scheduler.pod_assigned(running, now_s=now_s)

    def ended(self, pod: int, *, now_s: float) -> None:
        self._scheduler.assigned_pod_gone(self._placed.pop(pod).uid, now_s=now_s)

    def refreshed(self, *, now_s: float) -> None:
        self._refreshed_s = now_s
        if self._policy.limits or now_s - self._use_s >= _IDLE_USE_EVERY_S:
            self._read()

    def place(self, *, now_s: float) -> Iterable[Placement]:
        if not self._waiting:
            return
        self._read()
        while (command := self._scheduler.next_command(now_s=now_s)) is not None:
            if isinstance(command, Bind):
                yield self._bound(command, now_s=now_s)

    def due_s(self) -> float | None:
        if not self._waiting:
            return None
        return self._scheduler.wake_at_s()

    def _bound(self, command: Bind, *, now_s: float) -> Placement:
        pod, node = int(command.pod.name), command.decision.node
        self._waiting.discard(pod)
        self._scheduler.bound(command.pod.uid, now_s=now_s)
        assigned = replace(command.pod, node=node, scheduled_s=now_s)
        self._placed[pod] = assigned
        self._scheduler.pod_assigned(assigned, now_s=now_s)
        return Placement(pod, self._index[node])

    def _read(self) -> None:
        """As of the last refresh, once."""
        if self._read_s == self._refreshed_s or not self._policy.metrics:
            return
        self._read_s = self._refreshed_s
        self._readings_id += 1
        readings = world_readings(
            self._plane,
            self._policy,
            self._scheduler.nodes(),
            now_s=self._read_s,
            readings_id=self._readings_id,
        )
        self._scheduler.readings_taken(self._policy.name, replace(readings, use=self._use()), now_s=self._read_s)

    def _use(self) -> WorkloadUse | None:
        """The operator looks at pods beside the refresh: what it saw comes with the next one. It sees nothing while the
        source does not answer, or its clock is so far behind that all it has seems old.
        """
        seen, self._seen = self._seen, None
        behind = self._plane.faults.source_ahead_s(self._read_s) < -_OLDEST_USE_S
        if self._read_s - self._use_s >= _USE_EVERY_S and self._plane.answers(self._read_s) and not behind:
            self._use_s = self._read_s
            self._seen = workload_use(self._plane, self._policy, self._keys, now_s=self._read_s)
        return seen

    @property
    def _index(self) -> dict[str, int]:
        return {node.name: i for i, node in enumerate(self._world.nodes)}

    def _node(self, node: Node, *, created_s: float) -> NodeInfo:
        offered = {CPU: round(1000 * node.cores), MEMORY: int(node.mem_bytes), PODS: _MOST_PODS}
        return NodeInfo(
            name=node.name,
            uid=node.name,
            labels={HOSTNAME_LABEL: node.name},
            annotations={"plimsoll.dev/network-capacity": str(int(node.nic_bytes_s))},
            allocatable=offered,
            capacity=offered,
            created_s=created_s or _LONG_AGO_S,
        )

    def _pod(self, pod: int, *, now_s: float) -> PodInfo:
        replica = self._world.pods[pod]
        cores, mem_bytes = replica.request
        name, owner = f"app-{replica.app}", None
        if replica.owner is Owner.SERVICE:
            owner = Controller("apps/v1", "ReplicaSet", name)
            self._know(replica.app, name)
        requests = {CPU: round(1000 * cores), MEMORY: int(mem_bytes)}
        return PodInfo(
            uid=Uid(str(pod)),
            namespace=_NAMESPACE,
            name=str(pod),
            scheduler_name=_SCHEDULER,
            labels={"app": name},
            created_s=now_s,
            requests={resource: amount for resource, amount in requests.items() if amount},
            workload=self._keys[replica.app],
            owner=owner,
            containers=1,
        )

    def _know(self, app: int, name: str) -> None:
        """kube-scheduler's default spreading, which ours counts lightly, goes by the owner's selector."""
        if app in self._known_apps:
            return
        self._known_apps.add(app)
        selector = {"matchLabels": {"app": name}}
        made = {"metadata": {"namespace": _NAMESPACE, "name": name}, "spec": {"selector": selector}}
        self._scheduler.object_seen("ReplicaSet", KINDS["ReplicaSet"].parse(made), now_s=0.0)
