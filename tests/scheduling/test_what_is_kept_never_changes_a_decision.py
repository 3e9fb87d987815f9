"""Rows that did not change are not worked out again: a decision says the same as one that starts from nothing."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings

from plimsoll.cluster.workload import WorkloadKey
from plimsoll.cluster.workload_zones import Zoning
from plimsoll.policy.compiled import Formula, InFlight, OnMissing, OnOverload, Placement, Policy
from plimsoll.scheduling.decide import Caches
from plimsoll.scheduling.judgement import Judgement
from tests.builders import NodeBuilder, PodBuilder, make_node, make_pod, make_policy
from tests.scheduling.conftest import World

METRICS = ["cpu", "memory", "networkReceive"]
# More changes than anybody keeps in mind.
FLOOD = 300


def node(i: int, zone: str, *, size: str, cordoned: bool, taint: str, image: bool) -> NodeBuilder:
    made = make_node(f"n{i}").allocatable(cpu=size)
    made = made.zone(zone) if zone else made
    made = made.cordoned() if cordoned else made
    made = made.taint("x", effect=taint) if taint else made
    return made.status(images=[{"names": ["web:1"], "sizeBytes": 500 * 2**20}]) if image else made


def pod(i: int, *, cpu: str, kind: str) -> PodBuilder:
    made = make_pod(f"p{i}").cpu(cpu).memory("1Gi").owner("Job", f"job-{i % 2}").labels(app=f"app-{i % 2}")
    match kind:
        case "tolerant":
            return made.tolerate(key="x", operator="Exists")
        case "picky":
            return made.prefer_nodes(5, tier="a")
        case "apart":
            return made.apart(
                {"topologyKey": "topology.kubernetes.io/zone", "labelSelector": {"matchLabels": {"app": "app-0"}}}
            )
        case "spread":
            return made.spread_over("topology.kubernetes.io/zone", {"matchLabels": {"app": f"app-{i % 2}"}})
        case "gpu":
            return made.resource("example.com/gpu", "1")
        case "port":
            return made.port(8080)
        case "daemon":
            return made.owner("DaemonSet", "agent")
    return made


rows = st.integers(0, 4)
shares = st.one_of(st.none(), st.sampled_from([0.0, 0.1, 0.35, 0.8, 0.95, 1.2]))
kinds = st.sampled_from(["plain", "plain", "tolerant", "picky", "apart", "spread", "gpu", "port", "daemon"])
pods = st.builds(lambda i, cpu, kind: pod(i, cpu=cpu, kind=kind), st.integers(0, 7), st.sampled_from(["1", "3"]), kinds)
nodes = st.builds(
    lambda i, zone, size, cordoned, taint, image: node(i, zone, size=size, cordoned=cordoned, taint=taint, image=image),
    rows,
    st.sampled_from(["", "a", "b"]),
    st.sampled_from(["4", "16"]),
    st.booleans(),
    st.sampled_from(["", "", "NoSchedule", "PreferNoSchedule"]),
    st.booleans(),
)
policies = st.builds(
    lambda weights, limits, **fields: make_policy(
        "p",
        weights=dict(zip(METRICS, weights, strict=True)),
        limits={metric: limit for metric, limit in zip(METRICS, limits, strict=True) if limit is not None},
        **fields,
    ),
    st.tuples(*(st.integers(0, 2) for _ in METRICS)),
    st.tuples(*(st.one_of(st.none(), st.floats(min_value=0.2, max_value=1)) for _ in METRICS)),
    formula=st.sampled_from([Formula.CAPACITY, Formula.CAPACITY, Formula.RELATIVE]),
    in_flight=st.sampled_from([InFlight.COUNT, InFlight.COUNT, InFlight.IGNORE]),
    pack_target=st.sampled_from([None, None, 0.6]),
    on_overload=st.sampled_from(OnOverload),
    on_missing=st.sampled_from(OnMissing),
    placement=st.builds(Placement, *(st.sampled_from([0.0, 2.0, 3.0]) for _ in range(4))),
)
events = st.lists(
    st.one_of(
        st.tuples(st.just("node"), nodes),
        st.tuples(st.just("node goes"), rows),
        st.tuples(st.just("assigned"), pods, rows, st.booleans()),
        st.tuples(st.just("assigned goes"), pods),
        st.tuples(st.just("places"), pods, st.sampled_from(["bound", "confirmed", "failed"])),
        st.tuples(st.just("readings"), st.lists(st.tuples(shares, shares), min_size=5, max_size=5), st.booleans()),
        st.tuples(st.just("policies"), st.lists(policies, max_size=1)),
        st.tuples(st.just("flood"), rows),
    ),
    min_size=5,
    max_size=25,
)


def happens(world: World, event: tuple[object, ...]) -> None:
    match event:
        case ("node", NodeBuilder() as made):
            world.nodes(made)
        case ("node goes", int(i)):
            world.node_goes(f"n{i}")
        case ("assigned", PodBuilder() as made, int(i), bool(deleting)):
            world.assigned(made.deleting().on(f"n{i}") if deleting else made.on(f"n{i}"))
        case ("assigned goes", PodBuilder() as made):
            world.assigned_goes(made)
        case ("places", PodBuilder() as made, str(what)):
            places(world, made, what)
        case ("readings", list(measured), bool(all_of_them)):
            by_metric = zip(METRICS if all_of_them else METRICS[:2], ((0, 1), (1, 0), (0, 0)), strict=False)
            world.readings("p", {m: {f"n{i}": u[k] for i, u in enumerate(measured)} for m, (k, _) in by_metric})
        case ("policies", list(in_force)):
            world.policies(*in_force)
        case ("flood", int(i)):
            world.assigned(make_pod("before").cpu("2").on(f"n{(i + 1) % 3}"))
            for _ in range(FLOOD):
                world.assigned(make_pod("flood").cpu("1").on(f"n{i}"))
                world.assigned_goes(make_pod("flood"))


def places(world: World, made: PodBuilder, what: str) -> None:
    info = made.info()
    if info.uid in world.scheduler._cache:
        return
    decision = world.decide(made)
    if not decision.node:
        world.pending_goes(made)
    elif what == "failed":
        world.bind_failed(made, retry=False)
    else:
        world.bound(made)
        if what == "confirmed":
            world.assigned(made.on(decision.node))


def judged(world: World, made: PodBuilder) -> Judgement:
    world.scheduler._rng = np.random.default_rng(7)
    return world.scheduler.judge(made.info(), now_s=world.now_s)


@settings(max_examples=100, deadline=None)
@given(events, st.lists(pods, min_size=1, max_size=4))
def test_a_decision_is_the_same_whatever_is_kept(history: list[tuple[object, ...]], asked: list[PodBuilder]) -> None:
    world = World()
    world.nodes(*(make_node(f"n{i}").zone("ab"[i % 2]) for i in range(3)))
    for event in history:
        happens(world, event)
        world.passes(1)
        for made in asked:
            warm, kept = judged(world, made), world.scheduler._caches
            world.scheduler._caches = Caches()
            cold = judged(world, made)
            world.scheduler._caches = kept
            assert warm == cold


@settings(max_examples=60, deadline=None)
@given(events)
def test_replicas_by_zone_are_those_of_a_count_from_scratch(history: list[tuple[object, ...]]) -> None:
    world, keys = World(), [WorkloadKey(key) for key in {pod(i, cpu="1", kind="").info().workload for i in range(2)}]
    world.nodes(*(make_node(f"n{i}").zone("ab"[i % 2]) for i in range(3)))
    view = world.scheduler._cache.view
    for event in history:
        happens(world, event)
        zoning = Zoning(view.zoning, view.zone, view.zones)
        for key in keys:
            counted = [0.0] * (view.zones + 1)
            for row, count in view.workloads.counts(key).items():
                counted[view.zone[row]] += count if view.zone[row] else 0
            assert view.workloads.by_zone(key, zoning).tolist() == counted


def test_a_policy_that_is_gone_leaves_nothing_behind() -> None:
    world, policy = World(), make_policy("p", weights={"cpu": 1})
    world.nodes(make_node("n1"), make_node("n2"))
    world.policies(policy)
    world.readings("p", {"cpu": {"n1": 0.1, "n2": 0.2}})
    world.decide(make_pod())
    assert isinstance(policy, Policy)
    assert set(world.scheduler._caches.costs._policies) == {"p"}
    world.policies()
    assert not world.scheduler._caches.costs._policies
