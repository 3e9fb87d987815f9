"""Values of kube-scheduler's own tests of TaintToleration's and NodeAffinity's score."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from plimsoll.scores.preferred import node_affinity, taint_toleration
from plimsoll.scores.preferred.caches import PreferenceCaches
from tests.builders import NodeBuilder, PodBuilder, make_cache, make_node, make_pod

PREFER = "PreferNoSchedule"


def taint_scores(pod: PodBuilder, nodes: Sequence[NodeBuilder]) -> list[int]:
    view = make_cache(nodes).view
    return [int(s) for s in taint_toleration.score(view, pod.info(), view.live, PreferenceCaches())]


def tolerating(*tolerated: tuple[str, str], effect: str = PREFER) -> PodBuilder:
    pod = make_pod()
    for key, value in tolerated:
        pod.tolerate(key=key, operator="Equal", value=value, effect=effect)
    return pod


def tainted(name: str, *taints: tuple[str, str], effect: str = PREFER) -> NodeBuilder:
    node = make_node(name)
    for key, value in taints:
        node.taint(key, value=value, effect=effect)
    return node


ARM, SSD = ("cpu-type", "arm64"), ("disk-type", "ssd")


@pytest.mark.parametrize(
    ("pod", "nodes", "want"),
    [
        pytest.param(
            tolerating(("foo", "bar")),
            [tainted("a", ("foo", "bar")), tainted("b", ("foo", "blah"))],
            [100, 0],
            id="tolerated taints are better than others",
        ),
        pytest.param(
            tolerating(ARM, SSD),
            [tainted("a"), tainted("b", ARM), tainted("c", ARM, SSD)],
            [100, 100, 100],
            id="however many are tolerated",
        ),
        pytest.param(
            tolerating(("foo", "bar")),
            [tainted("a"), tainted("b", ARM), tainted("c", ARM, SSD)],
            [100, 50, 0],
            id="the more there are the worse",
        ),
        pytest.param(
            tolerating(ARM, SSD, effect="NoSchedule"),
            [tainted("a"), tainted("b", ARM, effect="NoSchedule"), tainted("c", ARM, SSD)],
            [100, 100, 0],
            id="only what prefers counts",
        ),
        pytest.param(make_pod(), [tainted("a"), tainted("b", ARM)], [100, 0], id="no tolerations"),
        pytest.param(make_pod(), [tainted("a"), tainted("b")], [100, 100], id="no taints"),
        pytest.param(
            make_pod().tolerate(operator="Exists"), [tainted("a"), tainted("b", ARM)], [100, 100], id="any effect"
        ),
        pytest.param(make_pod(), [tainted("a", ARM), tainted("b", ARM, SSD, ("x", ""))], [67, 0], id="whole percents"),
    ],
)
def test_taints(pod: PodBuilder, nodes: list[NodeBuilder], want: list[int]) -> None:
    assert taint_scores(pod, nodes) == want


def affinity_scores(pod: PodBuilder, nodes: Sequence[NodeBuilder], infeasible: str = "") -> list[int] | None:
    view = make_cache(nodes).view
    feasible = np.array([node is not None and node.name not in infeasible for node in view.nodes])
    found = node_affinity.score(view, pod.info(), feasible, PreferenceCaches())
    return None if found is None else [int(s) for s in found[feasible]]


def labelled(name: str, **labels: str) -> NodeBuilder:
    return make_node(name).metadata(labels=labels)


FOO_BAR = labelled("1", foo="bar")
FULL = [labelled("1", foo="bar"), labelled("5", foo="bar", key="value", az="az1"), labelled("2", key="value")]
ONE = make_pod().prefer_nodes(2, foo="bar")
THREE = (
    make_pod().prefer_nodes(2, foo="bar").prefer_nodes(4, key="value").prefer_nodes(5, foo="bar", key="value", az="az1")
)


@pytest.mark.parametrize(
    ("pod", "nodes", "infeasible", "want"),
    [
        pytest.param(make_pod(), FULL, "", None, id="no preference"),
        pytest.param(ONE, [labelled("1", key="value"), labelled("2")], "", [0, 0], id="no node matches"),
        pytest.param(ONE, [FOO_BAR, labelled("2", key="value"), labelled("3")], "", [100, 0, 0], id="one matches"),
        pytest.param(THREE, FULL, "", [18, 100, 36], id="several terms"),
        pytest.param(THREE, FULL, "5", [50, 100], id="scaled over the feasible nodes"),
        pytest.param(
            make_pod().preferred_node_affinity({"weight": 10, "preference": {}}), FULL, "", [0, 0, 0], id="empty term"
        ),
    ],
)
def test_preferred_nodes(pod: PodBuilder, nodes: list[NodeBuilder], infeasible: str, want: list[int] | None) -> None:
    assert affinity_scores(pod, nodes, infeasible) == want
