from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from plimsoll.cluster.selectors import NodeSelector
from plimsoll.filters.node_name import NodeName
from plimsoll.policy.compiled import Policy
from tests.builders import NodeBuilder, PodBuilder, make_node, make_pod, make_policy

FitOf = Callable[..., Any]
UNSCHEDULABLE = "node(s) were unschedulable"
TAINTED = "node(s) had untolerated taint(s)"
AFFINITY = "node(s) didn't match Pod's node affinity/selector"
OUTSIDE = "node(s) didn't satisfy plugin(s) [NodeAffinity]"
POLICY_NODES = "node(s) didn't match the scheduling policy's node selector"


def named(*names: str) -> dict[str, Any]:
    fields = [{"key": "metadata.name", "operator": "In", "values": [name]} for name in names]
    return {"matchFields": fields}


def labelled(key: str, value: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}


@pytest.mark.parametrize(
    ("pod", "node", "reason"),
    [
        pytest.param(make_pod(), make_node(), None, id="nothing stands in the way"),
        pytest.param(make_pod(), make_node().cordoned(), UNSCHEDULABLE, id="cordoned"),
        pytest.param(
            make_pod().tolerate(key="node.kubernetes.io/unschedulable", operator="Exists", effect="NoSchedule"),
            make_node().cordoned(),
            None,
            id="a cordon that is tolerated",
        ),
        pytest.param(
            make_pod().tolerate(key="node.kubernetes.io/unschedulable", operator="Exists", effect="NoExecute"),
            make_node().cordoned(),
            UNSCHEDULABLE,
            id="a cordon is NoSchedule",
        ),
        pytest.param(make_pod().tolerate(operator="Exists"), make_node().cordoned(), None, id="all is tolerated"),
        pytest.param(make_pod(), make_node().taint("a"), TAINTED, id="tainted"),
        pytest.param(make_pod(), make_node().taint("a", effect="NoExecute"), TAINTED, id="tainted NoExecute"),
        pytest.param(make_pod(), make_node().taint("a", effect="PreferNoSchedule"), None, id="only preferred"),
        pytest.param(
            make_pod().tolerate(key="a", operator="Equal", value=""), make_node().taint("a"), None, id="tolerated"
        ),
        pytest.param(
            make_pod().tolerate(key="a", operator="Exists"), make_node().taint("a").taint("b"), TAINTED, id="not all"
        ),
        pytest.param(
            make_pod(),
            make_node().taint("node.kubernetes.io/not-ready", effect="NoExecute"),
            TAINTED,
            id="a node that has only just come",
        ),
        pytest.param(make_pod().node_selector(tier="a"), make_node().label("tier", "a"), None, id="selected"),
        pytest.param(make_pod().node_selector(tier="a"), make_node().label("tier", "b"), AFFINITY, id="not selected"),
        pytest.param(make_pod().node_selector(tier="a"), make_node(), AFFINITY, id="label absent"),
        pytest.param(make_pod().node_selector(tier=""), make_node(), AFFINITY, id="absent is not empty"),
        pytest.param(make_pod().required_node_affinity(), make_node(), AFFINITY, id="affinity without terms"),
        pytest.param(make_pod().required_node_affinity({}), make_node(), AFFINITY, id="an empty term"),
        pytest.param(
            make_pod().required_node_affinity(labelled("tier", "a")), make_node().label("tier", "a"), None, id="a term"
        ),
        pytest.param(
            make_pod().required_node_affinity(labelled("tier", "a")).node_selector(disk="ssd"),
            make_node().label("tier", "a"),
            AFFINITY,
            id="selector and affinity, both",
        ),
        pytest.param(make_pod().required_node_affinity(named("node-1")), make_node(), None, id="named"),
        pytest.param(make_pod().required_node_affinity(named("node-2")), make_node(), OUTSIDE, id="another is named"),
        pytest.param(
            make_pod().required_node_affinity(named("node-2"), labelled("tier", "a")),
            make_node(),
            AFFINITY,
            id="another is named, but some term names none",
        ),
    ],
)
def test_a_node(fit_of: FitOf, pod: PodBuilder, node: NodeBuilder, reason: str | None) -> None:
    fit = fit_of(pod, [node])
    assert fit.refused == ({reason: {"node-1"}} if reason else {})
    assert fit.nodes == (set() if reason else {"node-1"})
    assert not any(fit.resolvable.values())


def test_only_named_nodes_are_looked_at(fit_of: FitOf) -> None:
    pod = make_pod().required_node_affinity(named("n2"), named("gone"))
    fit = fit_of(pod, [make_node("n1"), make_node("n2"), make_node("n3").taint("a")])
    assert fit.nodes == {"n2"}
    assert fit.refused == {OUTSIDE: {"n1", "n3"}}


def test_names_of_nodes_that_are_not_there_vanish(fit_of: FitOf) -> None:
    assert fit_of(make_pod().required_node_affinity(named("gone")), [make_node()]).refused == {OUTSIDE: {"node-1"}}


def test_terms_that_no_node_can_meet_are_told_apart_from_nodes(fit_of: FitOf) -> None:
    fit = fit_of(make_pod().required_node_affinity(named("n1", "n2")), [make_node("n1"), make_node("n2")])
    assert fit.problem == "pod affinity terms conflict"
    assert (fit.nodes, fit.refused) == (set(), {})


def test_a_pod_that_names_its_node_runs_there_or_nowhere() -> None:
    node_name, pod = NodeName(), make_pod().on("n1").info()
    assert node_name.concerns(pod)
    assert not node_name.concerns(make_pod().info())
    assert [node_name.refuses(pod, make_node(name).info()) for name in ("n1", "n2")] == [False, True]


TIER_A = NodeSelector.parse({"nodeSelectorTerms": [labelled("tier", "a"), named("n3")]})


@pytest.mark.parametrize(
    ("policy", "want"),
    [
        pytest.param(make_policy(), {"n1", "n2", "n3"}, id="a policy that selects no nodes takes all"),
        pytest.param(make_policy(node_selector={"cpu": "true"}), {"n1", "n2"}, id="by nodeSelector"),
        pytest.param(make_policy(node_affinity=TIER_A), {"n1", "n3"}, id="by nodeAffinity"),
        pytest.param(make_policy(node_selector={"cpu": "true"}, node_affinity=TIER_A), {"n1"}, id="by both"),
        pytest.param(make_policy(node_affinity=NodeSelector()), set(), id="by an affinity without terms"),
    ],
)
def test_a_policys_own_nodes(fit_of: FitOf, policy: Policy, want: set[str]) -> None:
    nodes = [
        make_node("n1").label("cpu", "true").label("tier", "a"),
        make_node("n2").label("cpu", "true"),
        make_node("n3"),
    ]
    fit = fit_of(make_pod(), nodes, policy=policy)
    assert fit.nodes == want
    refused = {"n1", "n2", "n3"} - want
    assert fit.refused == ({POLICY_NODES: refused} if refused else {})
    assert not any(fit.resolvable.values())
