from __future__ import annotations

from typing import Any

import pytest

from tests.builders import PodBuilder, make_node, make_pod
from tests.rules.asking import HOST, ZONE, cluster, fits, reasons, term
from tests.scheduling.conftest import World

Json = dict[str, Any]
APP = {"matchLabels": {"app": "x"}}


def zones(*pods: PodBuilder) -> World:
    """One node in each of three zones."""
    return cluster(*(make_node(name).zone(name) for name in "abc"), pods=pods)


def x(name: str, node: str) -> PodBuilder:
    return make_pod(name).labels(app="x").on(node)


def uneven() -> World:
    """Two in a, one in b, none in c."""
    return zones(x("1", "a"), x("2", "a"), x("3", "b"))


def spread(*, self_match: bool = True, **fields: Any) -> PodBuilder:
    pod = make_pod("web").spread_over(ZONE, APP, **fields)
    return pod.labels(app="x") if self_match else pod


@pytest.mark.parametrize(
    ("pod", "want"),
    [
        pytest.param(spread(), {"c"}, id="a skew of 1"),
        pytest.param(spread(self_match=False), {"b", "c"}, id="the pod itself does not match"),
        pytest.param(spread(skew=2), {"b", "c"}, id="a skew of 2"),
        pytest.param(spread(whenUnsatisfiable="ScheduleAnyway"), {"a", "b", "c"}, id="a wish is no constraint"),
    ],
)
def test_pods_are_spread_with(pod: PodBuilder, want: set[str]) -> None:
    assert fits(uneven(), pod) == want


def test_domains_that_are_missing_count_as_empty() -> None:
    everywhere = zones(*(x(name, name) for name in "abc"))
    assert fits(everywhere, spread()) == {"a", "b", "c"}
    assert fits(everywhere, spread(minDomains=4)) == set()
    assert fits(zones(x("1", "a"), x("2", "b")), spread(minDomains=4)) == {"c"}


def test_a_node_without_the_key_is_refused() -> None:
    world = cluster(make_node("bare"), make_node("a").zone("a"))
    missing = "node(s) didn't match pod topology spread constraints (missing required label)"
    assert reasons(world, spread()) == {"bare": (missing,)}


def test_replicas_of_another_template_are_told_apart_by_match_label_keys() -> None:
    old = [make_pod(n).labels(app="x", hash="old").on("a") for n in ("1", "2")]
    assert fits(zones(*old), spread(matchLabelKeys=["hash"]).labels(hash="new")) == {"a", "b", "c"}


def test_nodes_that_the_pod_cannot_use_count_unless_it_says_otherwise() -> None:
    nodes = (make_node("a").zone("a"), make_node("b").zone("b").taint("t"))
    world = cluster(*nodes, pods=[x("1", "a")])
    assert fits(world, spread(nodeTaintsPolicy="Honor")) == {"a"}
    assert fits(world, spread(nodeTaintsPolicy="Ignore")) == set()


# -- affinity -------------------------------------------------------------------------------------------------


def test_a_pod_goes_to_those_that_it_wants_near() -> None:
    assert fits(zones(x("1", "b")), make_pod().together(term(ZONE, app="x"))) == {"b"}
    assert reasons(zones(), make_pod().together(term(ZONE, app="x"))) == dict.fromkeys(
        "abc", ("node(s) didn't match pod affinity rules",)
    )


@pytest.mark.parametrize(
    "there",
    [
        pytest.param([], id="no such pod at all"),
        pytest.param([make_pod("1", "other").labels(app="x").on("b")], id="only in another namespace"),
    ],
)
def test_the_first_of_a_group_goes_anywhere_that_has_the_key(there: list[PodBuilder]) -> None:
    world = zones(*there)
    world.nodes(make_node("bare"))
    assert fits(world, make_pod().labels(app="x").together(term(ZONE, app="x"))) == {"a", "b", "c"}


def test_a_pod_keeps_away_from_those_that_it_wants_far() -> None:
    world = zones(x("1", "b"))
    assert reasons(world, make_pod().apart(term(ZONE, app="x"))) == {
        "b": ("node(s) didn't match pod anti-affinity rules",)
    }


@pytest.mark.parametrize(
    ("there", "refused"),
    [
        pytest.param(make_pod("1").on("b"), True, id="running"),
        pytest.param(make_pod("1").on("b").deleting(), True, id="terminating"),
        pytest.param(make_pod("1").on("b").phase("Succeeded"), False, id="ended"),
    ],
)
def test_a_pod_keeps_away_from_those_that_want_it_far(there: PodBuilder, *, refused: bool) -> None:
    world = zones(there.apart(term(ZONE, app="x")))
    world.nodes(make_node("b2").zone("b"))
    sentence = ("node(s) didn't satisfy existing pods anti-affinity rules",)
    assert reasons(world, make_pod().labels(app="x")) == ({"b": sentence, "b2": sentence} if refused else {})


def test_a_namespace_selector_widens_whom_a_term_is_about() -> None:
    world = zones(make_pod("1", "other").labels(app="x").on("b"))
    world.scheduler.namespace_seen("other", {"team": "t"}, now_s=world.now_s)
    apart = term(HOST, app="x")
    assert fits(world, make_pod().apart(apart)) == {"a", "b", "c"}
    assert fits(world, make_pod().apart({**apart, "namespaceSelector": {"matchLabels": {"team": "t"}}})) == {"a", "c"}
    assert fits(world, make_pod().apart({**apart, "namespaces": ["other"]})) == {"a", "c"}
