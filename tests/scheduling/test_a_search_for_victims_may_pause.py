"""A search over many pods lets others have their turn, and finds what it would have found in one go."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.cluster.cache import Cache
from plimsoll.filters.caches import FilterCaches
from plimsoll.filters.run import run_filters
from plimsoll.scheduling.decision import Bind, Preempt
from plimsoll.scheduling.preemption.candidates import Pauses, Search
from plimsoll.scheduling.preemption.post_filter import PostFilter, after_filters
from tests.builders import NodeBuilder, PodBuilder, make_node, make_pod
from tests.scheduling.conftest import World, uid
from tests.scheduling.preempting import cluster, filters_of

NODES, PODS_PER_NODE = 80, 110
NODE_NAMES = [f"n{i}" for i in range(NODES)]
HIGH = make_pod("high").cpu("3").priority(10)


def _filler(node: int, i: int) -> PodBuilder:
    """The fewest have to go, and the least important, on node 7."""
    pod = make_pod(f"low-{node}-{i}").cpu("2" if node == 7 and i < 2 else "100m").on(f"n{node}").started()
    return pod.priority(1 if node != 7 else 0)


@pytest.fixture(name="crowded", scope="module")
def _crowded() -> list[PodBuilder]:
    return [_filler(node, i) for node in range(NODES) for i in range(PODS_PER_NODE if node != 7 else 2)]


def _nodes() -> list[NodeBuilder]:
    return [make_node(name).offers(cpu="11" if name != "n7" else "4", pods="110") for name in NODE_NAMES]


def _after(cache: Cache, pauses: Pauses | None, rng: np.random.Generator) -> PostFilter:
    filters = filters_of(cache, HIGH)
    fit = run_filters(filters, FilterCaches())
    return after_filters(filters, fit.refusals, rng=rng, pauses=pauses)


def _in_steps(cache: Cache, pauses: Pauses, rng: np.random.Generator) -> tuple[PostFilter, int]:
    for steps in range(100):
        found = _after(cache, pauses, rng)
        if not found.unfinished:
            return found, steps
    raise AssertionError("it never ends")


@pytest.mark.parametrize("seed", [1, 2])
def test_it_finds_what_it_would_have_found_in_one_go(crowded: list[PodBuilder], seed: int) -> None:
    cache = cluster(_nodes(), crowded)
    whole = _after(cache, None, np.random.default_rng(seed))
    found, pauses = _in_steps(cache, Pauses(), np.random.default_rng(seed))
    assert pauses >= 1
    assert found == whole
    assert found.nominated_node == "n7"


def test_what_changed_since_is_looked_at_again(crowded: list[PodBuilder]) -> None:
    """The best node is gone by the time that the search is over."""
    cache = cluster(_nodes(), crowded)
    pauses, rng = Pauses(), np.random.default_rng(1)
    search = Search([cache.view.row_of["n7"], *range(NODES)], offset=0)
    pauses.put(uid(HIGH), search)
    assert _after(cache, pauses, rng).unfinished
    cache.drop_node("n7")
    found, _ = _in_steps(cache, pauses, rng)
    assert found.nominated_node not in {"", "n7", None}
    assert found.victims


def test_others_have_their_turn_and_the_pod_comes_back_to_its_search(crowded: list[PodBuilder]) -> None:
    world = World()
    world.nodes(*_nodes())
    world.assigned(*crowded)
    world.pending(HIGH)
    assert world.scheduler.next_command(now_s=world.now_s) is None
    assert world.scheduler.wake_at_s() == 0.0
    urgent = make_pod("urgent").priority(100)
    world.nodes(make_node("new").offers(cpu="1"))
    world.pending(urgent)
    first = world.scheduler.next_command(now_s=world.now_s)
    assert isinstance(first, Bind)
    assert first.pod.uid == uid(urgent)
    second = world.scheduler.next_command(now_s=world.now_s)
    assert isinstance(second, Preempt)
    assert second.decision.nominated_node == "n7"


def test_a_pod_that_goes_meanwhile_is_not_searched_for(crowded: list[PodBuilder]) -> None:
    world = World()
    world.nodes(*_nodes())
    world.assigned(*crowded)
    world.pending(HIGH)
    assert world.scheduler.next_command(now_s=world.now_s) is None
    world.pending_goes(HIGH)
    assert world.scheduler.next_command(now_s=world.now_s) is None
    assert world.queued() == {}
