"""The first filter that refuses a node ends it, so that the counts of a message add up to the nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
from hypothesis import given, settings

from plimsoll.filters.order import NODE_FILTERS
from tests.builders import NodeBuilder, PodBuilder, make_node, make_pod, make_policy
from tests.filters.conftest import fit_of as run

FitOf = Callable[..., Any]


def test_a_node_stands_under_the_first_filter_that_refused_it(fit_of: FitOf) -> None:
    nodes = [
        make_node("all").cordoned().taint("a").offers(cpu="1"),
        make_node("tainted").taint("a").offers(cpu="1"),
        make_node("apart").offers(cpu="1"),
        make_node("taken").label("tier", "a").offers(cpu="1"),
        make_node("small").label("tier", "a").offers(cpu="1", memory="1"),
        make_node("others").label("tier", "a"),
        make_node("fine").label("tier", "a").label("cpu", "true"),
    ]
    pod = make_pod().node_selector(tier="a").requests(cpu="2", memory="1Mi").port(80)
    fit = fit_of(pod, nodes, [make_pod().port(80).on("taken")], make_policy(node_selector={"cpu": "true"}))
    assert fit.nodes == {"fine"}
    assert fit.refused == {
        "node(s) were unschedulable": {"all"},
        "node(s) had untolerated taint(s)": {"tainted"},
        "node(s) didn't match Pod's node affinity/selector": {"apart"},
        "node(s) didn't have free ports for the requested pod ports": {"taken"},
        "Insufficient cpu": {"small"},
        "Insufficient memory": {"small"},
        "node(s) didn't match the scheduling policy's node selector": {"others"},
    }
    assert list(dict.fromkeys(fit.plugins)) == [
        "NodeUnschedulable",
        "TaintToleration",
        "NodeAffinity",
        "NodePorts",
        "NodeResourcesFit",
        "SchedulingPolicyNodes",
    ]


def test_node_filters_run_in_kube_schedulers_order() -> None:
    assert [f.name for f in NODE_FILTERS] == ["NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity"]


NODES = [f"n{i}" for i in range(6)]
some_nodes = st.lists(
    st.builds(
        lambda cordoned, tainted, tier, cpu: _node(cordoned=cordoned, tainted=tainted, tier=tier, cpu=cpu),
        st.booleans(), st.booleans(), st.sampled_from(["", "a", "b"]), st.sampled_from(["1", "2", "4"]),
    ),
    min_size=len(NODES), max_size=len(NODES),
)  # fmt: skip
some_pods = st.builds(
    lambda tier, name, cpu, port: _pod(tier=tier, name=name, cpu=cpu, port=port),
    st.sampled_from(["", "a"]), st.sampled_from(["", *NODES]), st.sampled_from(["0", "2"]), st.sampled_from([0, 80]),
)  # fmt: skip


def _node(*, cordoned: bool, tainted: bool, tier: str, cpu: str) -> Callable[[str], NodeBuilder]:
    def named(name: str) -> NodeBuilder:
        node = make_node(name).offers(cpu=cpu)
        node = node.cordoned() if cordoned else node
        node = node.taint("a") if tainted else node
        return node.label("tier", tier) if tier else node

    return named


def _pod(*, tier: str, name: str, cpu: str, port: int) -> PodBuilder:
    pod = make_pod().cpu(cpu)
    pod = pod.node_selector(tier=tier) if tier else pod
    if name:
        pod.required_node_affinity({"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]})
    return pod.port(port) if port else pod


@settings(max_examples=60, deadline=None)
@given(some_nodes, some_pods, st.lists(st.sampled_from(NODES), max_size=3))
def test_every_node_fits_or_stands_under_one_filter(
    nodes: list[Callable[[str], NodeBuilder]], pod: PodBuilder, taken: list[str]
) -> None:
    built = [node(name) for node, name in zip(nodes, NODES, strict=True)]
    fit = run(pod, built, [make_pod().port(80).on(name) for name in taken], make_policy(node_selector={"tier": "a"}))
    plugins = Counter(dict.fromkeys(NODES, 0))
    for plugin in set(fit.plugins):
        reasons = [r for p, r in zip(fit.plugins, fit.refused, strict=True) if p == plugin]
        plugins.update(set().union(*(fit.refused[reason] for reason in reasons)))
    assert {name for name, count in plugins.items() if count == 0} == fit.nodes
    assert set(plugins.values()) <= {0, 1}
