"""Values of kube-scheduler's own tests of PodTopologySpread's score, and what these leave open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from plimsoll.cluster.kinds import KINDS
from plimsoll.cluster.services import Service
from plimsoll.scores.preferred import pod_topology_spread
from plimsoll.scores.preferred.caches import PreferenceCaches
from tests.builders import NodeBuilder, PodBuilder, make_cache, make_node, make_pod

HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
Json = dict[str, Any]


def node(name: str, **labels: str) -> NodeBuilder:
    """Without a hostname."""
    return make_node(name).metadata(labels=labels)


def hosts(*names: str) -> list[NodeBuilder]:
    return [make_node(name) for name in names]


def in_zones(**zones: str) -> list[NodeBuilder]:
    return [make_node(name).label("zone", zone) for name, zone in zones.items()]


def keyed(*names: str) -> list[NodeBuilder]:
    return [node(name, node=name) for name in names]


def pods(counts: Mapping[str, int] | str, *labels: str) -> list[PodBuilder]:
    """``pods("aab", "foo")``: two pods with the label foo on a, one on b."""
    names = counts if isinstance(counts, str) else "".join(name * count for name, count in counts.items())
    return [make_pod().labels(**dict.fromkeys(labels, "")).on(name) for name in names]


def having(label: str) -> Json:
    return {"matchExpressions": [{"key": label, "operator": "Exists"}]}


FOO, BAR = having("foo"), having("bar")


def anyway(key: str, selector: Json | None = FOO, *, skew: int = 1, **fields: Any) -> Json:
    constraint = {"topologyKey": key, "maxSkew": skew, "whenUnsatisfiable": "ScheduleAnyway", **fields}
    return constraint if selector is None else constraint | {"labelSelector": selector}


def spread(*constraints: Json) -> PodBuilder:
    return make_pod("p").labels(foo="", bar="", baz="").spec(topologySpreadConstraints=list(constraints))


def scores(
    pod: PodBuilder,
    nodes: Sequence[NodeBuilder],
    on_nodes: Sequence[PodBuilder],
    infeasible: str = "",
    services: Sequence[Service] = (),
) -> dict[str, int] | None:
    cache = make_cache(nodes, on_nodes)
    for service in services:
        cache.put_object(KINDS["Service"], service)
    feasible = np.array([n is not None and n.name not in infeasible for n in cache.view.nodes])
    found = pod_topology_spread.score(cache.view, pod.info(), feasible, PreferenceCaches())
    if found is None:
        return None
    return {n.name: int(found[row]) for row, n in cache.view.live_nodes() if feasible[row]}


@pytest.mark.parametrize(
    ("pod", "nodes", "on_nodes", "infeasible", "want"),
    [
        pytest.param(spread(anyway(HOSTNAME)), hosts(*"ab"), [], "", [100, 100], id="no pods"),
        pytest.param(spread(anyway(HOSTNAME)), hosts(*"ab"), pods("aab", "foo"), "b", [100], id="one candidate"),
        pytest.param(spread(anyway(HOSTNAME)), hosts(*"ab"), pods("ab", "foo"), "", [100, 100], id="as many"),
        pytest.param(
            spread(anyway(HOSTNAME)), hosts(*"abcd"), pods("aabddd", "foo"), "", [20, 60, 100, 0], id="2/1/0/3"
        ),
        pytest.param(
            spread(anyway(HOSTNAME, None)), hosts(*"abcd"), pods("aabddd", "foo"), "", [100] * 4, id="no selector"
        ),
        pytest.param(
            spread(anyway(HOSTNAME, {})), hosts(*"abcd"), pods("aabddd", "foo"), "", [100] * 4, id="selector of all"
        ),
        pytest.param(
            spread(anyway(HOSTNAME, skew=2)), hosts(*"abcd"), pods("aabddd", "foo"), "", [33, 66, 100, 16], id="skew 2"
        ),
        pytest.param(
            spread(anyway(HOSTNAME, skew=3)),
            hosts(*"abcd"),
            pods("aaaabbbccd", "foo"),
            "",
            [44, 66, 77, 100],
            id="skew 3",
        ),
        pytest.param(
            spread(anyway(HOSTNAME)), hosts(*"abxy"), pods("aaaabbxyyy", "foo"), "y", [33, 83, 100], id="4/2/1/~3~"
        ),
        pytest.param(
            spread(anyway(HOSTNAME)),
            [make_node("a"), node("b", n="b"), make_node("x"), make_node("y")],
            pods("aaaabbxyyy", "foo"),
            "y",
            [16, 0, 100],
            id="a node without the label",
        ),
        pytest.param(
            spread(anyway("zone")),
            in_zones(a="1", b="1", x="2", y="2"),
            pods("aaaabbxyyy", "foo"),
            "y",
            [75, 75, 100],
            id="zones count nodes that are no candidates",
        ),
        pytest.param(
            spread(anyway("zone"), anyway(HOSTNAME)),
            in_zones(a="1", b="1", x="2", y="2"),
            pods("aabxxyyyy", "foo"),
            "by",
            [100, 63],
            id="zone and node",
        ),
        pytest.param(
            spread(anyway("zone"), anyway("zone", BAR)),
            [node("a", zone="1"), node("x", zone="2"), node("b", zone="1"), node("y", zone="2")],
            [*pods("aby", "foo", "bar"), *pods("ayy", "foo")],
            "by",
            [85, 100],
            id="two constraints on one key",
        ),
        pytest.param(
            spread(anyway("zone"), anyway(HOSTNAME, BAR)),
            in_zones(a="1", b="1", x="2", y="2"),
            [*pods("ay", "foo"), *pods("b", "foo", "bar"), *pods("y", "bar")],
            "",
            [60, 20, 100, 60],
            id="different selectors",
        ),
        pytest.param(
            spread(anyway("zone"), anyway(HOSTNAME, BAR)),
            in_zones(a="1", b="1", x="2", y="2"),
            [*pods("b", "bar"), *pods("x", "foo"), *pods("y", "foo", "bar")],
            "",
            [100, 60, 40, 0],
            id="different selectors, nodes without pods",
        ),
        pytest.param(
            spread(anyway("zone"), anyway(HOSTNAME, BAR)),
            in_zones(a="1", b="1", x="2", y="2"),
            [*pods("ay", "foo"), *pods("b", "foo", "bar"), *pods("y", "bar")],
            "y",
            [50, 25, 100],
            id="different selectors, three candidates",
        ),
        pytest.param(
            spread(anyway(HOSTNAME)),
            hosts(*"ab"),
            [*pods("abb", "foo"), make_pod("p-a1", "ns1").labels(foo="").on("a")],
            "",
            [100, 33],
            id="other namespaces do not count",
        ),
        pytest.param(
            spread(anyway(HOSTNAME)),
            hosts(*"ab"),
            [make_pod().labels(foo="").on("a").deleting(), *pods("b", "foo")],
            "",
            [100, 0],
            id="terminating pods do not count",
        ),
        pytest.param(
            spread(anyway("node", skew=2, minDomains=10)),
            keyed(*"abc"),
            pods("aabbc", "foo"),
            "",
            [75, 75, 100],
            id="minDomains has no say",
        ),
        pytest.param(
            spread(
                anyway("zone", {}, matchLabelKeys=["foo"]),
                anyway(HOSTNAME, {}, matchLabelKeys=["bar"]),
            ),
            in_zones(a="1", b="1", c="2", d="2"),
            [*pods("ac", "foo"), *pods("b", "foo", "bar"), *pods("c", "bar")],
            "",
            [60, 20, 60, 100],
            id="matchLabelKeys with an empty selector",
        ),
        pytest.param(
            spread(anyway("zone"), anyway(HOSTNAME, BAR, matchLabelKeys=["baz"])),
            in_zones(a="1", b="1", c="2", d="2"),
            [*pods("ac", "foo"), *pods("b", "foo", "bar", "baz"), *pods("c", "bar"), *pods("c", "bar", "baz")],
            "",
            [60, 20, 60, 100],
            id="matchLabelKeys beside a selector",
        ),
    ],
)
def test_values_of_kube_scheduler(
    pod: PodBuilder, nodes: list[NodeBuilder], on_nodes: list[PodBuilder], infeasible: str, want: list[int]
) -> None:
    found = scores(pod, nodes, on_nodes, infeasible)
    assert found is not None
    assert list(found.values()) == want


FOO_NODES = [node("a", node="a", foo=""), node("b", node="b", foo=""), node("c", node="c")]
TAINTED = [*keyed("a", "b"), node("c", node="c").taint("foo")]
IN_FOO = {"matchExpressions": [{"key": "foo", "operator": "In", "values": [""]}]}


@pytest.mark.parametrize(
    ("pod", "nodes", "want"),
    [
        pytest.param(spread(anyway("node")).node_selector(foo=""), FOO_NODES, [0, 33, 100], id="honours nodeSelector"),
        pytest.param(
            spread(anyway("node", nodeAffinityPolicy="Ignore")).node_selector(foo=""),
            FOO_NODES,
            [66, 100, 100],
            id="ignores nodeSelector",
        ),
        pytest.param(
            spread(anyway("node")).required_node_affinity(IN_FOO), FOO_NODES, [0, 33, 100], id="honours node affinity"
        ),
        pytest.param(
            spread(anyway("node", nodeAffinityPolicy="Ignore")).required_node_affinity(IN_FOO),
            FOO_NODES,
            [66, 100, 100],
            id="ignores node affinity",
        ),
        pytest.param(spread(anyway("node", nodeTaintsPolicy="Honor")), TAINTED, [0, 33, 100], id="honours taints"),
        pytest.param(spread(anyway("node")), TAINTED, [66, 100, 100], id="ignores taints"),
        pytest.param(
            spread(anyway("node", nodeTaintsPolicy="Honor")).tolerate(key="foo", operator="Exists"),
            TAINTED,
            [66, 100, 100],
            id="tolerated taints are none",
        ),
        pytest.param(
            spread(anyway("node", nodeTaintsPolicy="Honor")),
            [*keyed("a", "b"), node("c", node="c").taint("foo", effect="PreferNoSchedule")],
            [66, 100, 100],
            id="nor are those that only ask",
        ),
    ],
)
def test_which_nodes_count(pod: PodBuilder, nodes: list[NodeBuilder], want: list[int]) -> None:
    found = scores(pod, nodes, pods("aabc", "foo"))
    assert found is not None
    assert list(found.values()) == want


def test_a_selector_that_cannot_be_read_is_set_aside() -> None:
    malformed = {"matchExpressions": [{"key": "foo", "operator": "Near"}]}
    assert scores(spread(anyway(HOSTNAME, malformed)), hosts(*"ab"), pods("a", "foo")) == {"a": 100, "b": 100}


def test_constraints_that_are_required_are_for_the_filter() -> None:
    pod = spread(anyway(HOSTNAME) | {"whenUnsatisfiable": "DoNotSchedule"})
    assert scores(pod, hosts(*"ab"), pods("a", "foo")) is None


# -- by default -------------------------------------------------------------------------------------------

WEB = Service("default", "web", {"foo": ""})


def test_without_constraints_or_services_nothing_is_spread() -> None:
    assert scores(make_pod().labels(foo=""), hosts(*"ab"), pods("aab", "foo")) is None


def test_by_default_the_pods_of_a_service_are_spread_over_nodes() -> None:
    """As if by one constraint of maxSkew 3: there are no zones."""
    found = scores(make_pod().labels(foo=""), hosts(*"abcd"), pods("aaaabbbccd", "foo"), services=[WEB])
    assert found == {"a": 44, "b": 66, "c": 77, "d": 100}


def test_by_default_zones_count_too_and_a_node_without_one_is_spread_by_its_name() -> None:
    zones = {"a": "1", "b": "1", "c": "2"}
    nodes = [*(make_node(name).label(ZONE, zone) for name, zone in zones.items()), make_node("d")]
    found = scores(make_pod().labels(foo=""), nodes, pods("aaabd", "foo"), services=[WEB])
    # Four nodes: ln 6 each; three zones, none being one of them: ln 5 each. Skews add 2 and 4.
    raw = {"a": 3 * np.log(6) + 2 + 4 * np.log(5) + 4, "b": np.log(6) + 2 + 4 * np.log(5) + 4, "c": 6, "d": 2}
    raw["d"] += np.log(6)
    rounded = {name: round(value) for name, value in raw.items()}
    most, least = max(rounded.values()), min(rounded.values())
    assert found == {name: 100 * (most + least - value) // most for name, value in rounded.items()}


def test_by_default_a_zone_without_a_name_is_no_zone() -> None:
    nodes = [make_node("a").label(ZONE, ""), make_node("b").label(ZONE, "1"), make_node("c")]
    on_nodes = [*pods("c" * 9, "foo"), *pods("b", "foo")]
    found = scores(make_pod().labels(foo=""), nodes, on_nodes, services=[WEB])
    # Pods on c count for a, which has the label; c itself is spread by its name alone.
    raw = [2 + 9 * np.log(4) + 4, np.log(5) + 2 + np.log(4) + 4, 9 * np.log(5) + 2]
    a, b, c = (round(value) for value in raw)
    assert found == {"a": 100 * b // a, "b": 100, "c": 100 * (a + b - c) // a}


def test_a_pod_with_constraints_of_its_own_is_not_spread_by_default() -> None:
    required = anyway(HOSTNAME) | {"whenUnsatisfiable": "DoNotSchedule"}
    assert scores(spread(required), hosts(*"ab"), pods("aab", "foo"), services=[WEB]) is None
