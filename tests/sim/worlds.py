"""Small worlds whose load is known by hand, and a contender that does what it is told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np

from plimsoll.cluster.node import NodeInfo
from plimsoll.policy.compiled import BUILT_IN_METRICS, Metric, Policy, PrometheusSource
from plimsoll.sim.contenders.interface import Make, Placement
from plimsoll.sim.demand import Demand
from plimsoll.sim.metrics import MetricsPlane
from plimsoll.sim.recorded import Arrival, Machine, Recorded
from plimsoll.sim.scenario import HOUR_S, Fault, FaultKind, Scenario
from plimsoll.sim.synthetic import synthetic_trace
from plimsoll.sim.trace import Trace
from plimsoll.sim.world import LAG_S, METRICS, STEP_S, Node, Owner, Pod, World

CORES, MEM_BYTES, NIC_BYTES_S = 16.0, 32 * 2.0**30, 25e6
CAPACITY = np.array([CORES, MEM_BYTES, NIC_BYTES_S, NIC_BYTES_S])
SLOT_S = 300.0
POLICY = Policy(
    name="p", metrics=tuple(Metric(m, 1) for m in BUILT_IN_METRICS), source=PrometheusSource("http://prometheus:9090")
)
RECORDED = Recorded(
    arrivals=tuple(
        Arrival(f"app-{i % 7}", 3000.0 * i + j, 3000.0 * i + j + 5000.0) for i in range(60) for j in range(1 + i % 9)
    ),
    machines=(Machine(8, 32 * 2.0**30), Machine(32, 128 * 2.0**30), Machine(96, 384 * 2.0**30)),
)


@cache
def trace() -> Trace:
    return synthetic_trace(0)


def make_scenario(**fields: Any) -> Scenario:
    return Scenario("small", "", **{"hours": 2.0, "nodes": 3, "pods": 30, **fields})


def make_world(
    background: Any = 0.0,
    *,
    pods: Sequence[Pod] = (),
    curves: Any = ((0.1,) * 4,),
    joins_s: Sequence[float] = (),
    drains_s: Sequence[float] = (),
    **fields: Any,
) -> World:
    """Args:
    background: share of each node's capacity, by anything that fits [M, N, K].
    curves: [A, M] or [A, M, S], share of a node's capacity that a replica demands.
    joins_s, drains_s: of the first nodes.
    """
    scenario = make_scenario(**fields)
    steps, slots = int(scenario.hours * HOUR_S / STEP_S), int((scenario.hours * HOUR_S + LAG_S) / SLOT_S) + 1
    nodes = [Node(f"node-{i}", CORES, MEM_BYTES, NIC_BYTES_S) for i in range(scenario.nodes)]
    nodes[: len(joins_s)] = [n._replace(joins_s=s) for n, s in zip(nodes, joins_s, strict=False)]
    nodes[: len(drains_s)] = [n._replace(drains_s=s) for n, s in zip(nodes, drains_s, strict=False)]
    capacity = np.repeat(CAPACITY[:, None], scenario.nodes, axis=1)
    shares = np.array(curves, dtype=np.float64)
    shares = shares if shares.ndim == 3 else np.repeat(shares[:, :, None], slots, axis=2)
    load = np.broadcast_to(np.array(background, dtype=np.float64), (4, scenario.nodes, steps))
    return World(
        scenario=scenario,
        seed=1,
        nodes=tuple(nodes),
        capacity=capacity,
        curves=shares * CAPACITY[None, :, None],
        slot_s=SLOT_S,
        background=load * capacity[:, :, None],
        pods=list(pods),
        horizon_s=scenario.hours * HOUR_S,
    )


def make_replica(arrives_s: float = 0.0, **fields: Any) -> Pod:
    usual = {
        "app": 0,
        "owner": Owner.SERVICE,
        "lifetime_s": 1800.0,
        "ready_s": 30.0,
        "lag_s": 0.0,
        "request": (0.0, 0.0),
        "limit": (0.0, 0.0),
    }
    return Pod(arrives_s=arrives_s, **{**usual, **fields})


def make_plane(world: World) -> MetricsPlane:
    return MetricsPlane(world, Demand(world), np.random.default_rng(world.seed))


def make_fault(kind: FaultKind, **fields: Any) -> Fault:
    return Fault(kind, **{"from_s": 3600.0, "until_s": 5400.0, **fields})


def infos(world: World) -> list[NodeInfo]:
    """The nodes as the product knows them."""
    return [
        NodeInfo(node.name, capacity={"cpu": int(node.cores * 1000), "memory": int(node.mem_bytes)})
        for node in world.nodes
    ]


class Told:
    """Places each pod on the first of its nodes in turn that takes pods, and writes down what it is told."""

    def __init__(self, world: World, plane: MetricsPlane, on_refresh: Callable[[MetricsPlane, float], None]) -> None:
        self.world, self.plane, self.on_refresh = world, plane, on_refresh
        self.events: list[tuple[str, int, float]] = []
        self.live = [False] * len(world.nodes)
        self.waiting: list[int] = []

    def node_joined(self, node: int, *, now_s: float) -> None:
        self.live[node] = True

    def node_drained(self, node: int, *, now_s: float) -> None:
        self.live[node] = False

    def arrived(self, pod: int, *, now_s: float) -> None:
        self.events.append(("arrived", pod, now_s))
        self.waiting.append(pod)

    def started(self, pod: int, *, now_s: float) -> None:
        self.events.append(("started", pod, now_s))

    def ended(self, pod: int, *, now_s: float) -> None:
        self.events.append(("ended", pod, now_s))

    def refreshed(self, *, now_s: float) -> None:
        self.on_refresh(self.plane, now_s)

    def place(self, *, now_s: float) -> Iterable[Placement]:
        waiting, self.waiting = self.waiting, []
        takes = [node for node, live in enumerate(self.live) if live]
        for pod in waiting:
            self.events.append(("placed", pod, now_s))
            yield Placement(pod, takes[pod % len(takes)])

    def due_s(self) -> float | None:
        return None


def told(on_refresh: Callable[[MetricsPlane, float], None] = lambda _plane, _now_s: None) -> tuple[Make, list[Told]]:
    """Makes contenders, and keeps those that it made."""
    made: list[Told] = []

    def make(world: World, plane: MetricsPlane, _rng: np.random.Generator) -> Told:
        made.append(Told(world, plane, on_refresh))
        return made[-1]

    return make, made


def at(metric: str) -> int:
    return METRICS.index(metric)
