"""Rows that did not change are not worked out again: a decision says the same as one that starts from nothing."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings

from plimsoll.cluster.services import SERVICE, Service
from plimsoll.cluster.workload import WorkloadKey
from plimsoll.cluster.workload_zones import Zoning
from plimsoll.policy.compiled import Formula, InFlight, OnMissing, OnOverload, Placement
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


def pod(i: int, *, cpu: str, kind: str, namespace: str = "default") -> PodBuilder:
    made = make_pod(f"p{i}", namespace).cpu(cpu).memory("1Gi").owner("Job", f"job-{i % 2}").labels(app=f"app-{i % 2}")
    match kind:
        case "tolerant":
            return made.tolerate(key="x", operator="Exists")
        case "picky":
            return made.prefer_nodes(5, tier="a")
        case "apart":
            return made.apart(
                {"topologyKey": "topology.kubernetes.io/zone", "labelSelector": {"matchLabels": {"app": "app-0"}}}
            )
        case "apart from a team":
            return made.apart(
                {
                    "topologyKey": "kubernetes.io/hostname",
                    "labelSelector": {"matchLabels": {"app": "app-0"}},
                    "namespaceSelector": {"matchLabels": {"team": "a"}},
                }
            )
        case "unowned":
            return make_pod(f"p{i}", namespace).cpu(cpu).labels(app=f"app-{i % 2}")
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
kinds = st.sampled_from(
    ["plain", "plain", "tolerant", "picky", "apart", "apart from a team", "spread", "gpu", "port", "daemon", "unowned"]
)
namespaces = st.sampled_from(["default", "default", "other"])
pods = st.builds(
    lambda i, cpu, kind, namespace: pod(i, cpu=cpu, kind=kind, namespace=namespace),
    st.integers(0, 7),
    st.sampled_from(["1", "3"]),
    kinds,
    namespaces,
)
nodes = st.builds(
    lambda i, zone, size, cordoned, taint, image: node(i, zone, size=size, cordoned=cordoned, taint=taint, image=image),
    rows,
    # c and d are new to everybody
    st.sampled_from(["", "a", "b", "c", "d"]),
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
# What these leave is all in what may be listed.
listed = (
    st.tuples(st.just("node"), nodes),
    st.tuples(st.just("node goes"), rows),
    st.tuples(st.just("node comes back"), nodes),
    st.tuples(st.just("assigned"), pods, rows, st.booleans()),
    st.tuples(st.just("assigned goes"), pods),
    st.tuples(st.just("places"), pods, st.sampled_from(["bound", "confirmed", "failed"])),
    st.tuples(st.just("policies"), st.lists(policies, max_size=1)),
    st.tuples(st.just("flood"), rows),
    st.tuples(st.just("namespace"), namespaces, st.sampled_from(["a", "b"])),
    st.tuples(st.just("service"), st.integers(0, 1), st.booleans()),
)
# Nobody asks between two others: what is kept then has missed more than one thing.
asks = st.tuples(st.just("asks"))
readings = st.tuples(st.just("readings"), st.lists(st.tuples(shares, shares), min_size=5, max_size=5), st.booleans())
events = st.lists(st.one_of(*listed, readings), min_size=5, max_size=25)


def happens(world: World, event: tuple[object, ...]) -> None:
    match event:
        case ("node", NodeBuilder() as made):
            world.nodes(made)
        case ("node goes", int(i)):
            world.node_goes(f"n{i}")
        case ("node comes back", NodeBuilder() as made):
            world.node_goes(made.info().name)
            world.nodes(made)
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
        case ("namespace", str(name), str(team)):
            world.scheduler.namespace_seen(name, {"team": team}, now_s=world.now_s)
        case ("service", int(i), bool(there)):
            serves(world, Service("default", f"s{i}", {"app": f"app-{i}"}), there=there)
        case ("flood", int(i)):
            world.assigned(make_pod("before").cpu("2").on(f"n{(i + 1) % 3}"))
            for _ in range(FLOOD):
                world.assigned(make_pod("flood").cpu("1").on(f"n{i}"))
                world.assigned_goes(make_pod("flood"))


def serves(world: World, service: Service, *, there: bool) -> None:
    if there:
        world.scheduler.object_seen(SERVICE, service, now_s=world.now_s)
    else:
        world.scheduler.object_gone(SERVICE, service.key, now_s=world.now_s)


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


def afresh(world: World, history: list[tuple[object, ...]]) -> World:
    """A scheduler that starts now, and is told what there is; zones that are empty by now still count as zones."""
    fresh = World()
    fresh.now_s = world.now_s
    for zone in filter(None, world.scheduler._cache.view._zone_ids):
        fresh.nodes(make_node("gone").zone(zone))
        fresh.node_goes("gone")
    for event in history:
        if event[0] in {"namespace", "service", "policies"}:
            happens(fresh, event)
    for there in world.scheduler.nodes():
        fresh.scheduler.node_seen(there, now_s=fresh.now_s)
    for info in world.scheduler.pods():
        fresh.scheduler.pod_assigned(info, now_s=fresh.now_s)
    return fresh


def said(judgement: Judgement) -> tuple[object, ...]:
    """But which of equally good nodes: rows may be others, and so the dice."""
    decision = judgement.decision
    refused = {(r.plugin, r.reason, r.count, r.resolvable) for r in decision.rejections}
    return judgement.nodes, judgement.terms, judgement.preferences, decision.outcome, decision.problem, refused


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(*listed, asks, asks), min_size=10, max_size=40), st.lists(pods, min_size=1, max_size=4))
def test_a_scheduler_that_has_seen_much_says_what_a_new_one_says(
    history: list[tuple[object, ...]], asked: list[PodBuilder]
) -> None:
    world = World()
    world.nodes(*(make_node(f"n{i}").zone("ab"[i % 2]) for i in range(3)))
    for event in history:
        happens(world, event)
        for made in asked if event == ("asks",) else ():
            judged(world, made)
    fresh = afresh(world, history)
    for made in asked:
        assert said(judged(world, made)) == said(judged(fresh, made))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(*listed, asks, asks), min_size=5, max_size=40))
def test_replicas_by_zone_are_those_of_a_count_from_scratch(history: list[tuple[object, ...]]) -> None:
    world, keys = World(), [WorkloadKey(key) for key in {pod(i, cpu="1", kind="").info().workload for i in range(2)}]
    world.nodes(*(make_node(f"n{i}").zone("ab"[i % 2]) for i in range(3)))
    view = world.scheduler._cache.view
    for event in [*history, ("asks",)]:
        happens(world, event)
        if event != ("asks",):
            continue
        zoning = Zoning(view.zoning, view.zone, view.zones)
        for key in keys:
            counted = [0.0] * (view.zones + 1)
            for row, count in view.workloads.counts(key).items():
                counted[view.zone[row]] += count if view.zone[row] else 0
            assert view.workloads.by_zone(key, zoning).tolist() == counted
