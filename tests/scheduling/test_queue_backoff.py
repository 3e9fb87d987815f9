from __future__ import annotations

import pytest

from plimsoll.cluster.changes import ChangeKind
from tests.builders import NOW_S, make_pod
from tests.scheduling.line import Line

FIT = "NodeResourcesFit"


@pytest.fixture
def line() -> Line:
    return Line()


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
    queued.errors = 10**9
    assert queued.backoff_until_s == line.now_s + 10


def test_an_error_waits_for_its_backoff_whatever_happens_and_whoever_is_idle(line: Line) -> None:
    line.put(make_pod("a"))
    line.fails()
    assert line.places() == {"backoff": 1}
    line.happens(~ChangeKind(0))
    assert line.places() == {"backoff": 1}
    assert line.pop() is None
    line.now_s += 1
    assert line.names() == ["a"]


def test_a_woken_pod_waits_out_its_backoff_while_others_are_due(line: Line) -> None:
    line.put(make_pod("a"))
    line.fails(FIT)
    line.happens(ChangeKind.POD_DELETED)
    line.put(make_pod("b").priority(-1))
    assert line.places() == {"backoff": 1, "active": 1}
    assert line.pop().pod.name == "b"  # type: ignore[union-attr]


def test_a_woken_pod_need_not_wait_when_nobody_else_is_due(line: Line) -> None:
    line.put(make_pod("a"))
    line.fails(FIT)
    assert line.pop() is None
    line.happens(ChangeKind.POD_DELETED)
    assert line.places() == {"backoff": 1}
    assert line.queue.due_at_s() == 0.0
    assert line.names() == ["a"]
    assert line.queue.take_incoming()["active", "PopFromBackoffQ"] == 1


def test_backoffs_that_end_in_the_same_second_end_together_and_by_priority(line: Line) -> None:
    line.now_s = NOW_S + 0.1
    line.put(make_pod("low"))
    line.fails(FIT)
    line.now_s = NOW_S + 0.6
    line.put(make_pod("high").priority(5))
    line.fails(FIT)
    line.happens(ChangeKind.POD_DELETED)
    assert line.names() == ["high", "low"]


def test_rejections_and_errors_are_counted_apart(line: Line) -> None:
    def waits_s(*rejected_by: str) -> float:
        line.now_s += 1000
        line.happens(~ChangeKind(0))
        queued = line.fails(*rejected_by)
        return queued.backoff_until_s - line.now_s

    line.put(make_pod("a"))
    seen = [waits_s(*rejected_by) for rejected_by in ([FIT], [FIT], [], [], [FIT], [])]
    # Two rejections, two errors of their own, the third rejection, and errors start anew.
    assert seen == [1, 2, 1, 2, 4, 1]


def test_a_woken_pod_is_active_within_one_backoff_period(line: Line) -> None:
    line.put(make_pod("a"))
    for _ in range(8):
        line.fails(FIT)
        line.happens(ChangeKind.POD_DELETED)
        woken_s = line.now_s
        line.put(make_pod("busy").priority(9))
        line.now_s = woken_s + 9.999
        assert line.pop().pod.name == "busy"  # type: ignore[union-attr]
        line.queue.done(make_pod("busy").info().uid)
        line.now_s = woken_s + 10
        line.put(make_pod("busy").priority(-9))
        assert line.queue.counts()["active"] + line.queue.counts()["backoff"] == 2
        queued = line.pop()
        assert queued is not None
        assert queued.pod.name == "a"
        line.comes_back(queued, FIT)
        line.happens(ChangeKind.POD_DELETED)
        line.queue.remove(make_pod("busy").info().uid, now_s=line.now_s)
