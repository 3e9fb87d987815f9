"""What a filter declares of itself: whoever keeps verdicts by row relies on it."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from plimsoll.cluster.cache import Cache
from plimsoll.cluster.invalidates import Invalidates
from plimsoll.cluster.pod import PodInfo
from plimsoll.filters.interface import ClusterFilter, Problem
from plimsoll.filters.node_ports import NodePorts
from plimsoll.filters.node_resources_fit import NodeResourcesFit
from plimsoll.filters.order import CLUSTER_FILTERS
from tests import crowds
from tests.builders import NodeBuilder, PodBuilder, make_cache

BY_ROW = [f for f in CLUSTER_FILTERS if f.invalidates is Invalidates.ROW]
_amounts = st.integers(0, 4)


@st.composite
def pods(draw: st.DrawFn) -> PodBuilder:
    pod = draw(crowds.placed_pods()).cpu(str(draw(_amounts)))
    return pod.port(draw(st.sampled_from([80, 81]))) if draw(st.booleans()) else pod


@st.composite
def nodes(draw: st.DrawFn) -> NodeBuilder:
    return draw(crowds.nodes()).offers(cpu=str(draw(_amounts)), pods=str(draw(st.integers(1, 3))))


def _verdicts(judge: ClusterFilter, cache: Cache, pod: PodInfo) -> dict[str, list[tuple[str, bool]]]:
    """Of each node, the reasons against it."""
    prepared = judge.prepare(cache.view, pod)
    assert not isinstance(prepared, Problem)
    refusals = () if prepared is None else tuple(prepared.refusals())
    return {
        name: [(r.reason, bool(r.resolvable[row])) for r in refusals if r.rows[row]]
        for name, row in cache.view.row_of.items()
    }


def test_by_row_are_those_that_count_what_a_node_has_alone() -> None:
    assert [f.name for f in BY_ROW] == [NodePorts.name, NodeResourcesFit.name]


@pytest.mark.parametrize("judge", BY_ROW, ids=lambda judge: judge.name)
@settings(max_examples=100)
@given(
    pods(),
    st.lists(nodes(), unique_by=lambda node: node.obj()["metadata"]["name"], min_size=2, max_size=4),
    st.lists(pods(), max_size=6),
    st.one_of(pods(), nodes()),
)
def test_only_the_row_that_changed_is_judged_otherwise(
    judge: ClusterFilter,
    incoming: PodBuilder,
    there: list[NodeBuilder],
    placed: list[PodBuilder],
    change: PodBuilder | NodeBuilder,
) -> None:
    cache, pod = make_cache(there, placed), incoming.named("incoming").info()
    before = _verdicts(judge, cache, pod)
    if isinstance(change, PodBuilder):
        info = change.named("changing").info()
        cache.put_pod(info)
        changed = info.node
    else:
        node = change.info()
        cache.put_node(node)
        changed = node.name
    after = _verdicts(judge, cache, pod)
    assert {name: v for name, v in after.items() if name != changed} == {
        name: v for name, v in before.items() if name != changed
    }
