"""What is kept of rooms and dry runs never changes who is refused, who is nominated where, and who must go."""

from __future__ import annotations

from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings

from plimsoll.cluster.cache import Cache
from plimsoll.cluster.kinds import KINDS
from plimsoll.cluster.pod import PodInfo
from plimsoll.filters.caches import FilterCaches
from plimsoll.filters.interface import Overlay
from plimsoll.filters.prepared import PodFilters
from plimsoll.filters.run import Feasibility, run_filters, yields_to
from plimsoll.scheduling.preemption.kept import KeptRuns
from plimsoll.scheduling.preemption.post_filter import PostFilter, after_filters
from tests.builders import PodBuilder, make_cache
from tests.scheduling.preempting import budget, filters_of, node, pod

NODES = [f"n{i}" for i in range(4)]
# More changes than anybody keeps in mind.
FLOOD = 300
CALMS = 3

names = st.sampled_from(NODES)
numbers = st.integers(0, 5)
small = st.integers(0, 3)


def incoming(number: int) -> PodBuilder:
    """Some are alike but for their name, one looks at more than room."""
    made = pod(f"in-{number}", number % 3, 1 + number % 2)
    return made.port(80) if number == 5 else made


def there(number: int, priority: int, size: int, on: str, started_s: int) -> PodBuilder:
    return pod(f"there-{number}", priority - 1, size, on=on, started_s=started_s).labels(app="ab"[number % 2])


running = st.builds(there, st.integers(0, 9), small, small, names, small)
events = st.lists(
    st.one_of(
        st.tuples(st.just("runs"), running),
        st.tuples(st.just("runs"), running),
        st.tuples(st.just("ends"), st.integers(0, 9)),
        st.tuples(st.just("nominated"), numbers, st.sampled_from([*NODES, ""])),
        st.tuples(st.just("nominated"), numbers, st.sampled_from([*NODES, ""])),
        st.tuples(st.just("node"), names, st.integers(0, 6), st.booleans()),
        st.tuples(st.just("node goes"), names),
        st.tuples(st.just("budget"), st.sampled_from("ab"), st.integers(0, 1)),
        st.tuples(st.just("flood"), names),
    ),
    max_size=25,
)


def happens(cache: Cache, event: tuple[object, ...]) -> None:
    match event:
        case ("runs", PodBuilder() as made):
            cache.put_pod(made.info())
        case ("ends", int(number)):
            cache.drop_pod(there(number, 0, 0, "", 0).info().uid)
        case ("nominated", int(number), str(name)):
            cache.nominate(incoming(number).info(), name)
        case ("node", str(name), int(size), bool(cordoned)):
            made_node = node(name, size)
            cache.put_node((made_node.cordoned() if cordoned else made_node).info())
        case ("node goes", str(name)):
            cache.drop_node(name)
        case ("budget", str(app), int(allowed)):
            kind = KINDS["PodDisruptionBudget"]
            cache.put_object(kind, kind.parse(budget(app, allowed=allowed, app=app)))
        case ("flood", str(name)):
            for _ in range(FLOOD):
                cache.put_pod(pod("flood", 0, 1, on=name).info())
                cache.drop_pod(pod("flood", 0).info().uid)


def asked(filters: PodFilters, caches: FilterCaches, kept: KeptRuns) -> tuple[Feasibility, PostFilter | None]:
    fit = run_filters(filters, caches)
    if fit.rows.any():
        return fit, None
    return fit, after_filters(filters, fit.refusals, rng=np.random.default_rng(1), kept=kept)


def told(fit: Feasibility) -> object:
    return fit.rows.tolist(), [(r.plugin, r.reason, r.rows.tolist(), r.resolvable.tolist()) for r in fit.refusals]


@settings(max_examples=150, deadline=None)
@given(events)
def test_warm_answers_are_those_of_one_that_starts_from_nothing(history: list[tuple[object, ...]]) -> None:
    cache = make_cache([node(name, 2) for name in NODES], [there(i, i % 3, 1, NODES[i % 4], i) for i in range(8)])
    caches, kept = FilterCaches(), KeptRuns()
    for event in [*history, *[("ends", 99)] * CALMS]:
        happens(cache, event)
        for number in range(6):
            filters = filters_of(cache, incoming(number))
            warm, cold = asked(filters, caches, kept), asked(filters, FilterCaches(), KeptRuns())
            assert told(warm[0]) == told(cold[0])
            assert warm[1] == cold[1]


@settings(max_examples=150, deadline=None)
@given(events)
def test_every_node_says_what_it_says_when_it_is_asked_alone(history: list[tuple[object, ...]]) -> None:
    cache, caches = make_cache(node(name, 3) for name in NODES), FilterCaches()
    for event in history:
        happens(cache, event)
        for number in range(6):
            filters = filters_of(cache, incoming(number))
            fit = run_filters(filters, caches)
            for row, live in cache.view.live_nodes():
                said = {(r.reason, bool(r.resolvable[row])) for r in fit.refusals if r.rows[row]}
                assert said == _alone(filters, row, yields_to(cache.view, filters.pod, live.name))
                assert bool(fit.rows[row]) is not bool(said)


def _alone(filters: PodFilters, row: int, others: tuple[PodInfo, ...]) -> set[tuple[str, bool]]:
    for overlay in (Overlay(added=others), Overlay()):
        if rejected := filters.check(row, overlay):
            return {(reason.text, rejected.resolvable) for reason in rejected.reasons}
    return set()


def test_a_pod_that_only_shows_another_start_is_noticed() -> None:
    """Nothing that is counted changes, but the pod that has run for longer is spared."""
    cache = make_cache([node("a", 1), node("b", 1)], [there(i, 0, 1, "ab"[i], 5 + i) for i in range(2)])
    kept = KeptRuns()

    def nominated() -> str | None:
        _, after = asked(filters_of(cache, pod("high", 9, 1)), FilterCaches(), kept)
        assert after is not None
        return after.nominated_node

    assert nominated() == "b"
    cache.put_pod(replace(there(0, 0, 1, "a", 9).info(), resource_version="2"))
    assert nominated() == "a"


def test_many_nominations_give_few_reasons() -> None:
    nodes = [node(f"n{i}", 1) for i in range(50)]
    cache = make_cache(nodes, [there(i, 0, 1, f"n{i}", 0) for i in range(50)])
    for i in range(50):
        cache.nominate(pod(f"nominated-{i}", 9, 1).info(), f"n{i}")
    for high in (pod("high", 9, 1), pod("high", 9, 1).port(80)):
        fit = run_filters(filters_of(cache, high), FilterCaches())
        assert not fit.rows.any()
        assert len(fit.refusals) == 2
        assert {refusal.reason for refusal in fit.refusals} == {"Insufficient cpu", "Insufficient memory"}
