from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from plimsoll.cluster.cache import Cache
from plimsoll.cluster.pod import PodInfo
from plimsoll.load.exact import scale_of
from plimsoll.load.expected import Expectations, Usual
from plimsoll.load.history import Past, Pasts
from plimsoll.load.residents import MetricResidents, Residents
from tests.builders import make_cache, make_node, make_pod

NODES = ("n1", "n2", "n3")
NAMES = ("web", "db", "new")
# Of "new" nothing is known; long enough watched to be believed by 0.9.
PASTS = {"web": Past(0.5, 0.1, 27.0), "db": Past(2.0, 1 / 3, 27.0)}
SCALE = scale_of(np.array([16.0, np.nan]))


def pod(workload: str, node: str, i: int = 0, *, cpu: str = "1") -> PodInfo:
    return make_pod(f"{workload}-{i}").owner("Job", workload).cpu(cpu).on(node).info()


def residents(cache: Cache) -> MetricResidents:
    pasts = Pasts.of({pod(name, "n1").workload: past for name, past in PASTS.items()})
    expected = [Expectations("memory", Usual(), pasts), Expectations("cpu", Usual(ratio=0.8), pasts)]
    return Residents(cache.view.workloads, cache.view.size, expected, [2.0**34, SCALE]).of(1)


@pytest.fixture
def cache() -> Cache:
    cache = make_cache(map(make_node, NODES))
    for i, node in enumerate(("n1", "n1", "n2")):
        cache.put_pod(pod("web", node, i))
    cache.put_pod(pod("db", "n1"))
    cache.put_pod(pod("new", "n3"))
    return cache


def test_habit_is_history_blended_with_what_was_believed_before(cache: Cache) -> None:
    web, db, new = 0.9 * 0.5 + 0.1 * 0.8, 0.9 * 2.0 + 0.1 * 0.8, 0.8
    assert residents(cache).habit.tolist() == pytest.approx([2 * web + db, web, new])


def test_what_is_known_is_history_alone_by_how_long_it_was_watched(cache: Cache) -> None:
    web, db = 0.9 * 0.5, 0.9 * 2.0
    assert residents(cache).known.tolist() == pytest.approx([2 * web + db, web, 0.0])


def test_a_terminating_pod_is_no_resident(cache: Cache) -> None:
    found = residents(cache)
    before = found.habit[0]
    cache.put_pod(make_pod("db-0").owner("Job", "db").cpu("1").on("n1").metadata(deletionTimestamp="x").info())
    assert found.habit[0] == pytest.approx(before - 1.88)


def test_after_many_changes_it_is_still_what_there_is(cache: Cache) -> None:
    found = residents(cache)
    before = found.habit.tolist(), found.known.tolist()
    for i in range(3000):
        cache.put_pod(pod("web", "n2", 10 + i))
    assert found.habit[1] > before[0][1]
    for i in range(3000):
        cache.drop_pod(pod("web", "n2", 10 + i).uid)
    assert (found.habit.tolist(), found.known.tolist()) == before


Step = tuple[str, str, int]
STEPS = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NODES), st.integers(0, 3)), max_size=30)


def play(cache: Cache, steps: list[Step]) -> None:
    """A pod that is there goes, one that is not comes."""
    for workload, node, i in steps:
        step = pod(workload, node, 100 + 4 * NODES.index(node) + i)
        if step.uid in cache:
            cache.drop_pod(step.uid)
        else:
            cache.put_pod(step)


@settings(max_examples=60, deadline=None)
@given(STEPS, STEPS)
def test_pods_that_come_and_go_change_it_exactly_as_looking_anew_would(before: list[Step], after: list[Step]) -> None:
    cache = make_cache(map(make_node, NODES))
    play(cache, before)
    kept = residents(cache)
    assert len(kept.habit) == len(NODES)
    for step in after:
        play(cache, [step])
        anew = residents(cache)
        assert kept.habit.tolist() == anew.habit.tolist()
        assert kept.known.tolist() == anew.known.tolist()


def test_nodes_that_come_later_are_none_of_its_rows(cache: Cache) -> None:
    found = residents(cache)
    before = found.habit.tolist()
    cache.put_node(make_node("n4").info())
    cache.put_pod(pod("web", "n4", 50))
    assert found.habit.tolist() == before
