"""Whatever came, went or changed: domains, counts of pods and groups of terms are what a fresh count says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from plimsoll.cluster import domains, pod_counts, row_counts, term_index
from plimsoll.cluster.cache import Cache
from plimsoll.cluster.namespace import Namespace
from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.cluster.pod_counts import PodMatcher
from plimsoll.cluster.pod_terms import AffinityTerm, PodSelector
from plimsoll.cluster.term_index import TermKind, totals_by_key
from tests import crowds
from tests.builders import NodeBuilder, PodBuilder, make_cache, make_node, make_pod


def _selectors(term: dict[str, Any]) -> tuple[PodSelector, ...]:
    return tuple(t.pods for t in make_pod(namespace="one").together(term).info().required_affinity)


matchers = st.builds(
    lambda some, terminating: PodMatcher(tuple(s for term in some for s in _selectors(term)), terminating),
    st.lists(crowds.terms, min_size=1, max_size=2),
    st.booleans(),
)
_steps = st.one_of(
    st.tuples(st.just("node"), crowds.nodes()),
    st.tuples(st.just("no node"), st.sampled_from(crowds.NODES)),
    st.tuples(st.just("pod"), crowds.placed_pods()),
    st.tuples(st.just("pod"), crowds.placed_pods()),
    st.tuples(
        st.just("no pod"), st.sampled_from([f"uid-{n}-{p}" for n in crowds.NAMESPACES for p in crowds.POD_NAMES])
    ),
    st.tuples(st.just("namespace"), crowds.namespaces),
    st.tuples(st.just("no namespace"), st.sampled_from(crowds.NAMESPACES[:2])),
)
_cluster = st.tuples(*(crowds.nodes() for _ in range(3))), st.lists(crowds.placed_pods(), min_size=4, max_size=8)
histories = st.builds(
    lambda nodes, pods, steps: [*(("node", node) for node in nodes), *(("pod", pod) for pod in pods), *steps],
    *_cluster,
    st.lists(_steps, min_size=5, max_size=20),
)


def play(cache: Cache, step: tuple[str, object]) -> None:
    match step:
        case ("node", NodeBuilder() as node):
            cache.put_node(node.info())
        case ("no node", str(name)):
            cache.drop_node(name)
        case ("pod", PodBuilder() as pod):
            cache.put_pod(pod.info())
        case ("no pod", str(uid)):
            cache.drop_pod(Uid(uid))
        case ("namespace", (str(name), dict(labels))):
            cache.put_namespace(Namespace(name, labels))
        case ("no namespace", str(name)):
            cache.drop_namespace(name)


def compare(cache: Cache, wanted: Iterable[PodMatcher], pods: Iterable[PodBuilder]) -> None:
    for matcher in wanted:
        assert counted(cache, matcher) == counted_afresh(cache, matcher)
    for pod in pods:
        for kind in TermKind:
            assert grouped(cache, kind, pod.info()) == grouped_afresh(cache, kind, pod.info())
            assert summed(cache, kind, pod.info()) == summed_afresh(cache, kind, pod.info())
    for key in crowds.KEYS:
        assert domain_names(cache, key) == {name: labels.get(key) for name, labels in labels_of(cache).items()}


def labels_of(cache: Cache) -> dict[str, Mapping[str, str]]:
    return {node.name: node.labels for _, node in cache.view.live_nodes()}


def domain_names(cache: Cache, key: str) -> dict[str, str | None]:
    column = cache.view.domains.column(key)
    assert len(column.ids) == cache.view.size
    assert not column.ids[~cache.view.live].any()
    ids = {name: int(column.ids[row]) for name, row in cache.view.row_of.items()}
    return {name: column.names[i] if i else None for name, i in ids.items()}


def placed(cache: Cache) -> list[tuple[int, PodInfo]]:
    return [(row, pod) for name, row in cache.view.row_of.items() for pod in cache.pods_on(name)]


def counted(cache: Cache, matcher: PodMatcher) -> list[int]:
    counts: list[int] = cache.view.pods.counts(matcher).tolist()
    return counts


def counted_afresh(cache: Cache, matcher: PodMatcher) -> list[int]:
    rows = [0] * cache.view.size
    for row, pod in placed(cache):
        if matcher.terminating or not pod.deleting:
            rows[row] += matcher.matches(pod.namespace, cache.view.namespaces.get(pod.namespace), pod.labels)
    return rows


Groups = dict[tuple[AffinityTerm, int], dict[int, int]]


def grouped(cache: Cache, kind: TermKind, pod: PodInfo) -> Groups:
    return {(g.term, g.weight): dict(g.counts_by_row) for g in cache.view.terms.matching(kind, pod)}


def grouped_afresh(cache: Cache, kind: TermKind, pod: PodInfo) -> Groups:
    found: dict[tuple[AffinityTerm, int], Counter[int]] = {}
    for row, existing in placed(cache):
        for term, weight in terms_of(existing, kind):
            if term.pods.selects(pod.namespace, cache.view.namespaces.get(pod.namespace), pod.labels):
                found.setdefault((term, weight), Counter())[row] += 1
    return {key: dict(rows) for key, rows in found.items()}


def terms_of(pod: PodInfo, kind: TermKind) -> list[tuple[AffinityTerm, int]]:
    match kind:
        case TermKind.REQUIRED_AFFINITY:
            return [(term, 0) for term in pod.required_affinity]
        case TermKind.REQUIRED_ANTI_AFFINITY:
            return [(term, 0) for term in pod.required_anti_affinity]
        case TermKind.PREFERRED_AFFINITY:
            return [(weighted.term, weighted.weight) for weighted in pod.preferred_affinity]
        case TermKind.PREFERRED_ANTI_AFFINITY:
            return [(weighted.term, weighted.weight) for weighted in pod.preferred_anti_affinity]


def summed(cache: Cache, kind: TermKind, pod: PodInfo) -> dict[tuple[str, str], int]:
    groups = cache.view.terms.matching(kind, pod)
    totals = totals_by_key(groups, cache.view.domains, weight=lambda group: group.weight + 1)
    named = {key: cache.view.domains.column(key).names for key in totals}
    assert all(by_domain[0] == 0 for by_domain in totals.values())
    return {(key, named[key][i]): int(n) for key, by_domain in totals.items() for i, n in enumerate(by_domain) if n}


def summed_afresh(cache: Cache, kind: TermKind, pod: PodInfo) -> dict[tuple[str, str], int]:
    found: Counter[tuple[str, str]] = Counter()
    for (term, weight), rows in grouped_afresh(cache, kind, pod).items():
        for row, count in rows.items():
            node = cache.view.nodes[row]
            assert node is not None
            if term.topology_key in node.labels:
                found[term.topology_key, node.labels[term.topology_key]] += (weight + 1) * count
    return dict(found)


@pytest.mark.slow
@settings(max_examples=60)
@given(histories, st.lists(matchers, min_size=1, max_size=6), st.lists(crowds.pods(), min_size=1, max_size=2))
def test_whatever_happened(history: list[tuple[str, object]], wanted: list[PodMatcher], pods: list[PodBuilder]) -> None:
    cache = Cache()
    for step in history:
        play(cache, step)
        compare(cache, wanted, pods)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Room for so little that everything kept is thrown away all the time; few pods are many."""
    monkeypatch.setattr(domains, "_MAX_KEYS", 1)
    monkeypatch.setattr(pod_counts, "_MAX_MATCHERS", 4)
    monkeypatch.setattr(term_index, "_MAX_KNOWN", 1)
    monkeypatch.setattr(term_index, "_FEW_ROWS", 2)
    monkeypatch.setattr(row_counts, "_ROWS_PER_ENTRY", 1)


@pytest.mark.slow
@pytest.mark.usefixtures("small")
def test_whatever_happened_when_there_is_room_for_little() -> None:
    test_whatever_happened()


def test_labels_of_namespaces_are_followed() -> None:
    chosen = {"topologyKey": "zone", "labelSelector": {}, "namespaceSelector": {"matchLabels": {"team": "a"}}}
    cache = make_cache(
        [make_node("n1")], [make_pod(namespace="theirs").on("n1"), make_pod(namespace="mine").apart(chosen).on("n1")]
    )
    matcher = PodMatcher(_selectors(chosen))
    incoming = make_pod(namespace="theirs").info()

    def seen() -> tuple[list[int], int]:
        return counted(cache, matcher), len(cache.view.terms.matching(TermKind.REQUIRED_ANTI_AFFINITY, incoming))

    assert seen() == ([0], 0)
    cache.put_namespace(Namespace("theirs", {"team": "a"}))
    assert seen() == ([1], 1)
    cache.put_namespace(Namespace("theirs", {"team": "b"}))
    assert seen() == ([0], 0)
    cache.put_namespace(Namespace("theirs", {"team": "a"}))
    cache.drop_namespace("theirs")
    assert seen() == ([0], 0)


def test_a_row_that_became_free_is_in_no_domain() -> None:
    cache = make_cache([make_node("n1").zone("z"), make_node("n2").zone("z")])
    column = cache.view.domains.column("topology.kubernetes.io/zone")
    row = cache.view.row_of["n1"]
    cache.drop_node("n1")
    assert column.ids[row] == 0
    assert column.ids[cache.view.row_of["n2"]] > 0
