"""Values of kube-scheduler's own tests of InterPodAffinity's score, and what these leave open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from plimsoll.cluster.namespace import Namespace
from plimsoll.scores.preferred import inter_pod_affinity
from tests.builders import NodeBuilder, PodBuilder, make_cache, make_node, make_pod

Json = dict[str, Any]
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
TEAMS = {"subteam1.team1": "team1", "subteam2.team1": "team1", "subteam1.team2": "team2", "subteam2.team2": "team2"}


def china(name: str) -> NodeBuilder:
    return make_node(name).metadata(labels={"region": "China"})


def india(name: str) -> NodeBuilder:
    return make_node(name).metadata(labels={"region": "India"})


def az(name: str, zone: str = "az1") -> NodeBuilder:
    return make_node(name).metadata(labels={"az": zone})


def security(value: str, namespace: str = "default") -> PodBuilder:
    return make_pod(namespace=namespace).labels(security=value)


def term(key: str, *expressions: Json, **fields: Any) -> Json:
    return {"topologyKey": key, "labelSelector": {"matchExpressions": list(expressions)}, **fields}


def is_in(key: str, *values: str) -> Json:
    return {"key": key, "operator": "In", "values": list(values)}


def weighted(*terms: tuple[int, Json]) -> Json:
    return {PREFERRED: [{"weight": weight, "podAffinityTerm": t} for weight, t in terms]}


S1, S2 = is_in("security", "S1"), is_in("security", "S2")
WITH_S1 = {"podAffinity": weighted((5, term("region", S1)))}
WITH_S2 = {"podAffinity": weighted((6, term("region", S2)))}
OPERATORS = {
    "podAffinity": weighted(
        (8, term("region", {"key": "security", "operator": "NotIn", "values": ["S1"]}, S2)),
        (
            2,
            term(
                "region",
                {"key": "security", "operator": "Exists"},
                {"key": "wrongkey", "operator": "DoesNotExist"},
            ),
        ),
    )
}
HARD = {
    "podAffinity": {
        REQUIRED: [
            term("region", is_in("security", "S1", "value2")),
            term(
                "region",
                {"key": "security", "operator": "Exists"},
                {"key": "wrongkey", "operator": "DoesNotExist"},
            ),
        ]
    }
}
AWAY_FROM_S1 = {"podAntiAffinity": weighted((5, term("az", S1)))}
AWAY_FROM_S2 = {"podAntiAffinity": weighted((5, term("az", S2)))}
WITH_S1_AWAY_FROM_S2 = {
    "podAffinity": weighted((8, term("region", S1))),
    "podAntiAffinity": weighted((5, term("az", S2))),
}
TEAM1 = term(
    "region",
    S1,
    namespaces=["subteam2.team2"],
    namespaceSelector={"matchExpressions": [is_in("team", "team1")]},
)
WITH_TEAM1 = {"podAffinity": weighted((5, TEAM1))}
AWAY_FROM_TEAM1 = {"podAntiAffinity": weighted((5, TEAM1))}
ANY_NAMESPACE = term("region", S1, namespaceSelector={"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]})


def wanting(affinity: Json, pod: PodBuilder) -> PodBuilder:
    return pod.spec(affinity=affinity)


def scores(
    pod: PodBuilder, nodes: Sequence[NodeBuilder], on_nodes: Sequence[PodBuilder], *, feasible: str = ""
) -> list[int] | None:
    cache = make_cache(nodes, on_nodes)
    for name, team in TEAMS.items():
        cache.put_namespace(Namespace(name, {"team": team}))
    view = cache.view
    rows = view.live.copy()
    for row, node in view.live_nodes():
        rows[row] = not feasible or node.name in feasible
    found = inter_pod_affinity.score(view, pod.info(), rows)
    return None if found is None else [int(found[row]) for row, _ in view.live_nodes() if rows[row]]


@pytest.mark.parametrize(
    ("pod", "nodes", "on_nodes", "want"),
    [
        pytest.param(security("S1"), [china("1"), india("2"), az("3")], [], None, id="no affinity at all"),
        pytest.param(
            wanting(WITH_S1, security("S1")),
            [china("1"), india("2"), az("3")],
            [security("S1").on("1"), security("S2").on("2"), security("S1").on("3")],
            [100, 0, 0],
            id="domains with pods that match",
        ),
        pytest.param(
            wanting(WITH_S1, make_pod()),
            [china("1"), china("2").label("az", "az1"), india("3")],
            [security("S1").on("1")],
            [100, 100, 0],
            id="all nodes of a domain",
        ),
        pytest.param(
            wanting(WITH_S2, security("S1")),
            [china("1"), india("2"), china("3"), china("4"), india("5")],
            [security("S2").on(name) for name in "112345"],
            [100, 0, 100, 100, 0],
            id="more pods, more wanted",
        ),
        pytest.param(
            wanting(OPERATORS, security("S1")),
            [china("1"), india("2"), az("3")],
            [security("S1").on("1"), security("S2").on("2"), security("S1").on("3")],
            [20, 100, 0],
            id="operators",
        ),
        pytest.param(
            security("S2"),
            [china("1"), india("2"), az("3")],
            [wanting(WITH_S1, security("S1")).on("1"), wanting(WITH_S2, security("S2")).on("2")],
            [0, 100, 0],
            id="pods on nodes want it near",
        ),
        pytest.param(
            security("S1", "subteam1.team1"),
            [china("1"), india("2"), az("3")],
            [wanting(WITH_TEAM1, security("S1")).on("1"), wanting(WITH_S2, security("S2")).on("2")],
            [100, 0, 0],
            id="pods on nodes want its namespace near",
        ),
        pytest.param(
            security("S1", "subteam1.team1"),
            [china("1"), india("2"), az("3")],
            [wanting(AWAY_FROM_TEAM1, security("S1")).on("1"), wanting(WITH_S2, security("S2")).on("2")],
            [0, 100, 100],
            id="pods on nodes want its namespace far",
        ),
        pytest.param(
            security("S1"),
            [china("1"), india("2"), az("3")],
            [wanting(HARD, security("S1")).on("1"), wanting(HARD, security("S2")).on("2")],
            [100, 100, 0],
            id="pods on nodes require it near",
        ),
        pytest.param(
            wanting(AWAY_FROM_S1, security("S1")),
            [az("1"), china("2")],
            [security("S1").on("1"), security("S2").on("2")],
            [0, 100],
            id="away from pods that match",
        ),
        pytest.param(
            wanting(AWAY_FROM_S1, security("S1")),
            [az("1"), china("2")],
            [security("S1").on("1"), security("S1").on("2")],
            [0, 100],
            id="away, where the key is",
        ),
        pytest.param(
            wanting(AWAY_FROM_S1, security("S1")),
            [az("1"), india("2")],
            [security("S1").on("1"), security("S1").on("1"), security("S2").on("2")],
            [0, 100],
            id="away from many",
        ),
        pytest.param(
            security("S2"),
            [az("1"), az("2", "az2")],
            [wanting(AWAY_FROM_S2, security("S1")).on("1"), wanting(AWAY_FROM_S1, security("S2")).on("2")],
            [0, 100],
            id="pods on nodes want it far",
        ),
        pytest.param(
            wanting(WITH_S1_AWAY_FROM_S2, security("S1")),
            [china("1"), az("2")],
            [security("S1").on("1"), security("S1").on("2")],
            [100, 0],
            id="near and away",
        ),
        pytest.param(
            wanting(WITH_S1_AWAY_FROM_S2, security("S1")),
            [china("1").label("az", "az1"), india("2"), china("3"), china("4"), india("5")],
            [security("S1").on(name) for name in "1123345"],
            [100, 0, 100, 100, 0],
            id="near and away, replicas",
        ),
        pytest.param(
            wanting(WITH_S1_AWAY_FROM_S2, security("S1")),
            [china("1"), az("2"), india("3"), az("4", "az2")],
            [
                security("S1").on("1"),
                security("S2").on("2"),
                wanting(WITH_S1_AWAY_FROM_S2, make_pod()).on("3"),
                wanting(AWAY_FROM_S1, make_pod()).on("4"),
            ],
            [100, 0, 100, 0],
            id="near, away and both ways",
        ),
        pytest.param(
            security("S1"),
            [china("1"), china("2")],
            [security("S1").on("1"), wanting(WITH_S1_AWAY_FROM_S2, make_pod()).on("2")],
            [0, 0],
            id="all nodes alike",
        ),
        pytest.param(
            wanting(WITH_TEAM1, security("S1", "subteam1.team1")),
            [china("1"), india("2")],
            [
                security("S1", "subteam1.team1").on("1"),
                security("S1", "subteam1.team1").on("1"),
                security("S1", "subteam1.team2").on("1"),
                security("S1", "subteam2.team1").on("2"),
            ],
            [100, 0],
            id="near a namespace that is selected",
        ),
        pytest.param(
            wanting(AWAY_FROM_TEAM1, security("S1", "subteam1.team1")),
            [china("1"), india("2")],
            [
                security("S1", "subteam1.team1").on("1"),
                security("S1", "subteam1.team1").on("1"),
                security("S1", "subteam2.team2").on("1"),
                security("S1", "subteam2.team1").on("2"),
            ],
            [0, 100],
            id="away from namespaces that are selected or named",
        ),
        pytest.param(
            wanting({"podAffinity": weighted((5, ANY_NAMESPACE))}, security("S1", "subteam1.team1")),
            [china("1"), india("2")],
            [security("S1", "unknown").on("2")],
            [0, 100],
            id="a namespaceSelector that needs no label selects unknown namespaces",
        ),
    ],
)
def test_values_of_kube_scheduler(
    pod: PodBuilder, nodes: list[NodeBuilder], on_nodes: list[PodBuilder], want: list[int] | None
) -> None:
    assert scores(pod, nodes, on_nodes) == want


def test_a_term_that_finds_no_pod_has_no_opinion() -> None:
    assert scores(wanting(WITH_S1, make_pod()), [china("1"), india("2")], [security("S2").on("1")]) is None


def test_pods_on_nodes_without_the_key_have_no_opinion() -> None:
    assert scores(wanting(WITH_S1, make_pod()), [az("1"), az("2")], [security("S1").on("1")]) is None


def test_terminating_pods_are_near_and_far_like_others() -> None:
    on_nodes = [security("S1").on("1").deleting()]
    assert scores(wanting(WITH_S1, make_pod()), [china("1"), india("2")], on_nodes) == [100, 0]


def test_only_feasible_nodes_set_the_scale() -> None:
    nodes = [china("1"), india("2"), make_node("3").metadata(labels={"region": "Chile"})]
    on_nodes = [security("S1").on(name) for name in "1112"]
    assert scores(wanting(WITH_S1, make_pod()), nodes, on_nodes) == [100, 33, 0]
    assert scores(wanting(WITH_S1, make_pod()), nodes, on_nodes, feasible="23") == [100, 0]


def test_a_group_of_pods_counts_once_per_pod() -> None:
    nodes = [china("1"), india("2"), az("3")]
    on_nodes = [wanting(HARD, security("S1")).on(name) for name in "1122"] + [wanting(WITH_S1, security("S1")).on("2")]
    # Each HARD pod selects twice: 4 in China; 4 and 5 in India.
    assert scores(security("S1"), nodes, on_nodes) == [44, 100, 0]
