from __future__ import annotations

import pytest

from plimsoll.load.readings import ReadingState
from plimsoll.reporting.noise import HEARTBEAT_S, worth_writing
from plimsoll.reporting.status import policy_status
from plimsoll.scheduling.observing import Observed
from plimsoll.scheduling.regret import Regret

WORST = Regret("p", "default/web", "n2", 40.0, "n1", 75.5, feasible=3, refused=False)


@pytest.fixture
def show(overview, readings, now_s):
    """``show(nodes, after_s=..., **changes)``: the status, refreshed ``after_s`` later."""

    def shown(*nodes, after_s=0.0, previous=None, failures=None, **changes):
        taken = readings(taken_at_s=now_s + after_s, failures=failures)
        return policy_status(overview(*nodes, readings=taken, **changes), previous=previous, now_s=now_s + after_s)

    return shown


def test_the_first_status_is_written(show, node, now_s):
    assert worth_writing(None, show(node("a")), now_s)
    assert worth_writing({}, show(node("a")), now_s)


@pytest.mark.parametrize(
    ("before", "after", "want"),
    [
        pytest.param({"score": 50}, {"score": 51}, False, id="a score trembles"),
        pytest.param({"score": 50}, {"score": 52}, True, id="a score moves"),
        pytest.param({"memory": 50}, {"memory": 49}, False, id="a metric trembles"),
        pytest.param({"memory": 50}, {"memory": 48}, True, id="a metric moves"),
        pytest.param({"memory": 50}, {"memory": None}, True, id="a metric is lost"),
        pytest.param({"memory": None}, {"memory": 0}, True, id="a metric is found"),
        pytest.param({}, {"state": ReadingState.STALE}, True, id="a node grows stale"),
        pytest.param({"score": None}, {"score": 50}, True, id="metrics count again"),
    ],
)
def test_of_a_node(*, show, node, now_s, before, after, want):
    first, then = show(node("a", **before)), show(node("a", **after), after_s=30)
    assert worth_writing(first, then, now_s + 30) is want


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"bound": 1}, id="a pod was bound"),
        pytest.param({"pending": 1}, id="a pod waits"),
        pytest.param({"generation": 5}, id="a new generation is in force"),
        pytest.param({"failures": {"memory": "no series"}}, id="a query failed"),
        pytest.param({"load_set_aside": "too few nodes"}, id="metrics were set aside"),
        pytest.param({"not_yet_enforced": ("spec.somethingNew",)}, id="a field is not enforced"),
        pytest.param({"observed": Observed(1, 0.0, WORST)}, id="another scheduler placed a pod"),
    ],
)
def test_of_the_policy(show, node, now_s, changes):
    first = show(node("a"))
    assert worth_writing(first, show(node("a"), after_s=30, previous=first, **changes), now_s + 30)


@pytest.mark.parametrize(("mean", "told"), [(10.0, False), (11.0, False), (12.0, True)])
def test_of_the_regret(*, show, node, now_s, mean, told):
    first = show(node("a"), observed=Observed(1000, 10.0, WORST))
    then = show(node("a"), observed=Observed(1000, mean, WORST), after_s=30)
    assert worth_writing(first, then, now_s + 30) is told


def test_nodes_that_come_and_go_are_told(show, node, now_s):
    one, two, other = show(node("a")), show(node("a"), node("b")), show(node("c"))
    for before, after in ((one, two), (two, one), (one, other)):
        assert worth_writing(before, after, now_s)


def test_two_equals_that_change_places_are_not_told(show, node, now_s):
    first = show(node("a", score=60.4), node("b", score=60.2))
    then = show(node("b", score=60.6), node("a", score=60.1), after_s=30)
    assert first["best"]["node"] != then["best"]["node"]
    assert not worth_writing(first, then, now_s + 30)


def test_a_node_that_trembles_over_the_edge_of_a_full_list_is_not_told(show, node, now_s):
    crowd = [node(f"n{i}", score=80) for i in range(99)]
    first = show(*crowd, node("in", score=40), node("out", score=39))
    then = show(*crowd, node("out", score=40), node("in", score=39), after_s=30)
    assert not worth_writing(first, then, now_s + 30)


def test_a_node_that_rises_into_a_full_list_is_told(show, node, now_s):
    crowd = [node(f"n{i}", score=80) for i in range(99)]
    first = show(*crowd, node("edge", score=40), node("x", score=30))
    then = show(node("x", score=95), *crowd, node("edge", score=40), after_s=30)
    assert worth_writing(first, then, now_s + 30)


def test_a_slow_drift_is_told_in_the_end(show, node, now_s):
    written = show(node("a", score=50))
    told = []
    for minute in range(1, 5):
        then = show(node("a", score=50 + 0.6 * minute), after_s=minute)
        told.append(worth_writing(written, then, now_s + minute))
    assert told == [False, False, True, True]


def test_a_quiet_policy_shows_that_it_is_alive_every_five_minutes(show, node, now_s):
    written = show(node("a"))
    taken_s = now_s
    for after_s, want in ((30, False), (HEARTBEAT_S - 1, False), (HEARTBEAT_S, True), (HEARTBEAT_S + 1, True)):
        then = show(node("a"), after_s=after_s)
        assert worth_writing(written, then, taken_s + after_s) is want


def test_an_unchanged_status_is_not_written_however_old_it_is(show, node, now_s):
    written = show(node("a"))
    assert not worth_writing(written, written, now_s + 10 * HEARTBEAT_S)


def test_which_unmapped_series_is_the_example_does_not_matter_but_their_number_does(show, node, now_s):
    first = show(node("a"))
    first["unmappedSeries"] = {"count": 2, "example": "x"}
    other = first | {"unmappedSeries": {"count": 2, "example": "y"}}
    more = first | {"unmappedSeries": {"count": 3, "example": "x"}}
    assert not worth_writing(first, other, now_s)
    assert worth_writing(first, more, now_s)
