from __future__ import annotations

import pytest

from plimsoll.cluster.changes import ChangeKind
from tests.builders import make_node, make_pod
from tests.rules.asking import cluster
from tests.scheduling.conftest import World
from tests.scheduling.line import Line


@pytest.fixture
def full() -> World:
    """A node without a free core, and a pod that was refused one."""
    world = cluster(make_node("n1").offers(cpu="1"), pods=[make_pod("there").cpu("1").on("n1")])
    world.pending(make_pod("web").cpu("1"))
    assert world.next() is not None
    return world


def test_higher_priority_goes_first_then_who_came_first() -> None:
    world = cluster(make_node("n1"))
    for name, priority in (("first", 0), ("second", 0), ("high", 5)):
        world.pending(make_pod(name).priority(priority))
        world.passes(1)
    decisions = [world.next() for _ in range(3)]
    assert [d.pod.name for d in decisions if d] == ["high", "first", "second"]


def test_an_error_is_tried_again_after_1_2_4_8_and_then_every_10_seconds() -> None:
    world = cluster(make_node("n1"))
    world.pending(make_pod("web"))
    waits = []
    for _ in range(6):
        decision = world.next()
        assert decision is not None
        world.bind_failed(make_pod("web"), retry=True)
        assert world.next() is None
        due_s = world.scheduler.wake_at_s()
        assert due_s is not None
        waits.append(due_s - world.now_s)
        world.now_s = due_s
    assert waits == [1, 2, 4, 8, 10, 10]


def test_a_refused_pod_waits_out_its_backoff_while_another_is_due(full: World) -> None:
    full.assigned_goes(make_pod("there"))
    assert full.queued() == {"backoff": 1}
    full.pending(make_pod("other").priority(-1))
    decision = full.next()
    assert decision is not None
    assert decision.pod.name == "other"


def test_a_refused_pod_is_not_tried_while_nothing_changes(full: World) -> None:
    full.passes(200)
    assert full.next() is None


def test_a_pod_that_goes_wakes_who_waits_for_its_room(full: World) -> None:
    full.passes(10)
    full.assigned_goes(make_pod("there"))
    decision = full.next()
    assert decision is not None
    assert (decision.pod.name, decision.node) == ("web", "n1")


def test_a_node_that_grows_wakes_who_waits_for_room(full: World) -> None:
    full.passes(10)
    full.nodes(make_node("n1").offers(cpu="2"))
    assert full.queued() == {"active": 1}


def test_what_happens_during_an_attempt_is_not_lost() -> None:
    line = Line()
    line.put(make_pod("web"))
    tried = line.pop()
    assert tried is not None
    line.happens(ChangeKind.POD_DELETED)
    line.comes_back(tried, "NodeResourcesFit")
    assert line.places() == {"backoff": 1}


def test_a_binding_that_fails_wakes_who_waits_for_its_room() -> None:
    world = cluster(make_node("n1").offers(cpu="1"))
    web, other = make_pod("web").cpu("1"), make_pod("other").cpu("1")
    world.decide(web)
    assert world.decide(other).node == ""
    world.bind_failed(web, retry=False)
    world.passes(10)
    decision = world.next()
    assert decision is not None
    assert (decision.pod.name, decision.node) == ("other", "n1")


def test_what_has_waited_for_five_minutes_is_tried_again(full: World) -> None:
    full.passes(299)
    assert full.next() is None
    full.passes(32)
    decision = full.next()
    assert decision is not None
    assert decision.pod.name == "web"
