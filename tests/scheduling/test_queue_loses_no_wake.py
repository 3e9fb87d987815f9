"""Whenever a change makes a waiting pod feasible, the hints wake it: no pod waits that could be placed."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
from hypothesis import given, settings

from plimsoll.scheduling.decision import Bind, Command, Preempt
from plimsoll.scheduling.queue import Place
from tests.builders import NodeBuilder, PodBuilder, make_node, make_pod
from tests.scheduling.conftest import World

_ASSIGNED = 7
_few = st.integers(0, 3)
_key = st.sampled_from(["zone", "kubernetes.io/hostname"])
_apps = st.sampled_from(["x", "y"])


def _selector(app: str) -> dict[str, Any]:
    return {"matchLabels": {"app": app}}


@st.composite
def nodes(draw: st.DrawFn) -> NodeBuilder:
    node = make_node(f"n{draw(_few)}").offers(cpu=str(draw(_few)), pods=draw(st.sampled_from(["1", "2", "110"])))
    if disk := draw(st.sampled_from(["", "ssd", "hdd"])):
        node.label("disk", disk)
    if zone := draw(st.sampled_from(["", "a", "b"])):
        node.label("zone", zone)
    for taint in draw(st.sets(st.sampled_from(["a", "b"]))):
        node.taint(taint)
    return node.cordoned() if draw(st.booleans()) else node


def _affinity(draw: st.DrawFn, pod: PodBuilder) -> None:
    for kind in draw(st.sets(st.sampled_from(["podAffinity", "podAntiAffinity"]), max_size=1)):
        term = {"topologyKey": draw(_key), "labelSelector": _selector(draw(_apps))}
        pod.spec(affinity={kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}})


def _spread(draw: st.DrawFn, pod: PodBuilder) -> None:
    if draw(st.booleans()):
        constraint = {
            "maxSkew": 1,
            "topologyKey": draw(_key),
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": _selector(draw(_apps)),
            "nodeTaintsPolicy": draw(st.sampled_from(["Honor", "Ignore"])),
        }
        pod.spec(topologySpreadConstraints=[constraint])


def _with_ports(pod: PodBuilder, kind: int) -> PodBuilder:
    match kind:
        case 1:
            return pod.port(80)
        case 2:
            return pod.port(80, ip="127.0.0.1").port(81)
        case _:
            return pod


@st.composite
def assigned(draw: st.DrawFn) -> PodBuilder:
    """What the API server lets nobody change follows from the name: ports, priority, affinity."""
    i = draw(st.integers(0, _ASSIGNED))
    pod = make_pod(f"on{i}").cpu(str(draw(_few))).labels(app=draw(_apps)).on(f"n{draw(_few)}")
    _with_ports(pod, i % 3).priority(5 * (i % 2))
    if i > _ASSIGNED // 2:
        pod.apart({"topologyKey": ["zone", "kubernetes.io/hostname"][i % 2], "labelSelector": _selector("xy"[i % 2])})
    return pod.deleting() if draw(st.booleans()) else pod


@st.composite
def pending(draw: st.DrawFn, *, placing: bool) -> PodBuilder:
    pod = make_pod(f"waits{draw(_few)}").cpu(str(draw(_few))).labels(app=draw(_apps))
    _with_ports(pod, draw(_few)).priority(draw(st.sampled_from([0, 5])))
    if disk := draw(st.sampled_from(["", "ssd"])):
        pod.node_selector(disk=disk)
    for taint in draw(st.sets(st.sampled_from(["a", "b", "node.kubernetes.io/unschedulable"]))):
        pod.tolerate(key=taint, operator="Exists")
    if placing:
        _affinity(draw, pod)
        _spread(draw, pod)
    return pod


def steps(*, placing: bool) -> st.SearchStrategy[list[tuple[str, Any]]]:
    return st.lists(
        st.one_of(
            st.tuples(st.just("node"), nodes()),
            st.tuples(st.just("node goes"), _few),
            st.tuples(st.just("assigned"), assigned()),
            st.tuples(st.just("assigned goes"), st.integers(0, _ASSIGNED)),
            st.tuples(st.just("pending"), pending(placing=placing)),
        ),
        min_size=5,
        max_size=40,
    )


def _take(world: World, step: tuple[str, Any]) -> None:
    match step:
        case ("node", NodeBuilder() as node):
            world.nodes(node)
        case ("node goes", int(i)):
            world.node_goes(f"n{i}")
        case ("assigned", PodBuilder() as pod):
            world.assigned(pod)
        case ("assigned goes", int(i)):
            world.assigned_goes(make_pod(f"on{i}"))
        case ("pending", PodBuilder() as pod):
            world.pending(pod)


def _nobody_waits_who_could_be_placed(world: World) -> None:
    scheduler = world.scheduler
    for queued in scheduler._queue:
        if queued.place is Place.UNSCHEDULABLE:
            decision = scheduler.judge(queued.pod, now_s=world.now_s).decision
            assert not decision.node, f"{queued.pod.key} fits {decision.node}, rejected by {set(queued.rejected_by)}"


def _carry_out(world: World, command: Command) -> None:
    match command:
        case Bind():
            world.scheduler.bound(command.pod.uid, now_s=world.now_s)
        case Preempt():
            for victim in command.decision.victims:
                world.scheduler.victim_evicted(victim.uid, now_s=world.now_s)
            world.scheduler.preempted(command.pod.uid, failed=False, now_s=world.now_s)


def _run(history: list[tuple[str, Any]]) -> None:
    world = World()
    for step in history:
        _take(world, step)
        while (command := world.scheduler.next_command(now_s=world.now_s)) is not None:
            _carry_out(world, command)
        _nobody_waits_who_could_be_placed(world)


@settings(max_examples=75)
@given(steps(placing=False))
def test_a_pod_that_fits_by_now_is_due(history: list[tuple[str, Any]]) -> None:
    _run(history)


@settings(max_examples=75)
@given(steps(placing=True))
def test_a_pod_that_fits_by_now_is_due_among_pods_that_care_for_each_other(history: list[tuple[str, Any]]) -> None:
    _run(history)
