from __future__ import annotations

import pytest

from plimsoll.scheduling.decision import Skip
from tests.builders import PodBuilder, make_node, make_pod
from tests.rules.asking import cluster


def test_a_gated_pod_is_not_tried_until_its_gates_are_gone() -> None:
    world = cluster(make_node("n1"))
    world.pending(make_pod("web").gated("wait"))
    assert world.next() is None
    assert world.queued() == {"gated": 1}
    world.pending(make_pod("web"))
    decision = world.next()
    assert decision is not None
    assert decision.node == "n1"


def test_a_pod_that_is_being_deleted_is_skipped_once() -> None:
    world = cluster(make_node("n1"))
    world.pending(make_pod("web"))
    world.pending(make_pod("web").deleting())
    command = world.scheduler.next_command(now_s=world.now_s)
    assert isinstance(command, Skip)
    assert world.queued() == {}


@pytest.mark.parametrize(
    "pod",
    [
        pytest.param(make_pod("web").phase("Succeeded"), id="has succeeded"),
        pytest.param(make_pod("web").phase("Failed"), id="has failed"),
        pytest.param(make_pod("web").spec(nodeName="n1"), id="has a node"),
        pytest.param(make_pod("web").spec(schedulerName="other"), id="is another scheduler's"),
    ],
)
def test_a_pod_is_left_alone_that(pod: PodBuilder) -> None:
    world = cluster(make_node("n1"))
    world.pending(pod)
    assert world.queued() == {}


def test_a_pod_that_is_assumed_is_not_tried_again() -> None:
    world = cluster(make_node("n1"))
    assert world.decide(make_pod("web")).node == "n1"
    world.pending(make_pod("web").labels(changed="yes"))
    assert world.next() is None
