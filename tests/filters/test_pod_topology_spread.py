from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from plimsoll.filters.interface import Code, Overlay, Problem, Reason
from plimsoll.filters.pod_topology_spread import SKEWED, UNLABELLED, PodTopologySpread, SpreadOfPod
from tests.builders import NodeBuilder, PodBuilder, make_cache, make_node, make_pod
from tests.filters.judging import refused

FOO = {"matchExpressions": [{"key": "foo", "operator": "Exists"}]}
BAR = {"matchExpressions": [{"key": "bar", "operator": "Exists"}]}
IGNORE, HONOR = "Ignore", "Honor"
TOO_MANY, NO_LABEL = Reason(SKEWED, resolvable=True), Reason(UNLABELLED, resolvable=False)


def four_nodes() -> dict[str, NodeBuilder]:
    """a and b in zone1, x and y in zone2."""
    zones = {"a": "zone1", "b": "zone1", "x": "zone2", "y": "zone2"}
    return {name: make_node(name).label("zone", zone).label("node", name) for name, zone in zones.items()}


def foo(**labels: str) -> PodBuilder:
    return make_pod().labels(foo="", **labels)


def on(**pods: str) -> list[PodBuilder]:
    """``on(a="foo foobar")``: a pod with label foo and one with foo and bar on node a."""
    labels = {"foo": {"foo": ""}, "bar": {"bar": ""}, "foobar": {"foo": "", "bar": ""}}
    return [make_pod().labels(**labels[kind]).on(node) for node, kinds in pods.items() for kind in kinds.split()]


def judged(pod: PodBuilder, pods: list[PodBuilder], nodes: dict[str, NodeBuilder]) -> Any:
    return refused(PodTopologySpread(), make_cache(nodes.values(), pods), pod.info())


@pytest.mark.parametrize(
    ("pod", "pods", "too_many"),
    [
        pytest.param(foo().spread_over("zone", FOO), [], "", id="no existing pods"),
        pytest.param(foo().spread_over("zone", BAR), [], "", id="no existing pods, and no match with itself"),
        pytest.param(foo().spread_over("zone", None), on(x="foo", y="foo"), "", id="an absent selector selects none"),
        pytest.param(foo().spread_over("zone", FOO), on(a="foo foo", b="foo", y="foo foo foo"), "", id="zones 3/3"),
        pytest.param(foo().spread_over("node", FOO), on(a="foo foo", b="foo", y="foo foo foo"), "aby", id="2/1/0/3"),
        pytest.param(
            foo().spread_over("node", FOO, skew=2), on(a="foo foo", b="foo", y="foo foo foo"), "ay", id="maxSkew 2"
        ),
        pytest.param(
            make_pod().labels(bar="").spread_over("node", FOO),
            on(a="foo foo", b="foo", y="foo foo foo"),
            "ay",
            id="2/1/0/3 without a match with itself",
        ),
        pytest.param(
            foo().required_node_affinity({"matchExpressions": [{"key": "node", "operator": "In", "values": ["a", "y"]}]})
            .spread_over("node", FOO),
            on(a="foo foo", b="foo", y="foo foo foo"),
            "y",
            id="nodes outside the node affinity do not count",
        ),
        pytest.param(
            foo().required_node_affinity({"matchExpressions": [{"key": "node", "operator": "NotIn", "values": ["b"]}]})
            .spread_over("zone", FOO),
            on(b="foo foo", y="foo"),
            "xy",
            id="0/~2~/0/1",
        ),
        pytest.param(
            foo().spread_over("zone", FOO, skew=2, minDomains=3), on(a="foo", b="foo", y="foo"), "ab", id="minDomains"
        ),
        pytest.param(
            foo().spread_over("zone", FOO, skew=2, minDomains=1), on(a="foo", b="foo", y="foo"), "", id="enough domains"
        ),
        pytest.param(
            foo().spread_over("zone", FOO).spread_over("node", FOO),
            on(a="foo foo", b="foo", y="foo foo foo"),
            "aby",
            id="zone and node, 3/3 and 2/1/0/3",
        ),
        pytest.param(
            foo().spread_over("zone", FOO).spread_over("node", FOO),
            on(a="foo foo", b="foo", y="foo foo foo foo"),
            "abxy",
            id="zone and node, 3/4 and 2/1/0/4",
        ),
        pytest.param(
            foo(bar="").spread_over("zone", FOO).spread_over("node", BAR),
            on(a="foo", y="bar"),
            "aby",
            id="different selectors, 1/0 and 1/0/0/1",
        ),
        pytest.param(
            foo(bar="").spread_over("zone", FOO).spread_over("node", BAR),
            on(a="foo", x="bar", y="bar"),
            "abxy",
            id="different selectors, 1/0 and 0/0/1/1",
        ),
        pytest.param(
            foo(bar="").spread_over("zone", FOO).spread_over("node", BAR),
            on(a="foo foobar", y="foo foobar foo"),
            "axy",
            id="different selectors, 2/3 and 1/0/0/1",
        ),
        pytest.param(
            make_pod().labels(bar="").spread_over("zone", FOO).spread_over("node", BAR),
            on(a="foo", x="bar", y="bar"),
            "xy",
            id="different selectors, and no match with itself in zones",
        ),
        pytest.param(
            foo(bar="").spread_over("zone", BAR).spread_over("zone", FOO),
            on(a="foobar foo", b="foobar", y="foo foobar foo"),
            "ab",
            id="two over zones, 3/3 and 2/1",
        ),
        pytest.param(
            foo(bar="").spread_over("zone", BAR).spread_over("zone", FOO),
            on(a="foobar foo", b="foobar", y="foo foobar foo foo"),
            "abxy",
            id="two over zones, 3/4 and 2/1",
        ),
        pytest.param(
            foo().spread_over("zone", FOO),
            [
                make_pod(namespace="ns1").labels(foo="").on("a"),
                make_pod(namespace="ns2").labels(foo="").on("a"),
                *on(x="foo", y="foo"),
            ],
            "xy",
            id="pods of other namespaces do not count",
        ),
        pytest.param(
            foo().spread_over("node", FOO),
            [make_pod().labels(foo="").on("a").deleting(), *on(b="foo", x="foo", y="foo")],
            "bxy",
            id="terminating pods do not count",
        ),
        pytest.param(
            foo().spread_over("zone", FOO),
            [*on(x="foo"), make_pod().labels(foo="").on("y").phase("Succeeded")],
            "xy",
            id="terminated pods do not count",
        ),
        pytest.param(
            foo(version="2").spread_over("node", FOO, matchLabelKeys=["version"]),
            [*on(a="foo"), make_pod().labels(foo="", version="2").on("b")],
            "b",
            id="matchLabelKeys narrow the selector",
        ),
        pytest.param(
            foo(version="2").spread_over("node", {}, matchLabelKeys=["version"]),
            [*on(a="foo"), make_pod().labels(version="2").on("b")],
            "b",
            id="matchLabelKeys narrow an empty selector",
        ),
        pytest.param(
            foo(version="2").spread_over("node", None, matchLabelKeys=["version"]),
            [make_pod().labels(foo="", version="2").on("b")],
            "",
            id="matchLabelKeys make nothing of an absent selector",
        ),
        pytest.param(
            foo().spread_over("node", FOO, matchLabelKeys=["version"]),
            [*on(a="foo"), make_pod().labels(foo="", version="2").on("b")],
            "ab",
            id="a key that the pod lacks is left out",
        ),
    ],
)  # fmt: skip
def test_pods_spread_as_in_kube_scheduler(pod: PodBuilder, pods: list[PodBuilder], too_many: str) -> None:
    assert judged(pod, pods, four_nodes()) == dict.fromkeys(too_many, TOO_MANY)


_AFFINE = [{"matchExpressions": [{"key": "foo", "operator": "In", "values": [""]}]}]


@pytest.mark.parametrize(
    ("pod", "labelled", "tainted", "want"),
    [
        pytest.param(foo().node_selector(foo="").spread_over("node", FOO), "abx", "", "ab", id="nodeSelector honored"),
        pytest.param(
            foo().node_selector(foo="").spread_over("node", FOO, nodeAffinityPolicy=IGNORE),
            "abx", "", "aby", id="nodeSelector ignored",
        ),
        pytest.param(
            foo().required_node_affinity(*_AFFINE).spread_over("node", FOO), "abx", "", "ab", id="affinity honored"
        ),
        pytest.param(
            foo().required_node_affinity(*_AFFINE).spread_over("node", FOO, nodeAffinityPolicy=IGNORE),
            "abx", "", "aby", id="affinity ignored",
        ),
        pytest.param(
            foo().spread_over("node", FOO, nodeTaintsPolicy=HONOR), "abx", "y", "ab", id="taints honored"
        ),
        pytest.param(foo().spread_over("node", FOO), "abx", "y", "aby", id="taints ignored, as is the default"),
        pytest.param(
            foo().tolerate(operator="Exists").spread_over("node", FOO, nodeTaintsPolicy=HONOR),
            "abx", "y", "aby", id="taints honored and tolerated",
        ),
        pytest.param(
            foo().node_selector(foo="").spread_over("zone", FOO).spread_over("node", FOO, nodeAffinityPolicy=IGNORE),
            "abx", "", "aby", id="zone honor/ignore, node ignore/ignore",
        ),
        pytest.param(
            foo().spread_over("zone", FOO, nodeTaintsPolicy=HONOR).spread_over("node", FOO),
            "abx", "y", "aby", id="zone honor/honor, node honor/ignore",
        ),
        pytest.param(
            foo().node_selector(foo="").spread_over("zone", FOO).spread_over("node", FOO),
            "axy", "y", "ay", id="zone honor/ignore, node honor/ignore",
        ),
        pytest.param(
            foo().node_selector(foo="").spread_over("zone", FOO, nodeTaintsPolicy=HONOR)
            .spread_over("node", FOO, nodeAffinityPolicy=IGNORE),
            "axy", "y", "aby", id="zone honor/honor, node ignore/ignore",
        ),
    ],
)  # fmt: skip
def test_nodes_that_the_policies_leave_out_do_not_count(
    pod: PodBuilder, labelled: str, tainted: str, want: str
) -> None:
    """One pod on each of a, b and y; nodes x and y may lack the label foo or have a taint."""
    nodes = four_nodes()
    for name in labelled:
        nodes[name].label("foo", "")
    for name in tainted:
        nodes[name].taint("a")
    assert judged(pod, on(a="foo", b="foo", y="foo"), nodes) == dict.fromkeys(want, TOO_MANY)


def test_a_node_without_the_key_is_refused_for_good_and_counts_in_no_domain() -> None:
    nodes = four_nodes() | {"b": make_node("b").label("zon", "zone1")}
    got = judged(foo().spread_over("zone", FOO), on(a="foo", b="foo", x="foo", y="foo"), nodes)
    assert got == {"b": NO_LABEL, "x": TOO_MANY, "y": TOO_MANY}


def test_a_node_that_lacks_one_of_two_keys_counts_for_neither() -> None:
    nodes = four_nodes() | {"x": make_node("x").label("zone", "zone2")}
    got = judged(foo().spread_over("zone", FOO).spread_over("node", FOO), on(a="foo", x="foo foo", y="foo"), nodes)
    assert got == {"a": TOO_MANY, "x": NO_LABEL, "y": TOO_MANY}


def test_the_first_constraint_that_a_node_fails_names_the_reason() -> None:
    nodes = four_nodes() | {"x": make_node("x").label("zone", "zone2")}
    pods = on(y="foo foo")
    both = foo().spread_over("zone", FOO).spread_over("node", FOO)
    assert judged(both, pods, nodes) == {"x": TOO_MANY, "y": TOO_MANY}
    turned = foo().spread_over("node", FOO).spread_over("zone", FOO)
    assert judged(turned, pods, nodes) == {"x": NO_LABEL, "y": TOO_MANY}


@pytest.mark.parametrize(
    ("pod", "want"),
    [
        pytest.param(foo().spread_over("zone", FOO), "ab", id="only the emptiest zone"),
        pytest.param(foo().spread_over("zone", FOO, minDomains=4), "ab", id="with more domains wanted than there are"),
        pytest.param(make_pod().spread_over("zone", FOO), "a", id="without a match with itself"),
    ],
)
def test_three_zones_with_two_pods_one_and_none(pod: PodBuilder, want: str) -> None:
    nodes = {name: make_node(name).label("zone", name) for name in "abc"}
    assert judged(pod, on(a="foo foo", b="foo"), nodes) == dict.fromkeys(want, TOO_MANY)


def test_an_empty_selector_counts_no_pod_but_the_pod_itself() -> None:
    """Nothing is refused whatever runs there, unless fewer than minDomains are there and the pod alone is too many."""
    pods = on(a="foo foo foo")
    assert judged(foo().spread_over("zone", {}), pods, four_nodes()) == {}
    assert judged(foo().spread_over("zone", {}, skew=0), pods, four_nodes()) == dict.fromkeys("abxy", TOO_MANY)


def test_cordoned_nodes_are_domains_too() -> None:
    nodes = four_nodes()
    nodes["x"].cordoned()
    nodes["y"].cordoned()
    assert judged(foo().spread_over("zone", FOO), on(a="foo"), nodes) == dict.fromkeys("ab", TOO_MANY)


@pytest.mark.parametrize(
    "pod",
    [
        pytest.param(foo(), id="no constraint"),
        pytest.param(foo().spread_over("zone", FOO, whenUnsatisfiable="ScheduleAnyway"), id="a soft one"),
        pytest.param(
            foo().spread_over("zone", {"matchLabels": {"a": "not a value"}}, whenUnsatisfiable="ScheduleAnyway"),
            id="a malformed soft one",
        ),
    ],
)
def test_a_pod_without_a_hard_constraint_is_not_looked_at(pod: PodBuilder) -> None:
    assert judged(pod, on(a="foo"), four_nodes()) is None


def test_a_malformed_selector_is_an_error_of_the_whole_pod() -> None:
    selector = {"matchExpressions": [{"key": "foo", "operator": "Has"}]}
    got = judged(foo().spread_over("node", FOO).spread_over("zone", selector), [], four_nodes())
    assert got == Problem(
        "get constraints from pod: obtaining pod's hard topology spread constraints: "
        '"Has" is not a valid label selector operator',
        Code.ERROR,
    )


@pytest.mark.parametrize(
    ("overlay", "refused_at"),
    [
        pytest.param(lambda: Overlay(added=(foo().info(),)), "a", id="a nominated pod"),
        pytest.param(lambda: Overlay(added=(foo().deleting().info(),)), "a", id="one that terminates"),
        pytest.param(lambda: Overlay(added=(make_pod(namespace="x").labels(foo="").info(),)), "", id="elsewhere"),
        pytest.param(lambda: Overlay(added=(make_pod().info(),)), "", id="one that is not selected"),
    ],
)
def test_pods_of_the_overlay_count_on_their_node(overlay: Callable[[], Overlay], refused_at: str) -> None:
    view = make_cache(four_nodes().values()).view
    prepared = PodTopologySpread().prepare(view, foo().spread_over("zone", FOO).info())
    assert isinstance(prepared, SpreadOfPod)
    got = prepared.check(view.row_of["a"], overlay())
    assert got == ((TOO_MANY,) if refused_at else ())


def test_removing_a_terminating_victim_counts_though_it_was_not_counted() -> None:
    """kube-scheduler's RemovePod does not ask whether the pod terminates."""
    victim = foo().on("a").deleting()
    cache = make_cache(four_nodes().values(), [*on(a="foo", y="foo"), victim])
    prepared = PodTopologySpread().prepare(cache.view, foo().spread_over("zone", FOO).info())
    assert isinstance(prepared, SpreadOfPod)
    assert prepared.check(cache.view.row_of["a"], Overlay()) == ()
    assert prepared.constraints[0].at(cache.view.row_of["a"]).skewed(-1) is False
    twice = Overlay(added=(foo().info(), foo().info()), removed=(victim.info(),))
    assert prepared.check(cache.view.row_of["a"], twice) == (TOO_MANY,)
    without = Overlay(added=(foo().info(), foo().info()), removed=(victim.info(), victim.info()))
    assert prepared.check(cache.view.row_of["a"], without) == ()


def checked(pod: PodBuilder, nodes: dict[str, NodeBuilder], pods: list[PodBuilder], at: str, overlay: Overlay) -> Any:
    view = make_cache(nodes.values(), pods).view
    prepared = PodTopologySpread().prepare(view, pod.info())
    assert isinstance(prepared, SpreadOfPod)
    return prepared.check(view.row_of[at], overlay)


def test_pods_of_the_overlay_do_not_count_on_nodes_that_do_not_count() -> None:
    nodes = four_nodes()
    for name in "axy":
        nodes[name].label("disk", "ssd")
    pod, one_more = foo().node_selector(disk="ssd").spread_over("zone", FOO), Overlay(added=(foo().info(),))
    assert checked(pod, nodes, [], "b", one_more) == ()
    assert checked(pod, nodes, [], "a", one_more) == (TOO_MANY,)


def test_another_domain_may_have_the_fewest_pods_with_the_overlay() -> None:
    nodes = {name: make_node(name).label("zone", name) for name in "abc"}
    pod = make_pod().spread_over("zone", FOO)
    two_more = Overlay(added=(foo().info(), foo().info()))
    assert checked(pod, nodes, on(b="foo", c="foo"), "a", two_more) == ()
    assert checked(pod, nodes, on(b="foo"), "a", two_more) == (TOO_MANY,)
    pods = on(a="foo foo foo", b="foo", c="foo foo")
    one_less = Overlay(removed=(pods[0].info(),))
    assert checked(pod, nodes, pods, "a", Overlay()) == (TOO_MANY,)
    assert checked(pod, nodes, pods, "a", one_less) == ()
