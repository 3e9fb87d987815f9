from __future__ import annotations

from collections.abc import Sequence

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from plimsoll.cluster.cache import Cache
from plimsoll.cluster.kinds import KINDS
from plimsoll.cluster.services import Service
from plimsoll.scores.preferences import Preferences, preferences_term
from plimsoll.scores.preferred.caches import PreferenceCaches
from tests.builders import NodeBuilder, PodBuilder, make_cache, make_node, make_pod

PREFER = "PreferNoSchedule"
WEB = Service("default", "web", {"app": "web"})


def preferences(pod: PodBuilder, cache: Cache, feasible: Sequence[bool] | None = None) -> Preferences:
    rows = cache.view.live if feasible is None else np.array(feasible)
    return preferences_term(cache.view, pod.info(), rows, PreferenceCaches())


def cost(pod: PodBuilder, nodes: Sequence[NodeBuilder], feasible: Sequence[bool] | None = None) -> list[float] | None:
    cache = make_cache(nodes)
    found = preferences(pod, cache, feasible)
    return [float(cost) for cost in found.cost[: cache.view.size]] if found.telling else None


def tiers(*tiers: str) -> list[NodeBuilder]:
    return [make_node(f"n{i}").label("tier", tier) for i, tier in enumerate(tiers)]


@pytest.mark.parametrize(
    ("pod", "want"),
    [
        pytest.param(make_pod(), None, id="no preference, no term"),
        pytest.param(make_pod().prefer_nodes(10, tier="a"), [0, 1, 1], id="the preferred node costs nothing"),
        pytest.param(
            make_pod().prefer_nodes(30, tier="a").prefer_nodes(10, tier="b"), [0, 0.67, 1], id="by the sum of weights"
        ),
        pytest.param(make_pod().prefer_nodes(10, tier="z"), None, id="a preference that no node meets"),
        pytest.param(make_pod().prefer_nodes(0, tier="a"), None, id="a weight of 0 is ignored"),
    ],
)
def test_the_cost_is_how_far_a_node_is_behind_the_best(pod: PodBuilder, want: list[float] | None) -> None:
    assert cost(pod, tiers("a", "b", "c")) == (want if want is None else pytest.approx(want))


def test_what_all_feasible_nodes_have_in_common_says_nothing() -> None:
    pod = make_pod().prefer_nodes(1, tier="a")
    nodes = [make_node("n1").label("tier", "a").taint("x", effect=PREFER), make_node("n2").taint("x", effect=PREFER)]
    assert preferences(pod, make_cache(nodes)).telling == {"NodeAffinity"}


def test_taints_weigh_three_to_two_against_affinity() -> None:
    nodes = [make_node("n1").label("tier", "a").taint("x", effect=PREFER), make_node("n2")]
    assert cost(make_pod().prefer_nodes(1, tier="a"), nodes) == pytest.approx([3 / 5, 2 / 5])


def test_wishes_add_up() -> None:
    """One more thing to say about the nodes takes nothing from what is said already."""
    pod, nodes = make_pod().prefer_nodes(1, tier="a"), tiers("a", "b")
    alone = preferences(pod, make_cache(nodes))
    image = {"names": ["app:latest"], "sizeBytes": 2**40}
    both = preferences(pod, make_cache([nodes[0], nodes[1].status(images=[image])]))
    assert (alone.telling, alone.wishes) == (frozenset({"NodeAffinity"}), 1.0)
    assert (both.telling, both.wishes) == (frozenset({"NodeAffinity", "ImageLocality"}), 1.25)
    assert list(both.wishes * both.cost) == pytest.approx([0.25, 1])


def service_pods(*nodes: str) -> list[PodBuilder]:
    return [make_pod().labels(app="web").on(node) for node in nodes]


def test_spreading_by_default_weighs_less_than_what_a_pod_asks_for() -> None:
    cache = make_cache(tiers("a", "b"), service_pods("n0"))
    cache.put_object(KINDS["Service"], WEB)
    anyway = {
        "topologyKey": "kubernetes.io/hostname",
        "maxSkew": 1,
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    pod = make_pod().labels(app="web")
    assert preferences(pod, cache).wishes == 0.125
    assert preferences(pod.spec(topologySpreadConstraints=[anyway]), cache).wishes == 1


def test_only_feasible_nodes_set_the_scale() -> None:
    pod = make_pod().prefer_nodes(30, tier="a").prefer_nodes(10, tier="b")
    found = cost(pod, tiers("a", "b", "c"), [False, True, True])
    assert found is not None
    assert found[1:] == [0, 1]


def test_nor_do_taints_of_nodes_that_are_not_feasible() -> None:
    nodes = [
        make_node("n1").taint("a", effect=PREFER).taint("b", effect=PREFER),
        make_node("n2").taint("a", effect=PREFER),
    ]
    nodes.append(make_node("n3"))
    found = cost(make_pod(), nodes, [False, True, True])
    assert found is not None
    assert found[1:] == [1, 0]


def test_a_node_that_is_alone_is_not_compared() -> None:
    pod, nodes = make_pod().prefer_nodes(10, tier="a"), tiers("a", "b")
    for feasible in ([True, False], [False, False]):
        found = preferences(pod, make_cache(nodes), feasible)
        assert (found.scores, found.telling) == ({}, frozenset())


def test_scores_are_whole_percents_for_those_who_ask_why() -> None:
    pod = make_pod().prefer_nodes(30, tier="a").prefer_nodes(10, tier="b")
    found = preferences(pod, make_cache(tiers("a", "b", "c")))
    assert found.at(np.arange(3)) == [{"NodeAffinity": 100}, {"NodeAffinity": 33}, {"NodeAffinity": 0}]
    assert {name: scores.tolist() for name, scores in found.scores.items()} == {
        "TaintToleration": [100, 100, 100],
        "NodeAffinity": [100, 33, 0],
        "ImageLocality": [0, 0, 0],
    }


# -- laws -------------------------------------------------------------------------------------------------

LABELS = st.dictionaries(st.sampled_from(["tier", "zone"]), st.sampled_from(["a", "b"]))
SELECTOR = {"matchLabels": {"app": "a"}}
WEIGHTED = {"weight": 3, "podAffinityTerm": {"topologyKey": "zone", "labelSelector": SELECTOR}}
AFFINITIES = [
    {},
    {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [WEIGHTED]}},
    {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [WEIGHTED]}},
]
SPREADS = [
    [],
    [{"topologyKey": "zone", "maxSkew": 2, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": SELECTOR}],
]


@st.composite
def some_nodes(draw: st.DrawFn) -> list[NodeBuilder]:
    nodes = []
    for i in range(draw(st.integers(2, 5))):
        node = make_node(f"n{i}")
        for key, value in draw(LABELS).items():
            node.label(key, value)
        for key in draw(st.sets(st.sampled_from("xyz"))):
            node.taint(key, effect=PREFER)
        sizes = draw(st.lists(st.integers(0, 2000), max_size=2))
        node.status(images=[{"names": [f"i{k}:latest"], "sizeBytes": s * 2**20} for k, s in enumerate(sizes)])
        nodes.append(node)
    return nodes


@st.composite
def some_pod(draw: st.DrawFn) -> PodBuilder:
    pod = make_pod().labels(app=draw(st.sampled_from("ab"))).spec(affinity=draw(st.sampled_from(AFFINITIES)).copy())
    for key, value in draw(LABELS).items():
        pod.prefer_nodes(draw(st.integers(1, 100)), **{key: value})
    for key in draw(st.sets(st.sampled_from("xyz"))):
        pod.tolerate(key=key, operator="Exists")
    images = draw(st.lists(st.sampled_from(["i0", "i1", "i2"]), min_size=1, max_size=2))
    containers = [{"name": f"c{k}", "image": image} for k, image in enumerate(images)]
    return pod.spec(containers=containers, topologySpreadConstraints=draw(st.sampled_from(SPREADS)))


@settings(max_examples=150, deadline=None)
@given(nodes=some_nodes(), pod=some_pod(), others=st.lists(some_pod(), max_size=6), data=st.data())
def test_laws(nodes: list[NodeBuilder], pod: PodBuilder, others: list[PodBuilder], data: st.DataObject) -> None:
    """Scores and costs stay in their ranges, the best node by every plugin costs nothing, warm equals cold."""
    names = [f"n{i}" for i in range(len(nodes))]
    there = [other.on(data.draw(st.sampled_from(names))) for other in others]
    cache, warm = make_cache(nodes, there), PreferenceCaches()
    cache.put_object(KINDS["Service"], Service("default", "a", {"app": "a"}))
    feasible = np.array(data.draw(st.lists(st.booleans(), min_size=len(nodes), max_size=len(nodes))))
    preferences_term(cache.view, pod.info(), cache.view.live, warm)
    cache.put_node(data.draw(some_nodes())[0].info())
    found = preferences_term(cache.view, pod.info(), feasible, warm)
    cold = preferences_term(cache.view, pod.info(), feasible, PreferenceCaches())
    assert found.telling == cold.telling <= set(found.scores)
    assert np.array_equal(found.cost, cold.cost)
    assert all(np.array_equal(scores[feasible], cold.scores[name][feasible]) for name, scores in found.scores.items())
    assert all(((scores[feasible] >= 0) & (scores[feasible] <= 100)).all() for scores in found.scores.values())
    assert ((found.cost >= 0) & (found.cost <= 1)).all()
    best = feasible.copy()
    for name in found.telling:
        scores = found.scores[name]
        best &= scores == scores[feasible].max()
        assert scores[feasible].min() < scores[feasible].max()
    assert (found.cost[best] == 0).all()
