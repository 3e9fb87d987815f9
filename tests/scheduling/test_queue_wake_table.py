"""Which change wakes a pod that which plugin rejected: the rows of kube-scheduler's queueing hints, plugin by plugin.

Every case first sees the pod rejected by that plugin, then something happens. What can help makes it due at once, and
then it fits; what cannot costs no attempt.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from plimsoll.cluster.changes import Change, ChangeKind
from tests.builders import NodeBuilder, PodBuilder, make_node, make_pod
from tests.scheduling.conftest import World, uid
from tests.scheduling.waking import Step, comes, does_not_wake, goes, itself, node_is, rejected, wakes
from tests.scheduling.waking import waiting_pod as pod

CORDON = "node.kubernetes.io/unschedulable"


def forgotten(other: PodBuilder) -> Step:
    """Its Binding fails."""
    return lambda world: world.bind_failed(other, retry=False)


# -- NodeUnschedulable ------------------------------------------------------------------------------------------


def cordoned() -> NodeBuilder:
    return make_node("n1").cordoned()


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(node_is(make_node("n2")), id="a node added that is schedulable"),
        pytest.param(node_is(make_node("n1")), id="uncordoned"),
        pytest.param(itself(pod().tolerate(key=CORDON, operator="Exists")), id="own toleration added"),
    ],
)
def test_row_node_unschedulable_wakes(world: World, step: Step) -> None:
    world.nodes(cordoned())
    rejected(world, pod(), "NodeUnschedulable")
    wakes(world, step)


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(node_is(make_node("n2").cordoned()), id="a node added that is cordoned"),
        pytest.param(node_is(cordoned().label("x", "y")), id="a label"),
        pytest.param(node_is(cordoned().offers(cpu="99")), id="more room"),
        pytest.param(itself(pod().tolerate(key="other", operator="Exists").labels(a="b")), id="own label"),
    ],
)
def test_row_node_unschedulable_does_not_wake(world: World, step: Step) -> None:
    world.nodes(cordoned())
    rejected(world, pod().tolerate(key="other", operator="Exists"), "NodeUnschedulable")
    does_not_wake(world, step)


# -- NodeName ---------------------------------------------------------------------------------------------------
# A pod that names its node never reaches the queue.


# -- TaintToleration --------------------------------------------------------------------------------------------


def tainted() -> NodeBuilder:
    return make_node("n1").taint("a").taint("b")


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(node_is(make_node("n2")), id="a node added without taints"),
        pytest.param(node_is(make_node("n2").taint("b")), id="a node added whose taint it tolerates"),
        pytest.param(node_is(make_node("n1").taint("b")), id="the taint in the way removed"),
        pytest.param(itself(pod().tolerate(operator="Exists")), id="own toleration added"),
    ],
)
def test_row_taint_toleration_wakes(world: World, step: Step) -> None:
    world.nodes(tainted())
    rejected(world, pod().tolerate(key="b", operator="Exists"), "TaintToleration")
    wakes(world, step)


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(node_is(make_node("n2").taint("c")), id="a node added with another taint"),
        pytest.param(node_is(make_node("n1").taint("a")), id="another taint removed"),
        pytest.param(node_is(tainted().label("x", "y")), id="a label"),
        pytest.param(node_is(tainted().offers(cpu="99")), id="more room"),
    ],
)
def test_row_taint_toleration_does_not_wake(world: World, step: Step) -> None:
    world.nodes(tainted())
    rejected(world, pod().tolerate(key="b", operator="Exists"), "TaintToleration")
    does_not_wake(world, step)


# -- NodeAffinity -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(node_is(make_node("n2").label("disk", "ssd")), id="a node added that matches"),
        pytest.param(node_is(make_node("n1").label("disk", "ssd")), id="labels changed so that it matches"),
    ],
)
def test_row_node_affinity_wakes(world: World, step: Step) -> None:
    world.nodes(make_node("n1"))
    rejected(world, pod().node_selector(disk="ssd"), "NodeAffinity")
    wakes(world, step)


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(node_is(make_node("n2").label("disk", "hdd")), id="a node added that does not match"),
        pytest.param(node_is(make_node("n1").label("disk", "hdd")), id="labels changed, no match"),
        pytest.param(node_is(make_node("n1").taint("x")), id="a taint"),
        pytest.param(itself(pod().node_selector(disk="ssd").tolerate(operator="Exists")), id="own toleration"),
    ],
)
def test_row_node_affinity_does_not_wake(world: World, step: Step) -> None:
    world.nodes(make_node("n1"))
    rejected(world, pod().node_selector(disk="ssd"), "NodeAffinity")
    does_not_wake(world, step)


# -- NodePorts --------------------------------------------------------------------------------------------------


def on_ports() -> dict[str, PodBuilder]:
    return {
        "clashing": make_pod("clashing").port(80, ip="127.0.0.1").on("n1"),
        "udp": make_pod("udp").port(80, protocol="UDP").on("n1"),
        "none": make_pod("none").on("n1"),
    }


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(goes(on_ports()["clashing"]), id="a pod with the clashing port deleted"),
        pytest.param(comes(on_ports()["clashing"].phase("Succeeded")), id="or terminated"),
        pytest.param(node_is(make_node("n2")), id="a node added"),
    ],
)
def test_row_node_ports_wakes(world: World, step: Step) -> None:
    world.nodes(make_node("n1"))
    world.assigned(*on_ports().values())
    rejected(world, pod().port(80), "NodePorts")
    wakes(world, step)


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(goes(on_ports()["udp"]), id="a pod with the port of another protocol deleted"),
        pytest.param(goes(on_ports()["none"]), id="a pod without ports deleted"),
        pytest.param(node_is(make_node("n1").label("x", "y")), id="a label"),
    ],
)
def test_row_node_ports_does_not_wake(world: World, step: Step) -> None:
    world.nodes(make_node("n1"))
    world.assigned(*on_ports().values())
    rejected(world, pod().port(80), "NodePorts")
    does_not_wake(world, step)


# -- Fit --------------------------------------------------------------------------------------------------------


def big() -> PodBuilder:
    return make_pod("big").cpu("10").memory("1Gi").on("n1")


def other(name: str, cpu: str, node: str = "n1") -> PodBuilder:
    return make_pod(name).cpu(cpu).on(node)


def fit(world: World) -> None:
    """n1 has 2 cores left; n2 is too small even when it is empty; n3 is full of pods that came first."""
    world.nodes(make_node("n1"), make_node("n2").offers(cpu="4"), make_node("n3").offers(pods="1"))
    world.assigned(big(), other("a", "4"), other("b", "3", "n2"), other("alone", "0", "n3"), make_pod("best").on("n1"))
    rejected(world, pod().cpu("6").memory("1Gi"), "NodeResourcesFit")


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(goes(big()), id="an assigned pod deleted"),
        pytest.param(goes(other("a", "4")), id="a smaller one that leaves just enough"),
        pytest.param(goes(other("alone", "0", "n3")), id="a pod that held the node's last place"),
        pytest.param(comes(big().cpu("2")), id="scaled down in place"),
        pytest.param(comes(big().phase("Failed")), id="terminated"),
        pytest.param(node_is(make_node("n4")), id="a node added on which it fits"),
        pytest.param(node_is(make_node("n1").offers(cpu="20")), id="allocatable increased"),
        pytest.param(node_is(make_node("n3").offers(pods="2")), id="more pods allowed"),
        pytest.param(itself(pod().cpu("2").memory("1Gi")), id="own request lowered"),
    ],
)
def test_row_fit_wakes(world: World, step: Step) -> None:
    fit(world)
    wakes(world, step)


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(goes(make_pod("best").on("n1")), id="a pod deleted that held nothing"),
        pytest.param(goes(other("b", "3", "n2")), id="a pod deleted where it never fits"),
        pytest.param(comes(big().cpu("9")), id="scaled down, but not by enough"),
        pytest.param(comes(big().memory("1Mi")), id="scaled down of what was not short"),
        pytest.param(node_is(make_node("n4").offers(cpu="5")), id="a node added that is too small"),
        pytest.param(node_is(make_node("n1").offers(cpu="17")), id="allocatable increased, but not by enough"),
        pytest.param(node_is(make_node("n1").offers(memory="99Gi")), id="allocatable increased of what was not short"),
        pytest.param(node_is(make_node("n1").label("x", "y")), id="a label"),
        pytest.param(comes(other("new", "1")), id="a pod added"),
        pytest.param(lambda world: world.node_goes("n2"), id="a node deleted"),
        pytest.param(itself(pod().cpu("6").memory("1Gi").labels(a="b")), id="own label"),
    ],
)
def test_row_fit_does_not_wake(world: World, step: Step) -> None:
    fit(world)
    does_not_wake(world, step)


def test_row_fit_a_full_node_is_added(world: World) -> None:
    fit(world)
    world.assigned(other("early", "12", "n4"))
    does_not_wake(world, node_is(make_node("n4")))


def preempting(world: World, *, policy: str, gone: int) -> Callable[[], None]:
    """n1 holds 8 cores of priority 0 and 8 of priority 9; a pod of priority 5 that may preempt wants 12."""
    world.nodes(make_node("n1"))
    high = make_pod("high").cpu("8").priority(9).on("n1")
    low = make_pod("low").cpu("8").on("n1")
    world.assigned(high, low)
    waiting = pod().cpu("12").priority(5).spec(preemptionPolicy=policy)
    rejected(world, waiting, "NodeResourcesFit")
    return lambda: world.assigned_goes(high if gone else low)


def test_row_fit_room_that_preemption_could_make_wakes_who_may_preempt(world: World) -> None:
    preempting(world, policy="PreemptLowerPriority", gone=1)()
    assert world.queued() == {"active": 1}


def test_row_fit_nobody_else_and_not_for_what_it_could_have_preempted(world: World) -> None:
    preempting(world, policy="Never", gone=1)()
    assert world.queued() == {"unschedulable": 1}
    second = World()
    preempting(second, policy="PreemptLowerPriority", gone=0)()
    assert second.queued() == {"unschedulable": 1}


def test_row_a_forgotten_assumption_counts_as_a_deletion(world: World) -> None:
    world.nodes(make_node("n1"))
    first = make_pod("first").cpu("16")
    assert world.decide(first).node == "n1"
    rejected(world, pod().cpu("1"), "NodeResourcesFit")
    wakes(world, forgotten(first))


# -- SchedulingGates --------------------------------------------------------------------------------------------


def test_row_scheduling_gates_wakes_when_the_last_gate_is_removed(world: World) -> None:
    world.nodes(make_node("n1"))
    world.pending(pod().gated("a", "b"))
    assert world.queued() == {"gated": 1}
    for step in (itself(pod().gated("b")), node_is(make_node("n2")), itself(pod().gated("b").labels(x="y"))):
        step(world)
        assert world.queued() == {"gated": 1}
    wakes(world, itself(pod()))


# -- nobody's row -----------------------------------------------------------------------------------------------


def test_heartbeats_wake_nobody(world: World) -> None:
    fit(world)
    beat = {"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-01-01T00:00:10Z"}
    node = make_node("n1").metadata(resourceVersion="99")
    node._node["status"]["conditions"] = [beat]
    does_not_wake(world, node_is(node))


def test_the_very_first_node_wakes_everybody(world: World) -> None:
    rejected(world, pod(), "AnyNode")
    wakes(world, node_is(make_node("n1")))


def test_a_pod_that_is_bound_wakes_those_that_wait_for_such_a_pod(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own watch only confirms what was assumed."""
    told: list[Change] = []
    wake = world.scheduler._queue.wake

    def listening(change: Change, *, now_s: float) -> None:
        told.append(change)
        wake(change, now_s=now_s)

    monkeypatch.setattr(world.scheduler._queue, "wake", listening)
    world.nodes(make_node("n1"))
    assert world.places(make_pod("first")) == "n1"
    world.assigned(make_pod("first").on("n1"))
    assert [change.kind for change in told] == [ChangeKind.NODE_ADDED, ChangeKind.POD_ADDED]
    assert told[-1].after.uid == uid(make_pod("first"))


def test_of_many_replicas_as_many_are_tried_as_find_room_and_one_more(world: World) -> None:
    world.nodes(make_node("n1").offers(cpu="0"))
    world.pending(*(make_pod(f"web-{i}").cpu("1") for i in range(100)))
    for _ in range(100):
        assert world.next() is not None
    world.passes(20)
    world.nodes(make_node("n1").offers(cpu="3"))
    tried = list(iter(world.next, None))
    assert [decision.node for decision in tried if decision] == ["n1", "n1", "n1", ""]
    assert world.queued() == {"unschedulable": 97}
