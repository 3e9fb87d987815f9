"""Rows of kube-scheduler's queueing hints, and changes that help which its own hints miss."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.cluster.cache import Cache
from plimsoll.cluster.changes import Change
from plimsoll.cluster.changes import ChangeKind as Kind
from plimsoll.cluster.namespace import Namespace
from plimsoll.filters.inter_pod_affinity import InterPodAffinity
from plimsoll.filters.interface import ClusterFilter
from plimsoll.filters.pod_topology_spread import PodTopologySpread
from tests.builders import NodeBuilder, PodBuilder, make_cache, make_node, make_pod
from tests.filters.judging import exists, term

FOO = {"matchLabels": {"foo": "a"}}
BAR = {"matchLabels": {"bar": "a"}}


def woken(
    by: ClusterFilter, pod: PodBuilder, kind: Kind, before: Any = None, after: Any = None, *, cache: Cache | None = None
) -> bool:
    change = Change(kind, *(thing and thing.info() for thing in (before, after)))
    return bool(kind & by.wakes) and by.helps(change, pod.info(), (cache or Cache()).view)


def foo(value: str = "a", namespace: str = "default") -> PodBuilder:
    return make_pod(namespace=namespace).labels(foo=value).on("n1")


def node(**labels: str) -> NodeBuilder:
    built = make_node("n1")
    for key, value in labels.items():
        built.label(key, value)
    return built


SPREAD = make_pod("waiting").spread_over("zone", FOO).spread_over("rack", BAR)


@pytest.mark.parametrize(
    ("kind", "before", "after", "wakes"),
    [
        pytest.param(Kind.POD_ADDED, None, foo(), True, id="a selected pod was added"),
        pytest.param(Kind.POD_ADDED, None, make_pod().labels(bar="a").on("n1"), True, id="one of the other constraint"),
        pytest.param(Kind.POD_ADDED, None, foo("b"), False, id="one that is not selected"),
        pytest.param(Kind.POD_ADDED, None, foo(namespace="x"), False, id="one of another namespace"),
        pytest.param(Kind.POD_DELETED, foo(), None, True, id="a selected pod was deleted"),
        pytest.param(Kind.POD_DELETED, foo("b"), None, False, id="another was deleted"),
        pytest.param(Kind.POD_DELETED | Kind.POD_ADDED, foo(), foo(), True, id="one went elsewhere"),
        pytest.param(Kind.POD_DELETING, foo(), foo().deleting(), True, id="one terminates, and counts no more"),
        pytest.param(Kind.NOMINATION_ENDED, foo(), None, True, id="a nominated one gave up"),
        pytest.param(Kind.POD_LABELS, foo("b"), foo(), True, id="one is selected now"),
        pytest.param(Kind.POD_LABELS, foo(), foo("b"), True, id="one is not selected any more"),
        pytest.param(Kind.POD_LABELS, foo(), foo().labels(x="y"), False, id="labels that do not matter"),
        pytest.param(Kind.POD_SHRUNK, foo(), foo(), False, id="one that shrank"),
        pytest.param(Kind.NODE_ADDED, None, node(zone="1", rack="1"), True, id="a node with all keys was added"),
        pytest.param(Kind.NODE_ADDED, None, node(zone="1"), False, id="a node with some keys"),
        pytest.param(Kind.NODE_DELETED, node(zone="1", rack="1"), None, True, id="a node with all keys was deleted"),
        pytest.param(Kind.NODE_DELETED, node(zone="1"), None, False, id="a node with some keys was deleted"),
        pytest.param(Kind.NODE_LABELS, node(zone="1"), node(zone="1", rack="1"), True, id="a node has all keys now"),
        pytest.param(Kind.NODE_LABELS, node(zone="1", rack="1"), node(zone="1"), True, id="a node lost a key"),
        pytest.param(
            Kind.NODE_LABELS, node(zone="1", rack="1"), node(zone="2", rack="1"), True, id="a node went elsewhere"
        ),
        pytest.param(
            Kind.NODE_LABELS, node(zone="1", rack="1"), node(zone="1", rack="1", x="y"), False, id="other labels"
        ),
        pytest.param(Kind.NODE_LABELS, node(zone="1"), node(zone="2"), False, id="a node that does not count"),
        pytest.param(
            Kind.NODE_TAINTS, node(zone="1", rack="1"), node(zone="1", rack="1").taint("a"), True, id="other taints"
        ),
        pytest.param(Kind.NODE_TAINTS, node(zone="1"), node(zone="1").taint("a"), False, id="taints of one apart"),
        pytest.param(Kind.NODE_ALLOCATABLE, node(zone="1", rack="1"), node(zone="1", rack="1"), False, id="room"),
    ],
)  # fmt: skip
def test_what_wakes_a_pod_that_spread_rejected(kind: Kind, before: Any, after: Any, wakes: bool) -> None:  # noqa: FBT001
    assert woken(PodTopologySpread(), SPREAD, kind, before, after) == wakes


def test_a_node_that_does_not_count_for_the_pods_affinity_any_more_may_help_spreading() -> None:
    pod = make_pod().node_selector(disk="ssd").spread_over("zone", FOO)
    before, after = node(zone="1", disk="ssd"), node(zone="1")
    assert woken(PodTopologySpread(), pod, Kind.NODE_LABELS, before, after)


TOGETHER = make_pod("waiting").together(term("zone", {"foo": "a"}), exists("foo", "rack"))
APART = make_pod("waiting").labels(me="b").apart(term("zone", {"foo": "a"}), term("rack", {"bar": "a"}))
NONE = make_pod("waiting").labels(me="b")
HATES_ME = make_pod().on("n1").apart(term("zone", {"me": "b"}))


@pytest.mark.parametrize(
    ("pod", "kind", "before", "after", "wakes"),
    [
        pytest.param(TOGETHER, Kind.POD_ADDED, None, foo(), True, id="one that all terms select was added"),
        pytest.param(TOGETHER, Kind.POD_ADDED, None, foo("b"), False, id="one that only one term selects"),
        pytest.param(TOGETHER, Kind.POD_ADDED, None, foo(namespace="x"), False, id="one of another namespace"),
        pytest.param(TOGETHER, Kind.POD_LABELS, foo("b"), foo(), True, id="one is selected now"),
        pytest.param(TOGETHER, Kind.POD_LABELS, foo(), foo().labels(x="y"), False, id="one was selected before"),
        pytest.param(TOGETHER, Kind.POD_DELETED, foo(), None, False, id="the one to join was deleted"),
        pytest.param(TOGETHER, Kind.POD_DELETED | Kind.POD_ADDED, foo(), foo(), True, id="the one to join moved"),
        pytest.param(APART, Kind.POD_ADDED, None, foo(), False, id="another to keep away from"),
        pytest.param(APART, Kind.POD_DELETED, foo(), None, True, id="one of two kinds to keep away from is gone"),
        pytest.param(APART, Kind.POD_DELETED, foo("b"), None, False, id="one that it does not mind is gone"),
        pytest.param(APART, Kind.POD_LABELS, foo(), foo("b"), True, id="one is not such a pod any more"),
        pytest.param(APART, Kind.POD_LABELS, foo(), foo().labels(x="y"), False, id="one still is"),
        pytest.param(APART, Kind.NOMINATION_ENDED, foo(), None, True, id="a nominated one gave up"),
        pytest.param(NONE, Kind.POD_DELETED, HATES_ME, None, True, id="one that keeps away from it is gone"),
        pytest.param(NONE, Kind.POD_DELETED, foo(), None, False, id="one that minds nobody is gone"),
        pytest.param(NONE, Kind.POD_LABELS, HATES_ME, HATES_ME, False, id="labels of one that keeps away"),
        pytest.param(NONE, Kind.POD_DELETING, HATES_ME, HATES_ME, False, id="one that terminates still counts"),
        pytest.param(TOGETHER, Kind.NODE_ADDED, None, node(zone="1"), True, id="a node with a key was added"),
        pytest.param(TOGETHER, Kind.NODE_ADDED, None, node(), False, id="a node without any key"),
        pytest.param(APART, Kind.NODE_ADDED, None, node(), True, id="any node, to keep away on"),
        pytest.param(NONE, Kind.NODE_ADDED, None, node(), True, id="any node, away from those that keep away"),
        pytest.param(NONE, Kind.NODE_DELETED, node(), None, True, id="a node is gone with its pods"),
        pytest.param(TOGETHER, Kind.NODE_LABELS, node(), node(rack="1"), True, id="a node got a key to be together"),
        pytest.param(TOGETHER, Kind.NODE_LABELS, node(rack="1"), node(rack="2"), True, id="a node went elsewhere"),
        pytest.param(TOGETHER, Kind.NODE_LABELS, node(rack="1"), node(rack="1", x="y"), False, id="other labels"),
        pytest.param(APART, Kind.NODE_LABELS, node(rack="1"), node(), True, id="a node lost a key to be apart"),
        pytest.param(APART, Kind.NODE_LABELS, node(rack="1"), node(rack="2"), True, id="a node left a domain"),
        pytest.param(APART, Kind.NODE_LABELS, node(), node(rack="1"), False, id="a node got a key to be apart"),
        pytest.param(NONE, Kind.NODE_LABELS, node(rack="1"), node(rack="2"), False, id="nobody's key"),
        pytest.param(NONE, Kind.NODE_TAINTS, node(), node().taint("a"), False, id="taints"),
    ],
)  # fmt: skip
def test_what_wakes_a_pod_that_affinity_rejected(
    pod: PodBuilder,
    kind: Kind,
    before: Any,
    after: Any,
    wakes: bool,  # noqa: FBT001
) -> None:
    cache = make_cache([node(zone="1")], [foo()])
    assert woken(InterPodAffinity(), pod, kind, before, after, cache=cache) == wakes


def test_a_node_that_leaves_the_domain_of_a_pod_that_keeps_away_may_help() -> None:
    cache = make_cache([node(zone="1")], [HATES_ME])
    assert woken(InterPodAffinity(), NONE, Kind.NODE_LABELS, node(zone="1"), node(zone="2"), cache=cache)
    assert not woken(InterPodAffinity(), NONE, Kind.NODE_LABELS, node(rack="1"), node(rack="2"), cache=cache)


def test_the_last_pod_to_join_is_gone_and_the_group_may_start_anew() -> None:
    pod = make_pod("waiting").labels(foo="a").together(term("zone", {"foo": "a"}))
    assert woken(InterPodAffinity(), pod, Kind.POD_DELETED, foo(), None, cache=make_cache([node(zone="1")]))
    others = make_cache([node(zone="1")], [foo()])
    assert not woken(InterPodAffinity(), pod, Kind.POD_DELETED, foo(), None, cache=others)


def test_a_selected_namespaces_pods_wake() -> None:
    pod = make_pod("waiting").together(term("zone", {"foo": "a"}, namespaceSelector={"matchLabels": {"team": "x"}}))
    cache = make_cache([node(zone="1")])
    cache.put_namespace(Namespace("theirs", {"team": "x"}))
    assert woken(InterPodAffinity(), pod, Kind.POD_ADDED, None, foo(namespace="theirs"), cache=cache)
    assert not woken(InterPodAffinity(), pod, Kind.POD_ADDED, None, foo(), cache=cache)


@pytest.mark.parametrize(
    ("pod", "name", "wakes"),
    [
        pytest.param(make_pod().apart(term("zone", namespaceSelector=FOO)), "theirs", True, id="selected by labels"),
        pytest.param(make_pod().apart(term("zone")), "theirs", False, id="named"),
        pytest.param(make_pod(), "default", True, id="its own: others may select it by labels"),
        pytest.param(make_pod(), "theirs", False, id="another's"),
    ],
)
def test_labels_of_namespaces_may_help(pod: PodBuilder, name: str, wakes: bool) -> None:  # noqa: FBT001
    change = Change(Kind.NAMESPACE_LABELS, Namespace(name), Namespace(name, {"a": "b"}))
    assert InterPodAffinity().helps(change, pod.info(), Cache().view) == wakes
    gone = Change(Kind.NAMESPACE_LABELS, Namespace(name))
    assert InterPodAffinity().helps(gone, pod.info(), Cache().view) == wakes
