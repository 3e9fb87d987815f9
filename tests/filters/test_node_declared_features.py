from __future__ import annotations

from typing import Any

import pytest

from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.filters.caches import FilterCaches
from plimsoll.filters.node_declared_features import NodeDeclaredFeatures
from plimsoll.filters.prepared import prepare_filters
from plimsoll.filters.run import run_filters
from plimsoll.policy.compiled import BUILT_IN
from tests.builders import NodeBuilder, PodBuilder, make_cache, make_node, make_pod
from tests.filters.conftest import FitOf

Json = dict[str, Any]

FEATURES = NodeDeclaredFeatures()
REASON = "node(s) didn't match Pod's required features"
RESTART, NAMESPACES = "RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport"


def declaring(name: str, *features: str) -> NodeBuilder:
    return make_node(name).status(declaredFeatures=sorted(features))


def restarting(*, kind: str = "containers") -> PodBuilder:
    return make_pod().spec(**{kind: [{"name": "main", "restartPolicyRules": [{"action": "RestartAllContainers"}]}]})


@pytest.mark.parametrize(
    ("pod", "feature"),
    [
        pytest.param(restarting(), RESTART, id="a container that restarts all"),
        pytest.param(restarting(kind="initContainers"), RESTART, id="an init container that restarts all"),
        pytest.param(
            make_pod().spec(hostNetwork=True, hostUsers=False), NAMESPACES, id="user namespaces on the host's network"
        ),
    ],
)
def test_what_a_pod_makes_use_of_must_be_declared(pod: PodBuilder, feature: str, fit_of: FitOf) -> None:
    nodes = [make_node("silent"), declaring("able", feature, "Another"), declaring("other", "Another")]
    fit = fit_of(pod, nodes)
    assert fit.nodes == {"able"}
    assert fit.refused == {REASON: {"silent", "other"}}
    assert fit.resolvable == {REASON: set()}
    assert fit.plugins == ["NodeDeclaredFeatures"]


def test_all_of_it_must_be_declared(fit_of: FitOf) -> None:
    pod = restarting().spec(hostNetwork=True, hostUsers=False)
    assert fit_of(pod, [declaring("one", RESTART), declaring("both", RESTART, NAMESPACES)]).nodes == {"both"}


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"hostNetwork": True}, id="the host's network"),
        pytest.param({"hostUsers": False}, id="user namespaces"),
        pytest.param({"hostNetwork": True, "hostUsers": True}, id="the host's users"),
        pytest.param(
            {"containers": [{"name": "main", "restartPolicyRules": [{"action": "Restart"}]}]}, id="restart of one"
        ),
    ],
)
def test_what_every_kubelet_can_do_is_not_asked_for(spec: Json, fit_of: FitOf) -> None:
    assert fit_of(make_pod().spec(**spec), [make_node("silent")]).nodes == {"silent"}


def test_pods_that_need_different_features_are_not_taken_for_alike() -> None:
    view, caches = make_cache([make_node("silent")]).view, FilterCaches()
    pods = (make_pod(), restarting(), make_pod().spec(hostNetwork=True, hostUsers=False))
    fits = [run_filters(prepare_filters(view, pod.info(), BUILT_IN), caches).rows.tolist() for pod in pods]
    assert fits == [[True], [False], [False]]


@pytest.mark.parametrize(
    ("before", "after", "want"),
    [
        pytest.param(None, declaring("n", RESTART), True, id="a node with the feature came"),
        pytest.param(None, make_node("n"), False, id="a node without it came"),
        pytest.param(make_node("n"), declaring("n", RESTART), True, id="a node learned it"),
        pytest.param(make_node("n"), declaring("n", "Another"), False, id="a node learned another"),
    ],
)
def test_what_helps(before: NodeBuilder | None, after: NodeBuilder, *, want: bool) -> None:
    cache = make_cache([] if before is None else [before])
    news = cache.put_node(after.info())
    assert news is not None
    assert news.kind & FEATURES.wakes
    assert FEATURES.helps(news, restarting().info(), cache.view) is want


def test_labels_do_not_help() -> None:
    assert not Change(ChangeKind.NODE_LABELS).kind & FEATURES.wakes
