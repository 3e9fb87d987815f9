from __future__ import annotations

from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from plimsoll.cluster.cache import Cache
from plimsoll.cluster.pod import PodInfo
from plimsoll.filters.interface import Overlay
from plimsoll.filters.prepared import PodFilters
from plimsoll.scheduling.preemption.choosing import Candidate
from plimsoll.scheduling.preemption.disruptions import split_by_budgets
from plimsoll.scheduling.preemption.importance import by_importance
from plimsoll.scheduling.preemption.victims import NO_VICTIMS, DryRun
from tests.builders import PodBuilder
from tests.scheduling.preempting import budget, cluster, filters_of, node, pod

PORTS = (80, 81)
HOST = "kubernetes.io/hostname"


@st.composite
def pods(draw: st.DrawFn, *, on: str = "") -> PodBuilder:
    size = draw(st.integers(0, 3))
    made = pod(f"pod-{draw(st.integers(0, 10**9))}", draw(st.integers(-1, 2)), size, on=on)
    if draw(st.booleans()) and on:
        made.started(f"2026-01-01T00:00:0{draw(st.integers(0, 3))}Z")
    if draw(st.integers(0, 3)) == 0:
        made.port(draw(st.sampled_from(PORTS)))
    if draw(st.integers(0, 3)) == 0:
        made.apart({"labelSelector": {"matchLabels": {"app": draw(st.sampled_from("ab"))}}, "topologyKey": HOST})
    if draw(st.integers(0, 3)) == 0:
        selector = {"matchLabels": {"app": draw(st.sampled_from("ab"))}}
        made.spread_over(HOST, selector, skew=draw(st.integers(1, 3)), minDomains=3)
    return made.labels(app=draw(st.sampled_from("ab")))


@st.composite
def situations(draw: st.DrawFn) -> tuple[Cache, PodBuilder]:
    """One node with some pods, pods nominated to it, budgets; and a pod that comes."""
    running = draw(st.lists(pods(on="n"), max_size=7, unique_by=lambda p: p.info().uid))
    budgets: list[dict[str, Any]] = [
        budget(f"guard-{app}", allowed=draw(st.integers(0, 1)), app=app) for app in draw(st.sets(st.sampled_from("ab")))
    ]
    cache = cluster([node("n", draw(st.integers(1, 8))).label(HOST, "n")], running, budgets)
    for nominated in draw(st.lists(pods(), max_size=2)):
        cache.nominate(nominated.info(), "n")
    return cache, draw(pods()).named("incoming").priority(draw(st.integers(0, 3)))


def _dry_run(cache: Cache, filters: PodFilters) -> Candidate | tuple[str, ...]:
    budgets = tuple(cache.view.objects.all("PodDisruptionBudget"))
    return DryRun(filters, budgets).victims_on(0)  # type: ignore[arg-type]


@settings(max_examples=120)
@given(situations())
def test_once_the_victims_are_gone_the_pod_fits(situation: tuple[Cache, PodBuilder]) -> None:
    cache, incoming = situation
    found = _dry_run(cache, filters_of(cache, incoming))
    if not isinstance(found, Candidate):
        return
    for victim in found.victims:
        cache.drop_pod(victim.uid)
    filters = filters_of(cache, incoming)
    nominated = tuple(p for p in cache.view.nominated.pods_on("n") if p.priority >= filters.pod.priority)
    assert filters.check(0, Overlay()) is None
    assert filters.check(0, Overlay(added=nominated)) is None


@settings(max_examples=120)
@given(situations())
def test_no_victim_could_have_been_spared(situation: tuple[Cache, PodBuilder]) -> None:
    cache, incoming = situation
    filters = filters_of(cache, incoming)
    found = _dry_run(cache, filters)
    if not isinstance(found, Candidate):
        return
    nominated = tuple(p for p in cache.view.nominated.pods_on("n") if p.priority >= filters.pod.priority)
    for spared in found.victims:
        others = tuple(victim for victim in found.victims if victim is not spared)
        assert filters.check(0, Overlay(added=nominated, removed=others)) is not None


@settings(max_examples=120)
@given(situations())
def test_victims_are_less_important_and_come_in_order(situation: tuple[Cache, PodBuilder]) -> None:
    cache, incoming = situation
    found = _dry_run(cache, filters_of(cache, incoming))
    if isinstance(found, Candidate):
        assert all(victim.priority < incoming.info().priority for victim in found.victims)
        priorities = [victim.priority for victim in by_importance(found.victims)]
        assert [victim.priority for victim in found.victims] == priorities
        assert found.violations <= len(found.victims)


@settings(max_examples=120)
@given(situations())
def test_where_nobody_is_found_removing_all_lower_pods_does_not_help(situation: tuple[Cache, PodBuilder]) -> None:
    cache, incoming = situation
    filters = filters_of(cache, incoming)
    found = _dry_run(cache, filters)
    if isinstance(found, Candidate):
        return
    lower = tuple(p for p in cache.pods_on("n") if p.priority < filters.pod.priority)
    nominated = tuple(p for p in cache.view.nominated.pods_on("n") if p.priority >= filters.pod.priority)
    if not lower:
        assert found == (NO_VICTIMS,)
    else:
        with_them = filters.check(0, Overlay(added=nominated, removed=lower))
        assert with_them is not None or filters.check(0, Overlay(removed=lower)) is not None


@settings(max_examples=120)
@given(situations())
def test_sums_and_filters_find_the_same_victims(situation: tuple[Cache, PodBuilder]) -> None:
    """A port that nobody uses makes the search ask every filter, where sums alone would do."""
    cache, incoming = situation
    asked = _dry_run(cache, filters_of(cache, PodBuilder.port(_without_ports(incoming), 9999)))
    summed = _dry_run(cache, filters_of(cache, _without_ports(incoming)))
    assert asked == summed


@settings(max_examples=300)
@given(situations())
def test_the_victims_are_those_with_whom_the_filters_refuse_the_pod_one_by_one(
    situation: tuple[Cache, PodBuilder],
) -> None:
    """kube-scheduler's SelectVictimsOnNode, each filter asked about everybody each time."""
    cache, incoming = situation
    filters = filters_of(cache, incoming)
    assume(filters.problem is None)
    found = _dry_run(cache, filters)
    budgets = tuple(cache.view.objects.all("PodDisruptionBudget"))
    lower = [p for p in cache.pods_on("n") if p.priority < filters.pod.priority]
    if not lower:
        assert found == (NO_VICTIMS,)
    elif why := _refused(cache, filters, lower):
        assert found == why
    else:
        violating, others = split_by_budgets(by_importance(lower), budgets)  # type: ignore[arg-type]
        removed = [*violating, *others]
        for candidate in (*violating, *others):
            without = [p for p in removed if p is not candidate]
            if not _refused(cache, filters, without):
                removed = without
        assert found == Candidate(0, tuple(by_importance(removed)), sum(victim in violating for victim in removed))


def _refused(cache: Cache, filters: PodFilters, removed: list[PodInfo]) -> tuple[str, ...]:
    nominated = tuple(p for p in cache.view.nominated.pods_on("n") if p.priority >= filters.pod.priority)
    for added in (nominated, ()):
        if rejected := filters.check(0, Overlay(added=added, removed=tuple(removed))):
            return tuple(reason.text for reason in rejected.reasons)
    return ()


def _without_ports(incoming: PodBuilder) -> PodBuilder:
    info = incoming.info()
    size = info.requests.get("cpu", 0) // 100
    return pod("incoming", info.priority, size)
