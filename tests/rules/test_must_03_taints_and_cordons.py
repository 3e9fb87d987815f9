from __future__ import annotations

import pytest

from tests.builders import NodeBuilder, PodBuilder, make_node, make_pod
from tests.rules.asking import cluster, codes, fits, reasons

TAINTED = "node(s) had untolerated taint(s)"


@pytest.mark.parametrize(
    ("node", "refused"),
    [
        pytest.param(make_node("n1").taint("a", effect="NoSchedule"), True, id="NoSchedule"),
        pytest.param(make_node("n1").taint("a", effect="NoExecute"), True, id="NoExecute"),
        pytest.param(make_node("n1").taint("a", effect="PreferNoSchedule"), False, id="PreferNoSchedule only asks"),
        pytest.param(make_node("n1").taint("node.kubernetes.io/not-ready"), True, id="a node that is not ready yet"),
        pytest.param(
            make_node("n1").taint("node.cloudprovider.kubernetes.io/uninitialized"), True, id="a node that is half made"
        ),
    ],
)
def test_a_taint_keeps_pods_away(node: NodeBuilder, *, refused: bool) -> None:
    world = cluster(node)
    assert reasons(world, make_pod()) == ({"n1": (TAINTED,)} if refused else {})


@pytest.mark.parametrize(
    ("pod", "tolerated"),
    [
        pytest.param(make_pod().tolerate(operator="Exists"), True, id="everything"),
        pytest.param(make_pod().tolerate(key="a", operator="Equal", value=""), True, id="an empty value"),
        pytest.param(make_pod().tolerate(key="a"), True, id="Equal is meant where nothing is said"),
        pytest.param(make_pod().tolerate(key="a", value="x"), False, id="another value"),
        pytest.param(make_pod().tolerate(key="b", operator="Exists"), False, id="another key"),
        pytest.param(make_pod().tolerate(operator="Exists", effect="NoExecute"), False, id="another effect"),
    ],
)
def test_a_toleration(pod: PodBuilder, *, tolerated: bool) -> None:
    assert fits(cluster(make_node("n1").taint("a")), pod) == ({"n1"} if tolerated else set())


def test_a_cordoned_node_takes_nobody_even_without_its_taint() -> None:
    world = cluster(make_node("n1").cordoned())
    assert reasons(world, make_pod()) == {"n1": ("node(s) were unschedulable",)}
    assert codes(world, make_pod()) == {"n1": "UnschedulableAndUnresolvable"}


@pytest.mark.parametrize(
    "toleration", [{"operator": "Exists"}, {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}]
)
def test_a_cordon_can_be_tolerated(toleration: dict[str, str]) -> None:
    assert fits(cluster(make_node("n1").cordoned()), make_pod().tolerate(**toleration)) == {"n1"}
