from __future__ import annotations

from collections.abc import Iterable

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from plimsoll.cluster.changes import ChangeKind
from plimsoll.cluster.pod import Uid
from plimsoll.filters.order import wakes_of
from tests.builders import make_pod
from tests.scheduling.line import Line

FIT, TAINTS, UNSUPPORTED = "NodeResourcesFit", "TaintToleration", "UnsupportedFields"


@pytest.fixture
def line() -> Line:
    return Line()


# -- order ------------------------------------------------------------------------------------------------


def test_higher_priorities_come_first_and_then_those_that_came_first(line: Line) -> None:
    line.put(make_pod("a"), make_pod("b").priority(5), make_pod("c"))
    line.now_s += 1
    line.put(make_pod("d").priority(5), make_pod("e").priority(-1), make_pod("f").priority(9))
    assert line.names() == ["f", "b", "d", "a", "c", "e"]


def test_a_pod_that_failed_goes_behind_those_that_came_before_its_failure(line: Line) -> None:
    line.put(make_pod("first"))
    queued = line.pop()
    assert queued is not None
    line.now_s += 1
    line.put(make_pod("second"))
    line.now_s += 1
    line.comes_back(queued)
    line.now_s += 1.5
    line.put(make_pod("third"))
    assert line.names() == ["second", "first", "third"]


def test_a_changed_priority_is_in_force_at_once(line: Line) -> None:
    line.put(make_pod("a"), make_pod("b"), make_pod("b").priority(1))
    assert line.names() == ["b", "a"]


def test_an_empty_queue_has_nothing(line: Line) -> None:
    assert line.pop() is None
    assert line.queue.due_at_s() is None
    assert line.places() == {}


# -- waiting for a change -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", list(ChangeKind), ids=lambda kind: kind.name)
@pytest.mark.parametrize("plugin", [FIT, TAINTS, "NodePorts", "SchedulingPolicyLimits", "AnyNode", UNSUPPORTED])
def test_only_a_change_that_can_help_wakes_a_pod(line: Line, plugin: str, kind: ChangeKind) -> None:
    line.put(make_pod("a"))
    line.fails(plugin)
    assert line.places() == {"unschedulable": 1}
    line.now_s += 20
    line.happens(kind)
    helps = bool(kind & wakes_of([plugin]))
    assert line.places() == ({"active": 1} if helps else {"unschedulable": 1})
    assert line.names() == (["a"] if helps else [])


def test_a_pod_that_several_rejected_wakes_for_each_of_them(line: Line) -> None:
    for kind in (ChangeKind.NODE_TAINTS, ChangeKind.POD_DELETED):
        line.put(make_pod("a"))
        line.fails(FIT, TAINTS)
        line.now_s += 20
        line.happens(kind)
        assert line.names() == ["a"]


def test_readings_of_a_policy_wake_only_pods_that_it_tried(line: Line) -> None:
    line.put(make_pod("a"), make_pod("b"))
    line.fails("SchedulingPolicyLimits").policy = "one"
    line.fails("SchedulingPolicyLimits").policy = "two"
    line.now_s += 20
    line.happens(ChangeKind.READINGS_CHANGED, policy="two")
    assert line.names() == ["b"]
    line.happens(ChangeKind.POLICY_CHANGED)
    assert line.names() == ["a"]


def test_what_waits_too_long_is_tried_again_all_the_same(line: Line) -> None:
    line.put(make_pod("a"))
    line.fails(UNSUPPORTED)
    line.now_s += 299
    assert line.names() == []
    line.now_s += 31
    assert line.names() == ["a"]


def test_a_shell_that_sleeps_until_it_is_told_misses_nothing(line: Line) -> None:
    line.put(make_pod("a"))
    line.fails(UNSUPPORTED)
    tried_s, naps = line.now_s, 0
    while line.pop() is None:
        due_s = line.queue.due_at_s()
        assert due_s is not None
        line.now_s = max(due_s, line.now_s)
        naps += 1
        assert naps < 20
    assert 300 <= line.now_s - tried_s <= 330


def test_waiting_pods_are_counted_by_what_rejected_them(line: Line) -> None:
    line.put(make_pod("a"), make_pod("b"), make_pod("c"), make_pod("d"))
    for rejected_by in ([FIT], [FIT, TAINTS], []):
        line.fails(*rejected_by)
    assert line.queue.rejected() == {FIT: 2, TAINTS: 1}
    line.queue.remove(make_pod("a").info().uid, now_s=line.now_s)
    assert line.queue.rejected() == {FIT: 1, TAINTS: 1}


# -- gates --------------------------------------------------------------------------------------------------


def test_a_gated_pod_is_not_tried_until_its_last_gate_is_gone(line: Line) -> None:
    line.put(make_pod("a").gated("x", "y"))
    assert line.places() == {"gated": 1}
    line.happens(~ChangeKind(0))
    line.now_s += 3600
    assert line.names() == []
    line.put(make_pod("a").gated("y"))
    assert line.names() == []
    line.put(make_pod("a"))
    assert line.names() == ["a"]


def test_gated_pods_have_nothing_due(line: Line) -> None:
    line.put(make_pod("a").gated("x"))
    assert line.queue.due_at_s() is None


# -- pods that go -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rejected_by", [[], [FIT]], ids=["in backoff", "unschedulable"])
def test_a_pod_that_goes_is_not_tried_again(line: Line, rejected_by: list[str]) -> None:
    line.put(make_pod("a"))
    line.fails(*rejected_by)
    line.queue.remove(make_pod("a").info().uid, now_s=line.now_s)
    assert make_pod("a").info().uid not in line.queue
    line.now_s += 3600
    line.happens(~ChangeKind(0))
    assert line.names() == []
    assert line.places() == {}


def test_a_pod_that_goes_and_comes_back_starts_anew(line: Line) -> None:
    line.put(make_pod("a"))
    line.fails()
    line.queue.remove(make_pod("a").info().uid, now_s=line.now_s)
    line.put(make_pod("a"))
    assert line.names() == ["a"]


def test_removing_what_is_not_there_is_nothing(line: Line) -> None:
    line.queue.remove(Uid("nobody"), now_s=line.now_s)
    assert len(line.queue) == 0


def test_pods_that_come_and_go_while_nobody_decides_leave_nothing(line: Line) -> None:
    """As on a standby."""
    line.put(make_pod("stays"))
    for i in range(5000):
        pod = make_pod(f"p{i}").info()
        line.queue.put(pod, now_s=line.now_s)
        line.queue.remove(pod.uid, now_s=line.now_s)
    for i in range(5000):
        line.put(make_pod("stays").labels(turn=str(i)))
    assert len(line.queue._places._active._entries) < 2500
    assert line.names() == ["stays"]


def test_who_failed_and_goes_leaves_nothing_either(line: Line) -> None:
    for i in range(3000):
        line.put(make_pod(f"p{i}"))
        line.fails()
        line.queue.remove(make_pod(f"p{i}").info().uid, now_s=line.now_s)
    assert len(line.queue._places._whole_backoff._entries) < 1500


# -- whatever happens, no pod is lost or tried twice ----------------------------------------------------------

pods = st.sampled_from(["a", "b", "c", "d"])
steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), pods, st.booleans()),
        st.tuples(st.just("remove"), pods),
        st.tuples(st.just("fail"), st.sampled_from([(), (FIT,), (TAINTS,), (FIT, TAINTS), (UNSUPPORTED,)])),
        st.tuples(st.just("bind")),
        st.tuples(st.just("hold"), pods),
        st.tuples(st.just("release"), pods, st.booleans()),
        st.tuples(st.just("wake"), st.sampled_from(list(ChangeKind))),
        st.tuples(st.just("pass"), st.sampled_from([0.5, 5.0, 60.0])),
    ),
    max_size=60,
)


@settings(max_examples=100, deadline=None)
@given(steps)
def test_every_pod_is_in_one_place_and_in_the_end_is_tried_once(history: Iterable[tuple[object, ...]]) -> None:
    line, known = Line(), set[str]()
    for turn, step in enumerate(history):
        match step:
            case ("put", str(name), bool(gated)):
                pod = make_pod(name).labels(turn=str(turn))
                line.put(pod.gated("x") if gated else pod)
                known.add(name)
            case ("remove", str(name)):
                line.queue.remove(make_pod(name).info().uid, now_s=line.now_s)
                known.discard(name)
            case ("fail", tuple(plugins)) if (queued := line.pop()) is not None:
                line.comes_back(queued, *plugins)
            case ("bind",) if (queued := line.pop()) is not None:
                line.queue.done(queued.pod.uid)
                known.discard(queued.pod.name)
            case ("hold", str(name)):
                line.queue.hold(make_pod(name).info().uid, now_s=line.now_s)
            case ("release", str(name), bool(retry)):
                line.queue.release(make_pod(name).info().uid, retry=retry, now_s=line.now_s)
            case ("wake", ChangeKind() as kind):
                line.happens(kind)
            case ("pass", float(seconds)):
                line.now_s += seconds
        assert {queued.pod.name for queued in line.queue} == known
        assert sum(line.queue.counts().values()) == len(known)
        assert line.queue.in_flight == 0
    for name in known:
        line.put(make_pod(name))
        line.queue.release(make_pod(name).info().uid, retry=False, now_s=line.now_s)
    line.now_s += 10 * 365 * 86400
    assert sorted(line.names()) == sorted(known)
    assert line.places() == {}
