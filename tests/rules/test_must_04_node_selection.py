from __future__ import annotations

from typing import Any

import pytest

from tests.builders import PodBuilder, make_node, make_pod
from tests.rules.asking import cluster, fits, reasons, selecting, sentence

Json = dict[str, Any]


def named(*names: str, operator: str = "In") -> Json:
    return {"matchFields": [{"key": "metadata.name", "operator": operator, "values": list(names)}]}


def affine(*terms: Json) -> PodBuilder:
    return make_pod().required_node_affinity(*terms)


@pytest.mark.parametrize(
    ("pod", "want"),
    [
        pytest.param(make_pod().node_selector(disk="ssd"), {"n1"}, id="nodeSelector"),
        pytest.param(make_pod().node_selector(disk="ssd", cores="9"), set(), id="all of its pairs"),
        pytest.param(
            affine(selecting("cores", operator="Exists")).node_selector(disk="ssd"),
            {"n1"},
            id="nodeSelector and affinity",
        ),
        pytest.param(affine(selecting("disk", "hdd"), selecting("disk", "ssd")), {"n1", "n2"}, id="any of the terms"),
        pytest.param(
            affine({"matchExpressions": [*selecting("disk", "ssd")["matchExpressions"]], **named("n2")}),
            set(),
            id="expressions and fields of a term",
        ),
        pytest.param(affine(), set(), id="no terms at all"),
        pytest.param(affine({}), set(), id="an empty term"),
        pytest.param(affine({}, selecting("disk", "ssd")), {"n1"}, id="an empty term beside another"),
        pytest.param(affine(selecting("disk", "ssd", operator="NotIn")), {"n2", "n3"}, id="NotIn of a label not there"),
        pytest.param(affine(selecting("disk", operator="Exists")), {"n1", "n2"}, id="Exists"),
        pytest.param(affine(selecting("disk", operator="DoesNotExist")), {"n3"}, id="DoesNotExist"),
        pytest.param(affine(selecting("cores", "5", operator="Gt")), {"n1"}, id="Gt compares numbers"),
        pytest.param(affine(selecting("disk", "5", operator="Gt")), set(), id="Gt of what is no number"),
        pytest.param(affine(selecting("cores", "10", operator="Lt")), {"n2"}, id="Lt"),
        pytest.param(affine(selecting("disk", "ssd", operator="Near")), set(), id="an unknown operator"),
        pytest.param(affine(named("n2")), {"n2"}, id="a node by its name"),
        pytest.param(affine(named("n2", operator="NotIn")), {"n1", "n3"}, id="all nodes but one"),
    ],
)
def test_nodes_are_selected_by(pod: PodBuilder, want: set[str]) -> None:
    nodes = (
        make_node("n1").label("disk", "ssd").label("cores", "10"),
        make_node("n2").label("disk", "hdd").label("cores", "4"),
        make_node("n3"),
    )
    assert fits(cluster(*nodes), pod) == want


def test_what_is_not_selected_is_said() -> None:
    world = cluster(make_node("n1"))
    assert reasons(world, make_pod().node_selector(a="b")) == {
        "n1": ("node(s) didn't match Pod's node affinity/selector",)
    }


def test_terms_that_name_different_nodes_at_once_conflict() -> None:
    both = {"matchFields": [*named("n1")["matchFields"], *named("n2")["matchFields"]]}
    assert "pod affinity terms conflict" in sentence(cluster(make_node("n1"), make_node("n2")), affine(both))
