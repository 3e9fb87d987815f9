"""An index of waiting pods names everybody whom the filter's own hint would wake, and few others."""

from __future__ import annotations

from collections.abc import Iterator

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from plimsoll.cluster.cache import Cache
from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.pod import PodInfo
from plimsoll.filters.order import hint, waiting_index, wakes_of
from tests import crowds
from tests.builders import NodeBuilder, PodBuilder, make_cache, make_node, make_pod

PLUGINS = [
    "NodePorts", "NodeResourcesFit", "VolumeRestrictions", "NodeVolumeLimits", "PodTopologySpread", "InterPodAffinity",
]  # fmt: skip
HOST = "kubernetes.io/hostname"
MANY = 1000


@st.composite
def sized(draw: st.DrawFn, pods: st.SearchStrategy[PodBuilder]) -> PodBuilder:
    pod = draw(pods).priority(draw(st.integers(0, 2)))
    if cpu := draw(st.integers(0, 5)):
        pod.cpu(str(cpu))
    if draw(st.integers(0, 3)) == 0:
        pod.resource("example.com/gpu", str(draw(st.integers(1, 2))))
    if draw(st.integers(0, 4)) == 0:
        pod.spec(preemptionPolicy="Never")
    return pod.port(80) if draw(st.integers(0, 3)) == 0 else pod


@st.composite
def offering(draw: st.DrawFn) -> NodeBuilder:
    resources = {"cpu": str(draw(st.integers(0, 8))), "pods": str(draw(st.integers(1, 4)))}
    return draw(crowds.nodes()).offers(**resources, **{"example.com/gpu": "2"})


steps = st.lists(
    st.one_of(
        st.tuples(st.just("node"), offering()),
        st.tuples(st.just("node gone"), st.sampled_from(crowds.NODES)),
        st.tuples(st.just("pod"), sized(crowds.placed_pods())),
        st.tuples(st.just("pod gone"), sized(crowds.placed_pods())),
        st.tuples(st.just("nominated"), sized(crowds.placed_pods())),
    ),
    min_size=5,
    max_size=25,
)


def changes(cache: Cache, step: tuple[str, object]) -> Iterator[Change | None]:
    match step:
        case ("node", NodeBuilder() as node):
            yield cache.put_node(node.info())
        case ("node gone", str(name)):
            yield cache.drop_node(name)
        case ("pod", PodBuilder() as pod):
            yield cache.put_pod(pod.info())
        case ("pod gone", PodBuilder() as pod):
            yield cache.drop_pod(pod.info().uid)
        case ("nominated", PodBuilder() as pod):
            yield cache.nominate(pod.info(), pod.info().node)
            yield cache.pending_pod_gone(pod.info().uid)


@pytest.mark.parametrize("plugin", PLUGINS)
@settings(max_examples=150)
@given(st.lists(sized(st.one_of(crowds.pods(), crowds.bound_pods())), min_size=1, max_size=8), steps, st.data())
def test_whoever_may_be_helped_is_among_the_candidates(
    plugin: str, waiting: list[PodBuilder], history: list[tuple[str, object]], data: st.DataObject
) -> None:
    index, cache = waiting_index(plugin), make_cache()
    assert index is not None
    pods: dict[int, PodInfo] = {}
    for key, pod in enumerate(waiting):
        pods[key] = pod.info()
        index.add(key, pods[key])
    for step in history:
        if len(pods) > 1 and data.draw(st.integers(0, 9)) == 0:
            gone = data.draw(st.sampled_from(sorted(pods)))
            index.remove(gone)
            del pods[gone]
        for change in changes(cache, step):
            if change is None or not change.kind & wakes_of((plugin,)):
                continue
            helps = hint(plugin, change, cache.view)
            found = index.candidates(change, cache.view)
            named = set(pods if found is None else found)
            assert named <= set(pods)
            assert {key for key, pod in pods.items() if helps(pod)} <= named


def _waiting(i: int) -> PodBuilder:
    """A thousand different pods."""
    term = {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": f"app-{i}"}}}
    pod = make_pod(f"waiting-{i}").labels(app=f"app-{i}").cpu(f"{i + 1}m").port(i + 1)
    return pod.apart(term).spread_over(HOST, {"matchLabels": {"app": f"app-{i}"}})


@pytest.mark.parametrize(
    ("plugin", "gone", "few"),
    [
        pytest.param("NodePorts", make_pod("gone").cpu("1").on("n"), 0, id="it held no port"),
        pytest.param("NodeVolumeLimits", make_pod("gone").cpu("1").on("n"), 0, id="it had no volume"),
        pytest.param(
            "NodeResourcesFit", make_pod("gone").cpu("100m").on("n"), 100, id="they fit now and did not before"
        ),
        pytest.param("PodTopologySpread", make_pod("gone").labels(app="app-7").on("n"), 1, id="it was counted"),
        pytest.param("InterPodAffinity", make_pod("gone").labels(app="app-7").on("n"), 1, id="it was in the way"),
        pytest.param("InterPodAffinity", _waiting(8).labels(app="x").on("n"), 1, id="it kept others away"),
    ],
)
def test_a_pod_that_goes_is_told_to_few(plugin: str, gone: PodBuilder, few: int) -> None:
    index = waiting_index(plugin)
    assert index is not None
    for key in range(MANY):
        index.add(key, _waiting(key).info())
    full = make_pod("full").cpu("3500m").on("n")
    cache = make_cache([make_node("n").offers(cpu="4").label(HOST, "n")], [full])
    found = index.candidates(Change(ChangeKind.POD_DELETED, before=gone.info()), cache.view)
    assert found is not None
    assert len(set(found)) == few


def test_a_label_that_nobody_spreads_by_is_told_to_nobody() -> None:
    index = waiting_index("InterPodAffinity")
    assert index is not None
    for key in range(MANY):
        index.add(key, _waiting(key).info())
    cache = make_cache([make_node("n").label(HOST, "n")])
    change = cache.put_node(make_node("n").label(HOST, "n").label("other", "x").info())
    assert change is not None
    assert index.candidates(change, cache.view) == []
    renamed = cache.put_node(make_node("n").label(HOST, "m").info())
    assert renamed is not None
    assert len(set(index.candidates(renamed, cache.view) or ())) == MANY
