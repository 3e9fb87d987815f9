"""kube-scheduler's skipPodSchedule: a pod is dropped when its turn comes, not before, and no attempt is made."""

from __future__ import annotations

import pytest

from plimsoll.reporting.fit import skipped_message
from plimsoll.scheduling.decision import Refuse, Skip
from tests.builders import PodBuilder, make_node, make_pod
from tests.scheduling.conftest import World


def web(cpu: str = "1") -> PodBuilder:
    return make_pod("web").cpu(cpu)


def skipped(world: World) -> str:
    """The pod that is skipped next."""
    command = world.scheduler.next_command(now_s=world.now_s)
    assert isinstance(command, Skip), command
    return command.pod.name


@pytest.fixture
def one(world: World) -> World:
    world.nodes(make_node("n1"))
    return world


def test_a_queued_pod_that_is_deleted_is_skipped_once_and_dropped(one: World) -> None:
    one.pending(web())
    one.pending(web().deleting())
    assert one.queued() == {"active": 1}
    assert skipped(one) == "web"
    assert one.next() is None
    assert one.queued() == {}


def test_the_sentence_is_kube_schedulers() -> None:
    assert skipped_message(web().info()) == "skip schedule deleting pod: default/web"


def test_it_is_dropped_in_its_turn(one: World) -> None:
    one.pending(web().deleting(), make_pod("high").priority(1))
    decision = one.next()
    assert decision is not None
    assert decision.pod.name == "high"
    assert skipped(one) == "web"


def test_a_gated_pod_has_no_turn(one: World) -> None:
    one.pending(web().gated("x").deleting())
    assert one.next() is None
    assert one.queued() == {"gated": 1}


def test_a_rejected_pod_is_skipped_when_something_wakes_it(one: World) -> None:
    assert one.decide(web("99")).node == ""
    one.pending(web("99").deleting())
    assert one.next() is None
    one.nodes(make_node("large").offers(cpu="128"))
    assert skipped(one) == "web"


def test_a_binding_that_fails_is_not_tried_again(one: World) -> None:
    one.decide(web())
    one.pending(web().deleting())
    one.bind_failed(web(), retry=True)
    one.passes(10)
    assert skipped(one) == "web"


def test_it_keeps_no_room_on_the_node_to_which_it_was_nominated(one: World) -> None:
    one.assigned(make_pod("low").cpu("16").on("n1"))
    high = web("16").priority(1)
    assert one.decide(high).nominated_node == "n1"
    assert one.decide(make_pod("other").cpu("16")).node == ""
    one.pending(high.deleting())
    one.assigned_goes(make_pod("low"))
    one.passes(10)
    assert one.nominated_to(high) == ""
    decision = one.next()
    assert decision is not None
    assert (decision.pod.name, decision.node) == ("other", "n1")


def test_pods_like_it_are_tried_in_its_place(one: World) -> None:
    """Of pods that are alike one is tried for all, but only if it is tried."""
    for name in ("first", "second"):
        assert one.decide(make_pod(name).cpu("99").labels(app="x")).node == ""
        one.passes(1)
    one.passes(20)
    one.pending(*(make_pod(name).cpu("99").labels(app="x").deleting() for name in ("first", "second")))
    one.nodes(make_node("large").offers(cpu="128"))
    assert {skipped(one), skipped(one)} == {"first", "second"}


def test_a_pod_whose_finalizers_are_gone_leaves_the_queue(one: World) -> None:
    one.pending(web().deleting())
    one.pending_goes(web())
    assert one.next() is None


def test_a_refusal_is_no_skip(one: World) -> None:
    one.pending(web("99"))
    assert isinstance(one.scheduler.next_command(now_s=one.now_s), Refuse)
