from __future__ import annotations

from collections.abc import Iterable

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.pod import Uid
from plimsoll.filters.run import wakes_of
from plimsoll.scheduling.queue import Queue, QueuedPod
from tests.builders import NOW_S, PodBuilder, make_pod

FIT, TAINTS, UNSUPPORTED = "NodeResourcesFit", "TaintToleration", "UnsupportedFields"


class Line:
    """A Queue with a clock."""

    def __init__(self) -> None:
        self.queue = Queue()
        self.now_s = NOW_S

    def put(self, *pods: PodBuilder) -> None:
        for pod in pods:
            self.queue.put(pod.info(), now_s=self.now_s)

    def pop(self) -> QueuedPod | None:
        return self.queue.pop(now_s=self.now_s)

    def names(self) -> list[str]:
        """All that are due, in order."""
        return [queued.pod.name for queued in iter(self.pop, None)]

    def fails(self, *rejected_by: str) -> QueuedPod:
        """The next is tried and fails."""
        queued = self.pop()
        assert queued is not None
        self.queue.failed(queued, rejected_by=frozenset(rejected_by), now_s=self.now_s)
        return queued

    def happens(self, kind: ChangeKind, policy: str = "") -> None:
        self.queue.wake(Change(kind, policy=policy), now_s=self.now_s)

    def places(self) -> dict[str, int]:
        return {place: count for place, count in self.queue.counts().items() if count}


@pytest.fixture
def line() -> Line:
    return Line()


# -- order ------------------------------------------------------------------------------------------------


def test_higher_priorities_come_first_and_then_those_that_came_first(line: Line) -> None:
    line.put(make_pod("a"), make_pod("b").priority(5), make_pod("c"))
    line.now_s += 1
    line.put(make_pod("d").priority(5), make_pod("e").priority(-1), make_pod("f").priority(9))
    assert line.names() == ["f", "b", "d", "a", "c", "e"]


def test_a_pod_that_failed_keeps_its_place_in_line(line: Line) -> None:
    line.put(make_pod("first"))
    line.fails()
    line.now_s += 0.5
    line.put(make_pod("second"))
    line.now_s += 0.6
    assert line.names() == ["first", "second"]


def test_a_changed_priority_is_in_force_at_once(line: Line) -> None:
    line.put(make_pod("a"), make_pod("b"), make_pod("b").priority(1))
    assert line.names() == ["b", "a"]


def test_an_empty_queue_has_nothing(line: Line) -> None:
    assert line.pop() is None
    assert line.queue.due_at_s() is None
    assert line.places() == {}


# -- backoff ----------------------------------------------------------------------------------------------


def test_backoff_doubles_from_one_second_to_ten_and_stays_there(line: Line) -> None:
    line.put(make_pod("a"))
    waits = []
    for _ in range(20):
        line.fails()
        due_s = line.queue.due_at_s()
        assert due_s is not None
        waits.append(due_s - line.now_s)
        line.now_s = due_s - 0.001
        assert line.pop() is None
        line.now_s = due_s
    assert waits[:6] == [1, 2, 4, 8, 10, 10]
    assert set(waits[4:]) == {10}


def test_backoff_does_not_overflow_for_a_pod_that_fails_for_years(line: Line) -> None:
    line.put(make_pod("a"))
    queued = line.fails()
    queued.attempts = 10**9
    assert queued.backoff_until_s == line.now_s + 10


def test_an_error_waits_for_its_backoff_alone(line: Line) -> None:
    line.put(make_pod("a"))
    line.fails()
    assert line.places() == {"backoff": 1}
    line.happens(~ChangeKind(0))
    assert line.places() == {"backoff": 1}
    line.now_s += 1
    assert line.names() == ["a"]


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


def test_a_woken_pod_still_waits_out_its_backoff(line: Line) -> None:
    line.put(make_pod("a"))
    line.fails(FIT)
    line.happens(ChangeKind.POD_DELETED)
    assert line.places() == {"backoff": 1}
    assert line.names() == []
    assert line.queue.due_at_s() == line.now_s + 1
    line.now_s += 1
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
    line.queue.remove(make_pod("a").info().uid)
    assert line.queue.rejected() == {FIT: 1, TAINTS: 1}


# -- changes of the pod itself ------------------------------------------------------------------------------


def test_our_own_status_wakes_nobody(line: Line) -> None:
    line.put(make_pod("a"))
    line.fails(FIT)
    line.now_s += 20
    told = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes are available"}
    line.put(make_pod("a").metadata(resourceVersion="77").status(conditions=[told], nominatedNodeName="n1"))
    assert line.places() == {"unschedulable": 1}


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(make_pod("a").tolerate(key="x", operator="Exists"), id="a toleration"),
        pytest.param(make_pod("a").cpu("1m"), id="a smaller request"),
        pytest.param(make_pod("a").labels(tier="b"), id="a label, by which policies select"),
        pytest.param(make_pod("a").annotate("plimsoll.dev/policy", "p"), id="the policy it names"),
    ],
)
def test_a_change_of_the_pod_itself_is_tried(line: Line, changed: PodBuilder) -> None:
    line.put(make_pod("a"))
    line.fails(FIT)
    line.now_s += 20
    line.put(changed)
    queued = line.pop()
    assert queued is not None
    assert queued.pod == changed.info()


def test_a_changed_pod_waits_out_its_backoff(line: Line) -> None:
    line.put(make_pod("a"))
    line.fails()
    line.put(make_pod("a").labels(tier="b"))
    assert line.places() == {"backoff": 1}
    line.now_s += 1
    queued = line.pop()
    assert queued is not None
    assert queued.pod.labels == {"tier": "b"}


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
    line.queue.remove(make_pod("a").info().uid)
    assert make_pod("a").info().uid not in line.queue
    line.now_s += 3600
    line.happens(~ChangeKind(0))
    assert line.names() == []
    assert line.places() == {}


def test_a_pod_that_goes_and_comes_back_starts_anew(line: Line) -> None:
    line.put(make_pod("a"))
    line.fails()
    line.queue.remove(make_pod("a").info().uid)
    line.put(make_pod("a"))
    assert line.names() == ["a"]


def test_removing_what_is_not_there_is_nothing(line: Line) -> None:
    line.queue.remove(Uid("nobody"))
    assert len(line.queue) == 0


def test_pods_that_come_and_go_while_nobody_decides_leave_nothing(line: Line) -> None:
    """As on a standby."""
    line.put(make_pod("stays"))
    for i in range(5000):
        pod = make_pod(f"p{i}").info()
        line.queue.put(pod, now_s=line.now_s)
        line.queue.remove(pod.uid)
    for i in range(5000):
        line.put(make_pod("stays").labels(turn=str(i)))
    assert len(line.queue._active) < 2500
    assert line.names() == ["stays"]


def test_who_failed_and_goes_leaves_nothing_either(line: Line) -> None:
    for i in range(3000):
        line.put(make_pod(f"p{i}"))
        line.fails()
        line.queue.remove(make_pod(f"p{i}").info().uid)
    assert len(line.queue._backoff) < 1500


# -- whatever happens, no pod is lost or tried twice ----------------------------------------------------------

pods = st.sampled_from(["a", "b", "c", "d"])
steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), pods, st.booleans()),
        st.tuples(st.just("remove"), pods),
        st.tuples(st.just("fail"), st.sampled_from([(), (FIT,), (TAINTS,), (FIT, TAINTS), (UNSUPPORTED,)])),
        st.tuples(st.just("bind")),
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
                line.queue.remove(make_pod(name).info().uid)
                known.discard(name)
            case ("fail", tuple(plugins)) if (queued := line.pop()) is not None:
                line.queue.failed(queued, rejected_by=frozenset(plugins), now_s=line.now_s)
            case ("bind",) if (queued := line.pop()) is not None:
                known.discard(queued.pod.name)
            case ("wake", ChangeKind() as kind):
                line.happens(kind)
            case ("pass", float(seconds)):
                line.now_s += seconds
        assert {queued.pod.name for queued in line.queue} == known
        assert sum(line.queue.counts().values()) == len(known)
    for name in known:
        line.put(make_pod(name))
    line.now_s += 10 * 365 * 86400
    assert sorted(line.names()) == sorted(known)
    assert line.places() == {}
