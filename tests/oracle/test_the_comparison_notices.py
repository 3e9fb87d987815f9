from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from tests.oracle import ours
from tests.oracle.clusters.cluster import cluster
from tests.oracle.clusters.odd import is_odd
from tests.oracle.comparing import compare, outcomes, pairs
from tests.oracle.counting import Counts, general
from tests.oracle.deviations import BY_ID, documented
from tests.oracle.shrinking import shrink
from tests.oracle.source import Source


def verdict(**changed: Any) -> dict[str, Any]:
    document: dict[str, Any] = {
        "pod": "default/p",
        "feasible": ["n1"],
        "nodes": {
            "n1": {"code": "Success", "reasons": [], "filter": ""},
            "n2": {"code": "Unschedulable", "reasons": ["Insufficient cpu", "Too many pods"], "filter": "Fit"},
        },
        "message": "",
        "reason": "",
        "nominating": "",
        "nominatedNode": "",
        "victims": [],
        "preferences": {},
        "scores": {},
    }
    return deepcopy(document) | changed


def nodes(**n2: Any) -> dict[str, Any]:
    found: dict[str, Any] = verdict()["nodes"]
    return found | {"n2": found["n2"] | n2}


def test_equal_verdicts_do_not_differ() -> None:
    assert compare(verdict(), verdict()) == []


def test_reasons_may_come_in_any_order() -> None:
    assert compare(verdict(nodes=nodes(reasons=["Too many pods", "Insufficient cpu"])), verdict()) == []


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        pytest.param({"feasible": ["n1", "n2"]}, "feasible", id="one node more"),
        pytest.param({"feasible": []}, "feasible", id="one node less"),
        pytest.param({"message": "no"}, "message", id="another sentence"),
        pytest.param({"reason": "Unschedulable"}, "reason", id="another reason of the condition"),
        pytest.param({"nominating": "clear"}, "nominating", id="another end of the nomination"),
        pytest.param({"nominatedNode": "n2"}, "preemption", id="another nominated node"),
        pytest.param({"victims": ["default/v"]}, "preemption", id="another victim"),
        pytest.param({"nodes": nodes(code="UnschedulableAndUnresolvable")}, "code", id="another code"),
        pytest.param({"nodes": nodes(filter="NodePorts")}, "filter", id="another filter"),
        pytest.param({"nodes": nodes(reasons=["Insufficient cpu"])}, "reasons", id="a reason less"),
        pytest.param({"nodes": {}}, "code", id="no verdict on a node"),
    ],
)
def test_every_difference_is_named(changed: dict[str, Any], field: str) -> None:
    assert field in {found.field for found in compare(verdict(**changed), verdict())}


def test_a_pod_that_only_the_judge_can_read_is_a_difference() -> None:
    assert compare(None, verdict())


def test_a_choice_by_chance_may_be_any_of_those_that_the_judge_made() -> None:
    theirs = verdict(
        nominatedNode="n2", victims=["default/a"], alternatives=[["n2", ["default/a"]], ["n3", ["default/b"]]]
    )
    assert len(outcomes(theirs)) == 2
    assert compare(verdict(nominatedNode="n3", victims=["default/b"]), theirs) == []
    assert compare(verdict(nominatedNode="n3", victims=["default/a"]), theirs)


@pytest.mark.parametrize(
    ("mine", "alike"),
    [
        pytest.param({"n1": 80, "n2": 79}, True, id="same order"),
        pytest.param({"n1": 50, "n2": 50}, False, id="no order"),
        pytest.param({"n1": 10, "n2": 90}, False, id="other order"),
        pytest.param({}, False, id="nothing said"),
    ],
)
def test_scores_must_order_nodes_alike(*, mine: dict[str, int], alike: bool) -> None:
    theirs = verdict(scores={"NodeAffinity": {"n1": 100, "n2": 0}})
    assert (compare(verdict(preferences={"NodeAffinity": mine}), theirs) == []) is alike


def test_a_score_that_differs_by_one_orders_nothing() -> None:
    assert list(pairs(verdict(scores={"NodeAffinity": {"n1": 51, "n2": 50}}), "NodeAffinity")) == []


def test_a_reason_is_counted_once_per_pod_without_its_names() -> None:
    counts = Counts()
    both = {name: {"code": "Error", "reasons": ['persistentvolumeclaim "x" not found'], "filter": "V"} for name in "ab"}
    counts.add(verdict(nodes=both))
    assert counts.reasons == {'persistentvolumeclaim "..." not found': 1}
    assert general("Insufficient cpu") == "Insufficient cpu"


def test_every_deviation_that_is_let_pass_is_documented_and_the_other_way_round() -> None:
    assert set(documented()) == set(BY_ID)
    assert all(len(text.strip()) > 100 for text in documented().values())


def test_a_seed_makes_the_same_cluster_again() -> None:
    assert cluster(Source.seeded(5)) == cluster(Source.seeded(5))
    assert cluster(Source.seeded(5)) != cluster(Source.seeded(6))


@pytest.mark.parametrize("seed", range(40))
def test_every_pending_pod_of_a_random_cluster_gets_a_verdict(seed: int) -> None:
    items = cluster(Source.seeded(seed))
    pending = {
        f"{item['metadata']['namespace']}/{item['metadata']['name']}"
        for item in items
        if item["kind"] == "Pod" and "nodeName" not in item["spec"] and not is_odd(item)
    }
    assert set(ours.judge(items)) == pending


def test_shrinking_leaves_what_the_difference_needs() -> None:
    items = cluster(Source.seeded(3))

    def holds(candidate: list[dict[str, Any]]) -> bool:
        return any(i["kind"] == "Pod" and i["spec"].get("priority") is not None for i in candidate)

    smallest = shrink(items, holds)
    assert len(smallest) == 1
    assert holds(smallest)
    assert "ownerReferences" not in smallest[0]["metadata"]
