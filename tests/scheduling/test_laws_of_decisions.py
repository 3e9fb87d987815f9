from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from plimsoll.policy.compiled import Formula, OnMissing, OnOverload, Policy
from plimsoll.scheduling.decide import Caches, decide
from plimsoll.scheduling.decision import Decision, NodeScore, Outcome
from tests.builders import (
    NOW_S,
    NodeBuilder,
    PodBuilder,
    make_cache,
    make_load,
    make_node,
    make_pod,
    make_policy,
    make_readings,
)
from tests.scheduling.conftest import World

METRICS = ["cpu", "memory", "networkReceive"]
PREFER = "PreferNoSchedule"


@dataclass(frozen=True)
class Made:
    """A node with what runs on it and what is measured of it."""

    name: str
    zone: str
    tier: str
    cordoned: bool
    avoided: bool
    requested_cpu: int
    replicas: int
    utilisation: tuple[float | None, ...]

    def node(self) -> NodeBuilder:
        node = make_node(self.name)
        node = node.zone(self.zone) if self.zone else node
        node = node.label("tier", self.tier) if self.tier else node
        node = node.cordoned() if self.cordoned else node
        return node.taint("x", effect=PREFER) if self.avoided else node

    def pods(self) -> list[PodBuilder]:
        other = make_pod(f"other-on-{self.name}").cpu(str(self.requested_cpu)).memory("1Gi").on(self.name)
        replicas = [make_pod(f"replica-{i}-on-{self.name}") for i in range(self.replicas)]
        return [other, *(pod.owner("Job", "batch").on(self.name) for pod in replicas)]


shares = st.one_of(st.none(), st.floats(min_value=0, max_value=1.3), st.just(1.7e308))
nodes = st.integers(min_value=1, max_value=8).flatmap(
    lambda count: st.tuples(*(
        st.builds(
            Made,
            name=st.just(f"n{i}"),
            zone=st.sampled_from(["", "a", "b"]),
            tier=st.sampled_from(["", "a", "b"]),
            cordoned=st.booleans(),
            avoided=st.booleans(),
            requested_cpu=st.integers(min_value=0, max_value=17),
            replicas=st.integers(min_value=0, max_value=3),
            utilisation=st.tuples(*(shares for _ in METRICS)),
        )
        for i in range(count)
    ))
)  # fmt: skip
policies = st.builds(
    lambda weights, limits, formula, on_overload, on_missing: make_policy(
        "p",
        weights=dict(zip(METRICS, weights, strict=True)),
        limits={metric: limit for metric, limit in zip(METRICS, limits, strict=True) if limit is not None},
        formula=formula,
        on_overload=on_overload,
        on_missing=on_missing,
    ),
    st.tuples(*(st.integers(min_value=0, max_value=3) for _ in METRICS)),
    st.tuples(*(st.one_of(st.none(), st.floats(min_value=0.1, max_value=1)) for _ in METRICS)),
    st.sampled_from(Formula),
    st.sampled_from(OnOverload),
    st.sampled_from(OnMissing),
)
pods = st.builds(
    lambda cpu, network, tier: _pod(cpu=cpu, network=network, tier=tier),
    st.sampled_from(["0", "1", "6"]), st.sampled_from(["0", "40M"]), st.sampled_from(["", "a"]),
)  # fmt: skip


def _pod(*, cpu: str, network: str, tier: str) -> PodBuilder:
    pod = make_pod("incoming").owner("Job", "batch").cpu(cpu).annotate("plimsoll.dev/network-receive", network)
    return pod.prefer_nodes(10, tier=tier) if tier else pod


def decided(
    made: Sequence[Made], policy: Policy, pod: PodBuilder, *, seed: int = 0, measured_in: Sequence[Made] | None = None
) -> Decision:
    cache = make_cache((m.node() for m in made), (p for m in made for p in m.pods()))
    order = made if measured_in is None else measured_in
    readings = make_readings({metric: {m.name: m.utilisation[i] for m in order} for i, metric in enumerate(METRICS)})
    load = make_load(cache, policy, readings)
    rng = np.random.default_rng(seed)
    return decide(view=cache.view, load=load, policy=policy, pod=pod.info(), now_s=NOW_S, rng=rng, caches=Caches())


def by_node(scores: Sequence[NodeScore]) -> dict[str, NodeScore]:
    return {score.node: score for score in scores}


@settings(max_examples=40, deadline=None)
@given(nodes, policies, pods, st.randoms(use_true_random=False))
def test_permuting_nodes_permutes_the_answer(
    made: Sequence[Made], policy: Policy, pod: PodBuilder, random: Random
) -> None:
    shuffled, measured = list(made), list(made)
    random.shuffle(shuffled)
    random.shuffle(measured)
    one, other = decided(made, policy, pod), decided(shuffled, policy, pod, measured_in=measured)
    assert (one.outcome, one.feasible, one.overloaded, one.rejected_by) == (
        other.outcome, other.feasible, other.overloaded, other.rejected_by
    )  # fmt: skip
    assert {(r.plugin, r.reason, r.count) for r in one.rejections} == {
        (r.plugin, r.reason, r.count) for r in other.rejections
    }
    assert set(by_node(one.best)) == set(by_node(other.best))
    for name, score in by_node(one.best).items():
        assert score.score == pytest.approx(by_node(other.best)[name].score, abs=0.011)
        assert score.terms == pytest.approx(by_node(other.best)[name].terms, abs=0.00011)
        assert score.readings == by_node(other.best)[name].readings


@settings(max_examples=40, deadline=None)
@given(nodes, policies, pods)
def test_every_score_is_a_number_from_0_to_100(made: Sequence[Made], policy: Policy, pod: PodBuilder) -> None:
    decision = decided(made, policy, pod)
    for node in decision.best:
        assert 0 <= node.score <= 100
        assert all(0 <= term <= 1 for term in node.terms.values())
    assert [n.score for n in decision.best] == sorted((n.score for n in decision.best), reverse=True) or (
        decision.node == decision.best[-1].node
    )


@settings(max_examples=40, deadline=None)
@given(nodes, policies, pods)
def test_the_chosen_node_passes_every_filter_and_about_none_is_better(
    made: Sequence[Made], policy: Policy, pod: PodBuilder
) -> None:
    decision = decided(made, policy, pod)
    fits = {m.name for m in made if not m.cordoned and m.requested_cpu * 1000 + pod.info().requests["cpu"] <= 16000}
    fits |= {m.name for m in made if not m.cordoned and not pod.info().requests["cpu"]}
    if decision.outcome is Outcome.BIND:
        assert decision.node in fits
        assert {n.node for n in decision.best} <= fits
        if not decision.overloaded:
            assert decision.score >= decision.best[0].score - 1.02
    else:
        assert not fits or "SchedulingPolicyLimits" in decision.rejected_by


@settings(max_examples=15, deadline=None)
@given(nodes, policies, pods)
def test_the_same_seed_decides_the_same(made: Sequence[Made], policy: Policy, pod: PodBuilder) -> None:
    assert decided(made, policy, pod, seed=5) == decided(made, policy, pod, seed=5)


@settings(max_examples=40, deadline=None)
@given(nodes, policies, pods, st.integers(min_value=0, max_value=7), st.sampled_from(range(3)))
def test_a_node_that_carries_more_never_scores_better(
    made: Sequence[Made], policy: Policy, pod: PodBuilder, which: int, metric: int
) -> None:
    """Kept to what nodes carry: how pods use their requests is learnt from the same readings."""
    before = made[which % len(made)]
    carried = before.utilisation[metric]
    if carried is None:
        return
    pod = pod.cpu("0").memory("0").annotate("plimsoll.dev/network-receive", "0")
    idle = [_without_pods(m) for m in made]
    more = tuple(carried + 0.2 if i == metric else u for i, u in enumerate(before.utilisation))
    heavier = [_without_pods(m, more if m is before else m.utilisation) for m in made]
    lighter_scores, heavier_scores = (by_node(decided(m, policy, pod).best) for m in (idle, heavier))
    if before.name in lighter_scores and before.name in heavier_scores:
        lighter, heavy = lighter_scores[before.name].terms, heavier_scores[before.name].terms
        if "load" in lighter and "load" in heavy:
            assert heavy["load"] >= lighter["load"] - 0.0002


def _without_pods(made: Made, utilisation: tuple[float | None, ...] | None = None) -> Made:
    return Made(
        name=made.name, zone=made.zone, tier=made.tier, cordoned=made.cordoned, avoided=made.avoided,
        requested_cpu=0, replicas=0, utilisation=made.utilisation if utilisation is None else utilisation,
    )  # fmt: skip


def tried(world: World, pod: PodBuilder, *, seed: int) -> Decision:
    world.scheduler._rng = np.random.default_rng(seed)
    return world.probe(pod)


events = st.lists(
    st.one_of(
        st.tuples(st.just("node"), st.integers(0, 5), st.booleans(), st.booleans()),
        st.tuples(st.just("node goes"), st.integers(0, 5)),
        st.tuples(st.just("pod"), st.integers(0, 5)),
        st.tuples(st.just("readings"), st.lists(shares, min_size=6, max_size=6)),
        st.tuples(st.just("policy"), policies),
        st.tuples(st.just("ask"), pods),
    ),
    max_size=30,
)


@settings(max_examples=40, deadline=None)
@given(events)
def test_a_scheduler_with_warm_caches_decides_like_one_that_has_just_started(history: list[tuple[object, ...]]) -> None:
    world = World()
    for turn, event in enumerate(history):
        match event:
            case ("node", int(i), bool(cordoned), bool(avoided)):
                node = make_node(f"n{i}").label("tier", "ab"[turn % 2])
                node = node.cordoned() if cordoned else node
                world.nodes(node.taint("x", effect=PREFER) if avoided else node)
            case ("node goes", int(i)):
                world.node_goes(f"n{i}")
            case ("pod", int(i)):
                world.assigned(make_pod().cpu("3").on(f"n{i}"))
            case ("readings", list(utilisation)):
                world.readings("p", {"cpu": {f"n{i}": u for i, u in enumerate(utilisation)}})
            case ("policy", Policy() as policy):
                world.policies(policy)
            case ("ask", PodBuilder() as pod):
                kept = world.scheduler._caches
                warm = tried(world, pod, seed=turn)
                world.scheduler._caches = Caches()
                assert tried(world, pod, seed=turn) == warm
                world.scheduler._caches = kept
        world.passes(1)
