from __future__ import annotations

import numpy as np
import pytest

from plimsoll.cluster.times import timestamp
from plimsoll.load.align import Scene
from plimsoll.load.confidence import confidence
from plimsoll.load.coverage import fresh_enough, too_few
from plimsoll.load.history import WorkloadHistory
from plimsoll.load.readings import ReadingState
from plimsoll.load.stays import stays_on
from tests.builders import NOW_S, make_cache, make_node, make_policy, make_readings

OK, STALE, MISSING = ReadingState.OK, ReadingState.STALE, ReadingState.MISSING
# Two refreshes of 30 s and a window of 300 s.
GROWN_S = 360.0


def judged(states: list[ReadingState], *, ages_s: list[float] | None = None, selected: list[bool] | None = None) -> str:
    ages_s = ages_s or [86400.0] * len(states)
    nodes = [make_node(f"n{i}").metadata(creationTimestamp=timestamp(NOW_S - age_s)) for i, age_s in enumerate(ages_s)]
    rows = np.array(selected or [True] * len(states), dtype=np.bool_)
    policy, view = make_policy(weights={"cpu": 1}), make_cache(nodes).view
    scene = Scene.of(policy, make_readings({}), view, stays_on(()), WorkloadHistory())
    return too_few(rows, scene.young(NOW_S), np.array(states) == OK)


@pytest.mark.parametrize(
    ("states", "want"),
    [
        pytest.param([OK, OK], "", id="all are measured"),
        pytest.param([OK, MISSING], "", id="half is enough"),
        pytest.param([OK, OK, MISSING, MISSING, STALE], "only 2 of 5 nodes have fresh metrics", id="under half"),
        pytest.param([STALE, STALE], "only 0 of 2 nodes have fresh metrics", id="stale is not fresh"),
        pytest.param([], "", id="no node to be judged"),
    ],
)
def test_metrics_count_where_enough_nodes_are_measured(states: list[ReadingState], want: str) -> None:
    assert judged(states) == want


def test_nodes_that_are_too_young_to_be_measured_are_left_out() -> None:
    assert judged([OK, MISSING, MISSING], ages_s=[86400, GROWN_S - 1, 10]) == ""
    assert judged([OK, MISSING, MISSING], ages_s=[86400, GROWN_S, GROWN_S]) == "only 1 of 3 nodes have fresh metrics"


def test_a_young_node_that_is_measured_counts() -> None:
    assert judged([OK, OK, MISSING, MISSING], ages_s=[10, 10, 86400, 86400]) == ""


def test_only_the_policys_nodes_are_judged() -> None:
    states = [OK, MISSING, MISSING]
    assert judged(states, selected=[True, False, False]) == ""
    assert judged(states, selected=[False, True, True]) == "only 0 of 2 nodes have fresh metrics"
    assert judged(states, selected=[False, False, False]) == ""


def test_a_sample_counts_until_it_is_believed_by_less_than_half() -> None:
    ages_s = np.array([0.0, 90.0, 240.0, 241.0, 601.0, np.nan])
    assert fresh_enough(confidence(ages_s, interval_s=30.0)).tolist() == [True, True, True, False, False, False]


def test_free_rows_are_no_nodes() -> None:
    cache = make_cache([make_node("n1"), make_node("n2"), make_node("n3")])
    cache.drop_node("n1")
    cache.drop_node("n2")
    known = np.array([False, False, True])
    assert too_few(cache.view.live, np.zeros(3, dtype=np.bool_), known) == ""
