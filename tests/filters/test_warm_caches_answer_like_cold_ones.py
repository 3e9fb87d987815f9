from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from plimsoll.cluster.cache import Cache
from plimsoll.cluster.changes import ChangeKind
from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Snapshot
from plimsoll.filters.caches import FilterCaches
from plimsoll.filters.node_verdicts import NodeVerdicts
from plimsoll.filters.prepared import prepare_filters
from plimsoll.filters.run import run_filters, selected_rows
from plimsoll.filters.taint_toleration import TaintToleration
from plimsoll.policy.compiled import BUILT_IN, Policy
from tests.builders import NodeBuilder, make_cache, make_node, make_pod, make_policy

NODES = [f"n{i}" for i in range(20)]
PODS = [
    make_pod().info(),
    make_pod().node_selector(tier="a").info(),
    make_pod().tolerate(operator="Exists").info(),
    make_pod().required_node_affinity({"matchExpressions": [{"key": "tier", "operator": "Exists"}]}).info(),
    make_pod().cpu("2").port(80).info(),
    make_pod()
    .required_node_affinity({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]})
    .info(),
]
POLICIES = [
    BUILT_IN,
    make_policy("p", node_selector={"tier": "a"}),
    make_policy("p", node_selector={"tier": "b"}, generation=2),
    make_policy("q", node_selector={"tier": "a"}),
]


def _node(name: str, tier: str, *, cordoned: bool, tainted: bool) -> NodeBuilder:
    node = make_node(name).offers(cpu="2")
    node = node.label("tier", tier) if tier else node
    node = node.cordoned() if cordoned else node
    return node.taint("a") if tainted else node


nodes = st.builds(
    lambda name, tier, cordoned, tainted: _node(name, tier, cordoned=cordoned, tainted=tainted),
    st.sampled_from(NODES), st.sampled_from(["", "a", "b"]), st.booleans(), st.booleans(),
)  # fmt: skip
steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), nodes),
        st.tuples(st.just("drop"), st.sampled_from(NODES)),
        st.tuples(st.just("pod"), st.sampled_from(NODES)),
        st.tuples(st.just("ask"), st.tuples(st.sampled_from(PODS), st.sampled_from(POLICIES))),
    ),
    min_size=1,
    max_size=40,
)


def answer(view: Snapshot, pod: PodInfo, policy: Policy, caches: FilterCaches) -> object:
    fit = run_filters(prepare_filters(view, pod, policy), caches)
    refusals = [(r.plugin, r.reason, r.rows.tolist(), r.resolvable.tolist()) for r in fit.refusals]
    return fit.rows.tolist(), refusals, selected_rows(view, policy, caches).tolist()


@settings(max_examples=60, deadline=None)
@given(steps)
def test_whatever_changed_in_between(history: list[tuple[str, object]]) -> None:
    cache, warm = Cache(), FilterCaches()
    for step in [*history, *(("ask", (pod, policy)) for pod in PODS for policy in POLICIES)]:
        match step:
            case ("put", NodeBuilder() as node):
                cache.put_node(node.info())
            case ("drop", str(name)):
                cache.drop_node(name)
            case ("pod", str(name)):
                cache.put_pod(make_pod().cpu("1").port(80).on(name).info())
            case ("ask", (PodInfo() as pod, Policy() as policy)):
                assert answer(cache.view, pod, policy, warm) == answer(cache.view, pod, policy, FilterCaches())


def test_free_rows_are_never_feasible() -> None:
    cache = make_cache([make_node("n1"), make_node("n2")])
    cache.drop_node("n1")
    fit = run_filters(prepare_filters(cache.view, PODS[0], BUILT_IN), FilterCaches())
    assert np.flatnonzero(fit.rows).tolist() == [1]


class Counting:
    """Refuses whom another refuses, and remembers for how many nodes it was asked."""

    name, reason, wakes = "Counting", "counted", ChangeKind(0)

    def __init__(self) -> None:
        self.asked = 0

    def concerns(self, pod: PodInfo) -> bool:
        return True

    def refuses(self, pod: PodInfo, node: NodeInfo) -> bool:
        self.asked += 1
        return node.unschedulable


def test_of_a_daemon_sets_pod_only_its_own_node_is_looked_at() -> None:
    """Each of them is a class of its own: kept for all nodes they would cost nodes times nodes."""
    view = make_cache(make_node(f"n{i}") for i in range(30)).view
    counting = Counting()
    verdicts = NodeVerdicts((counting,))
    for row in range(30):
        assert not verdicts.of_rows(view, PODS[0], [row]).any()
    assert counting.asked == 30


class CountingTaints(TaintToleration):
    """Remembers for how many nodes it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def refuses(self, pod: PodInfo, node: NodeInfo) -> bool:
        self.asked += 1
        return super().refuses(pod, node)


@pytest.mark.parametrize(
    ("kinds", "at_first", "later"),
    [
        pytest.param(3, 3, 3, id="few kinds: one node of each, whatever changed"),
        pytest.param(200, 200, 1, id="a taint of its own on each node: those that changed"),
    ],
)
def test_taints_are_looked_at_where_they_are_others(kinds: int, at_first: int, later: int) -> None:
    cache = make_cache(make_node(f"n{i}").taint("dedicated", value=f"v{i % kinds}") for i in range(200))
    counting = CountingTaints()
    verdicts = NodeVerdicts((counting,))
    assert verdicts.of(cache.view, PODS[0]).all()
    assert counting.asked == at_first
    for i in range(3):
        counting.asked = 0
        cache.put_node(make_node("n0").taint("dedicated", value="v0").label("turn", str(i)).info())
        assert verdicts.of(cache.view, PODS[0]).all()
        assert counting.asked == later


@pytest.mark.parametrize("few", [3, 200])
def test_nodes_may_come_to_differ_and_to_be_alike_again(few: int) -> None:
    cache, verdicts = make_cache(make_node(f"n{i}") for i in range(200)), NodeVerdicts((CountingTaints(),))
    for kinds in (few, 200, 3, 200, 0):
        for i in range(200):
            node = make_node(f"n{i}")
            cache.put_node((node.taint("dedicated", value=f"v{i % kinds}") if i < kinds else node).info())
        for pod in PODS[:3]:
            assert (verdicts.of(cache.view, pod) == NodeVerdicts(verdicts.filters).of(cache.view, pod)).all()
        assert verdicts.of(cache.view, PODS[0]).sum() == kinds


def test_a_look_at_some_rows_is_the_same_look() -> None:
    cache = make_cache((make_node(f"n{i}").cordoned() if i % 2 else make_node(f"n{i}")) for i in range(6))
    cache.drop_node("n5")
    verdicts = NodeVerdicts((Counting(),))
    assert verdicts.of(cache.view, PODS[0]).tolist() == [0, 1, 0, 1, 0, 0]
    assert verdicts.of_rows(cache.view, PODS[0], [1, 2, 5]).tolist() == [0, 1, 0, 0, 0, 0]
