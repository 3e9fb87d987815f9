"""Cases of upstream's TestDryRunPreemption, with its values."""

from __future__ import annotations

import pytest

from plimsoll.scheduling.preemption.candidates import Look, Search, enough
from plimsoll.scheduling.preemption.choosing import Candidate
from plimsoll.scheduling.preemption.importance import by_importance
from tests.builders import PodBuilder, make_pod
from tests.scheduling.preempting import (
    HIGH,
    LARGE,
    LOW,
    MEDIUM,
    MIDDLE,
    SMALL,
    VERY_LARGE,
    budget,
    cluster,
    dry_runs,
    node,
    pod,
)

Victims = dict[str, set[str]]


def _victims(found: dict[str, Candidate]) -> Victims:
    return {name: {victim.name for victim in candidate.victims} for name, candidate in found.items()}


@pytest.mark.parametrize(
    ("incoming", "running", "victims"),
    [
        pytest.param(
            pod("p", HIGH, LARGE),
            [pod("p1", MIDDLE, LARGE, on="node1"), pod("p2", MIDDLE, LARGE, on="node2")],
            {"node1": {"p1"}, "node2": {"p2"}},
            id="both nodes when lower priority pods go",
        ),
        pytest.param(
            pod("p", LOW, LARGE),
            [pod("p1", MIDDLE, LARGE, on="node1"), pod("p2", MIDDLE, LARGE, on="node2")],
            {},
            id="pods of higher priority stay",
        ),
        pytest.param(
            pod("p", HIGH, LARGE),
            [
                pod("p1.1", LOW, SMALL, on="node1"),
                pod("p1.2", MIDDLE, LARGE, on="node1"),
                pod("p2", MIDDLE, LARGE, on="node2"),
            ],
            {"node1": {"p1.2"}, "node2": {"p2"}},
            id="the lower priority pod stays as it is small",
        ),
        pytest.param(
            pod("p", HIGH, LARGE),
            [
                pod("p1.1", MIDDLE, SMALL, on="node1"),
                pod("p1.2", LOW, SMALL, on="node1"),
                pod("p1.3", MIDDLE, MEDIUM, on="node1"),
                pod("p1.4", HIGH, SMALL, on="node1"),
                pod("p2", HIGH, LARGE, on="node2"),
            ],
            {"node1": {"p1.2", "p1.3"}},
            id="mixed priorities",
        ),
        pytest.param(
            pod("p", HIGH, LARGE),
            [
                pod("p1.1", LOW, SMALL, on="node1", started_s=5),
                pod("p1.2", LOW, SMALL, on="node1", started_s=4),
                pod("p1.3", MIDDLE, MEDIUM, on="node1", started_s=3),
                pod("p1.4", HIGH, SMALL, on="node1", started_s=2),
                pod("p2", HIGH, LARGE, on="node2", started_s=1),
            ],
            {"node1": {"p1.1", "p1.3"}},
            id="of equal priority the one that has run longer is spared",
        ),
    ],
)
def test_who_must_go(incoming: PodBuilder, running: list[PodBuilder], victims: Victims) -> None:
    assert _victims(dry_runs(cluster([node("node1"), node("node2")], running), incoming)) == victims


@pytest.mark.parametrize(
    ("disrupted", "names", "violations"),
    [
        pytest.param([], ["p1.1", "p1.2"], 1, id="two victims of a budget that allows one"),
        pytest.param(["p2"], ["p1.1", "p1.2"], 1, id="another pod's disruption was counted"),
        pytest.param(["p1.2"], ["p1.1", "p1.2"], 0, id="the victim's disruption was counted"),
        pytest.param(["p1.3"], ["p1.1", "p1.2", "p1.3"], 1, id="of three one was counted"),
    ],
)
def test_violations_of_budgets_are_counted(disrupted: list[str], names: list[str], violations: int) -> None:
    running = [pod(name, MIDDLE, MEDIUM if len(names) == 2 else SMALL, on="node1").labels(app="foo") for name in names]
    guard = budget(allowed=1, disrupted=disrupted, app="foo")
    found = dry_runs(cluster([node("node1")], running, [guard]), pod("p", HIGH, VERY_LARGE))
    assert found["node1"].violations == violations
    assert _victims(found) == {"node1": set(names)}


def test_pods_whose_budget_would_be_violated_are_spared_before_more_important_ones() -> None:
    running = [pod("plain", MIDDLE, MEDIUM, on="node1"), pod("guarded", LOW, MEDIUM, on="node1").labels(app="foo")]
    incoming = pod("p", HIGH, LARGE)
    assert _victims(dry_runs(cluster([node("node1")], running, [budget(app="foo")]), incoming)) == {"node1": {"plain"}}
    assert _victims(dry_runs(cluster([node("node1")], running), incoming)) == {"node1": {"guarded"}}


def test_a_pod_that_only_ports_keep_out_removes_the_one_that_has_the_port() -> None:
    running = [pod("a", LOW, on="node1").port(80), pod("b", LOW, on="node1").port(81)]
    assert _victims(dry_runs(cluster([node("node1")], running), pod("p", HIGH).port(80))) == {"node1": {"a"}}


def test_pods_of_other_schedulers_give_way_too() -> None:
    running = [pod("theirs", LOW, LARGE, on="node1").spec(schedulerName="default-scheduler")]
    assert _victims(dry_runs(cluster([node("node1")], running), pod("p", HIGH, LARGE))) == {"node1": {"theirs"}}


def test_a_pod_without_priority_has_priority_zero() -> None:
    running = [make_pod("plain").cpu("300m").on("node1")]
    assert _victims(dry_runs(cluster([node("node1")], running), pod("p", 1, LARGE))) == {"node1": {"plain"}}
    assert dry_runs(cluster([node("node1")], running), pod("p", 0, LARGE)) == {}


def test_nominated_pods_of_no_lower_priority_keep_their_room() -> None:
    cache = cluster([node("node1")], [pod("low", LOW, MEDIUM, on="node1"), pod("lower", -1, MEDIUM, on="node1")])
    incoming = pod("p", HIGH, MEDIUM)
    assert _victims(dry_runs(cache, incoming)) == {"node1": {"lower"}}
    cache.nominate(pod("other", HIGH, MEDIUM).info(), "node1")
    assert _victims(dry_runs(cache, incoming)) == {"node1": {"low", "lower"}}


def test_nominated_pods_of_lower_priority_do_not_count() -> None:
    cache = cluster([node("node1")], [pod("low", LOW, LARGE, on="node1")])
    cache.nominate(pod("other", MIDDLE, LARGE).info(), "node1")
    assert _victims(dry_runs(cache, pod("p", HIGH, LARGE))) == {"node1": {"low"}}


@pytest.mark.parametrize(
    ("pods", "order"),
    [
        pytest.param([("a", 1, 5), ("b", 2, 9)], ["b", "a"], id="priority"),
        pytest.param([("a", 1, 5), ("b", 1, 4)], ["b", "a"], id="then the start"),
        pytest.param([("a", 1, None), ("b", 1, 4)], ["b", "a"], id="a pod that has not started is the youngest"),
        pytest.param([("a", 1, 4), ("b", 1, 4)], ["a", "b"], id="equals keep their order"),
        pytest.param([("a", 1, None), ("b", 1, None)], ["b", "a"], id="among pods not started the newest"),
    ],
)
def test_who_is_more_important(pods: list[tuple[str, int, int | None]], order: list[str]) -> None:
    infos = [pod(name, priority, on="n", started_s=started_s).info() for name, priority, started_s in pods]
    assert [info.name for info in by_importance(infos)] == order


@pytest.mark.parametrize(
    ("nodes", "candidates"), [(1, 1), (99, 99), (100, 100), (500, 100), (1000, 100), (1010, 101), (5000, 500)]
)
def test_so_many_candidates_are_enough(nodes: int, candidates: int) -> None:
    assert enough(nodes) == candidates


def _candidate(row: int, *, violations: int = 0) -> Look:
    return Candidate(row, (pod("v", LOW).info(),), violations), 1


def test_the_search_begins_at_the_offset_and_wraps_round() -> None:
    search = Search(range(1000), offset=950)
    assert search.go_on(_candidate)
    assert [c.row for c in search.tried.candidates] == [*range(950, 1000), *range(50)]


def test_the_search_goes_on_until_a_candidate_violates_no_budget() -> None:
    def victims_on(row: int) -> Look:
        return _candidate(row, violations=int(row != 400))

    search = Search(range(1000), offset=0)
    assert search.go_on(victims_on)
    assert [c.row for c in search.tried.candidates] == [*range(100), 400]


FOO = {"matchExpressions": [{"key": "foo", "operator": "Exists"}]}


def test_a_pod_with_anti_affinity_against_the_one_that_comes_must_go() -> None:
    against = {"requiredDuringSchedulingIgnoredDuringExecution": [{"labelSelector": FOO, "topologyKey": "hostname"}]}
    running = [
        pod("p1.1", LOW, SMALL, on="node1").labels(foo="").spec(affinity={"podAntiAffinity": against}),
        pod("p1.2", MIDDLE, SMALL, on="node1"),
        pod("p1.3", HIGH, SMALL, on="node1"),
        pod("p2", HIGH, SMALL, on="node2"),
    ]
    nodes = [node(name).label("hostname", name) for name in ("node1", "node2")]
    assert _victims(dry_runs(cluster(nodes, running), pod("p", HIGH, SMALL).labels(foo=""))) == {"node1": {"p1.1"}}


def test_pods_that_are_in_the_way_of_spreading_must_go() -> None:
    constraints = [
        {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": FOO}
        for key in ("zone", "hostname")
    ]
    places = {"node-a": "zone1", "node-b": "zone1", "node-x": "zone2"}
    nodes = [node(name).label("hostname", name).label("zone", zone) for name, zone in places.items()]
    running = [
        pod("pod-a1", MIDDLE, on="node-a"),
        pod("pod-a2", LOW, on="node-a"),
        pod("pod-b1", LOW, on="node-b"),
        pod("pod-x1", HIGH, on="node-x"),
        pod("pod-x2", HIGH, on="node-x"),
    ]
    cache = cluster(nodes, [there.labels(foo="") for there in running])
    incoming = pod("p", HIGH).labels(foo="").spec(topologySpreadConstraints=constraints)
    assert _victims(dry_runs(cache, incoming)) == {"node-a": {"pod-a2"}, "node-b": {"pod-b1"}}
