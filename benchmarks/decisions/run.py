"""One workload on one size of cluster."""

from __future__ import annotations

import asyncio
import contextlib
import cProfile
import gc
import hashlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.decisions.clock import Clock
from benchmarks.decisions.cluster import Cluster, node_path
from benchmarks.decisions.flow import Flow
from benchmarks.decisions.load import readings
from benchmarks.decisions.stopwatch import Cost, Step, Stopwatch
from benchmarks.throughput.workload import Thing, Workload
from benchmarks.throughput.workloads.objects import NODES
from plimsoll.policy.compile import compile_policy
from plimsoll.policy.compiled import Policy
from plimsoll.runtime.memory import settle_memory
from plimsoll.scheduling.scheduler import Scheduler

_NAME = "plimsoll"
_NOBODY = "http://127.0.0.1:9"
_HEARTBEATS, _CHANGES = 1000, 200


@dataclass(frozen=True, slots=True)
class Run:
    """Attributes:
    bound: how many of the measured pods got a node.
    left: how many can have none, by design.
    placement: a digest of which pod went where. Equal runs give equal ones, but for churn, whose things come and go by
        the wall clock.
    """

    workload: str
    nodes: int
    pods: int
    bound: int
    left: int
    placement: str
    costs: dict[Step, Cost]


def run(workload: Workload, *, nodes: int, pods: int, profile: cProfile.Profile | None = None) -> Run:
    """Raises:
    RuntimeError: pods were left without a node that can have one, or could not be judged.
    """
    with _memory_as_found():
        done = asyncio.run(_Story(workload, nodes, profile).play(pods))
    if done.bound < pods - done.left:
        raise RuntimeError(f"{workload.name}, {nodes} nodes: {done.bound} of {pods - done.left} pods got a node")
    return done


class _Story:
    def __init__(self, workload: Workload, nodes: int, profile: cProfile.Profile | None) -> None:
        self._workload = workload
        self._nodes = nodes
        self._rng = np.random.default_rng(1)
        self._clock = Clock()
        self._stopwatch = Stopwatch()
        self._scheduler = Scheduler(scheduler_name=_NAME, rng=np.random.default_rng(1))
        self._cluster = Cluster(self._scheduler, self._stopwatch, self._clock)
        self._flow = Flow(self._scheduler, self._cluster, self._stopwatch, self._clock, profile)
        self._policy: Policy | None = None

    async def play(self, pods: int) -> Run:
        self._prepare()
        self._stopwatch.forget()
        wanted = {
            self._cluster.add(thing)["metadata"]["name"] for thing in self._workload.pods(pods, _NAME, self._nodes)
        }
        settle_memory()
        left = self._workload.left(len(wanted))
        with self._stopwatch.watching_collections():
            await self._decide(wanted, left)
            self._nodes_report()
        bound = pods - len(self._flow.waiting)
        placement = _digest(self._flow.placed)
        return Run(self._workload.name, self._nodes, pods, bound, left, placement, self._stopwatch.costs())

    def _prepare(self) -> None:
        nodes = (Thing(NODES, self._workload.node(i)) for i in range(self._nodes))
        for thing in itertools.chain(nodes, self._workload.before(self._nodes)):
            self._cluster.add(thing)
        if self._workload.policy is not None:
            self._policy = compile_policy(self._workload.policy(_NOBODY))
            self._scheduler.policies_changed([self._policy], now_s=self._clock.now_s)
            self._refresh()

    def _refresh(self) -> None:
        if self._policy is not None:
            names = tuple(node.name for node in self._scheduler.nodes())
            taken = readings(self._policy, names, self._rng, now_s=self._clock.now_s)
            tell = self._scheduler.readings_taken
            self._stopwatch.time(Step.READINGS, tell, self._policy.name, taken, now_s=self._clock.now_s)

    async def _decide(self, wanted: set[str], left: int) -> None:
        over = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._meanwhile(over))
            await self._flow.run(wanted, left=left, refresh=self._refresh)
            over.set()

    async def _meanwhile(self, over: asyncio.Event) -> None:
        if self._workload.meanwhile is not None:
            await self._workload.meanwhile(self._cluster, _NAME, self._nodes, over)

    def _nodes_report(self) -> None:
        """As kubelets do: most say nothing new."""
        for i in range(_HEARTBEATS):
            conditions = [{"type": "Ready", "status": "True", "lastHeartbeatTime": f"2026-01-02T00:00:{i % 60:02}Z"}]
            self._cluster.change(
                node_path(i % self._nodes), {"status": {"conditions": conditions}}, step=Step.HEARTBEAT
            )
        for i in range(_CHANGES):
            labels = {"metadata": {"labels": {"changed": str(i)}}}
            self._cluster.change(node_path(i % self._nodes), labels, step=Step.NODE_CHANGED)


def _digest(placed: dict[str, str]) -> str:
    lines = "\n".join(f"{pod} {node}" for pod, node in sorted(placed.items()))
    return hashlib.sha256(lines.encode()).hexdigest()[:12]


@contextlib.contextmanager
def _memory_as_found() -> Iterator[None]:
    """What one run settles must not stay for the next."""
    thresholds = gc.get_threshold()
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()
        gc.collect()
