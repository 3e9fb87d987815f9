"""What nobody asks for any more, and what is not there any more, is let go."""

from __future__ import annotations

import gc
import weakref

from plimsoll.cluster.cache import Cache
from plimsoll.cluster.pod_counts import PodMatcher
from plimsoll.cluster.pod_terms import PodSelector
from plimsoll.cluster.selector_index import SelectorIndex
from plimsoll.cluster.selectors import LabelSelector
from plimsoll.cluster.term_index import TermKind
from tests.builders import make_cache, make_node, make_pod
from tests.filters.judging import term


def web(instance: int, *namespaces: str) -> PodSelector:
    labels = {"app": "web", "instance": str(instance)}
    return PodSelector(frozenset(namespaces or ("default",)), LabelSelector.parse({"matchLabels": labels}))


def test_thousands_of_pods_with_labels_of_their_own_leave_nothing_behind() -> None:
    cache = make_cache([make_node("n1")])
    everything = PodMatcher((PodSelector(frozenset({"default"}), LabelSelector()),))
    pods = [make_pod(f"p{i}").labels(app=f"a{i}").on("n1").info() for i in range(2000)]
    for pod in pods:
        cache.put_pod(pod)
    assert cache.view.pods.counts(everything).tolist() == [2000]
    assert cache.view.pods.classes == 2000
    for pod in pods:
        cache.drop_pod(pod.uid)
    assert cache.view.pods.counts(everything).tolist() == [0]
    assert cache.view.pods.classes == 0


def test_a_matcher_that_nobody_asks_for_any_more_is_let_go() -> None:
    view = make_cache([make_node("n1")], [make_pod().labels(app="web", instance="0").on("n1")]).view
    first, used = PodMatcher((web(0),)), PodMatcher((web(0),), terminating=False)
    kept = {matcher: weakref.ref(view.pods.counts(matcher).base) for matcher in (first, used)}
    for i in range(1, 1000):
        view.pods.counts(PodMatcher((web(i),)))
        assert view.pods.counts(used).tolist() == [1]
    gc.collect()
    assert kept[first]() is None
    assert kept[used]() is not None
    assert view.pods.counts(first).tolist() == [1]


def test_domains_that_no_node_is_in_any_more_give_their_numbers_back() -> None:
    cache = make_cache([make_node("n1").zone("z"), make_node("n2")])
    column = cache.view.domains.column("topology.kubernetes.io/zone")
    for i in range(100):
        cache.put_node(make_node("n2").zone(f"z{i}").info())
        cache.drop_node("n2")
    assert column.size <= 3
    assert column.names[int(column.ids[cache.view.row_of["n1"]])] == "z"


def test_a_topology_key_that_nobody_asks_for_any_more_is_let_go_and_comes_back_right() -> None:
    cache = make_cache([make_node("n1").zone("z")])
    kept = weakref.ref(cache.view.domains.column("topology.kubernetes.io/zone"))
    for i in range(100):
        cache.view.domains.column(f"key-{i}")
    gc.collect()
    assert kept() is None
    column = cache.view.domains.column("topology.kubernetes.io/zone")
    assert column.names[int(column.ids[0])] == "z"


def test_groups_of_terms_go_with_their_last_pod() -> None:
    cache = Cache()
    cache.put_node(make_node("n1").info())
    pods = [make_pod(f"p{i}").apart(term("zone", {"app": f"a{i}"})).on("n1").info() for i in range(100)]
    for pod in pods:
        cache.put_pod(pod)
    incoming = make_pod().labels(app="a7").info()
    assert len(cache.view.terms.matching(TermKind.REQUIRED_ANTI_AFFINITY, incoming)) == 1
    for pod in pods:
        cache.drop_pod(pod.uid)
    assert cache.view.terms.matching(TermKind.REQUIRED_ANTI_AFFINITY, incoming) == ()


def test_of_many_selectors_that_share_one_pair_few_are_asked() -> None:
    index: SelectorIndex[int] = SelectorIndex()
    for i in range(1000):
        index.add(i, (web(i),))
    assert len(list(index.candidates("default", {"app": "web", "instance": "7"}))) <= 2
    assert 7 in index.candidates("default", {"app": "web", "instance": "7"})
    assert list(index.candidates("other", {"app": "web", "instance": "7"})) == []


def test_of_many_selectors_of_other_namespaces_none_is_asked() -> None:
    index: SelectorIndex[int] = SelectorIndex()
    for i in range(1000):
        index.add(i, (web(0, f"ns-{i}"),))
    assert list(index.candidates("ns-7", {"app": "web", "instance": "0"})) == [7]


def test_what_was_taken_out_of_the_index_is_not_found() -> None:
    index: SelectorIndex[str] = SelectorIndex()
    index.add("one", (web(1),))
    index.add("nothing", (PodSelector(frozenset({"default"}), None),))
    index.remove("one")
    index.remove("nothing")
    assert list(index.candidates("default", {"app": "web", "instance": "1"})) == []
