from __future__ import annotations

import pytest

from plimsoll.cluster.cache import Cache
from plimsoll.cluster.changes import ChangeKind
from plimsoll.cluster.pod import HostPort, Uid
from plimsoll.cluster.pod_counts import PodMatcher
from plimsoll.cluster.snapshot import CPU_COLUMN, PODS_COLUMN
from tests.builders import NodeBuilder, PodBuilder, make_cache, make_node, make_pod

NONE = ChangeKind(0)


def node() -> NodeBuilder:
    return make_node("n1").label("tier", "a").offers(cpu="4").taint("old")


@pytest.mark.parametrize(
    ("after", "want"),
    [
        pytest.param(node(), None, id="nothing"),
        pytest.param(node().metadata(resourceVersion="2"), None, id="a heartbeat"),
        pytest.param(node().label("tier", "b"), ChangeKind.NODE_LABELS, id="a label"),
        pytest.param(node().taint("new"), ChangeKind.NODE_TAINTS, id="a taint"),
        pytest.param(node().offers(cpu="5"), ChangeKind.NODE_ALLOCATABLE, id="more cpu"),
        pytest.param(node().resource("nvidia.com/gpu", "1"), ChangeKind.NODE_ALLOCATABLE, id="a new resource"),
        pytest.param(node().offers(cpu="3"), None, id="less cpu helps nobody"),
        pytest.param(node().cordoned(), None, id="a cordon helps nobody"),
        pytest.param(
            node().label("tier", "b").offers(cpu="5"),
            ChangeKind.NODE_LABELS | ChangeKind.NODE_ALLOCATABLE,
            id="several things at once",
        ),
    ],
)
def test_a_node_that_changed(after: NodeBuilder, want: ChangeKind | None) -> None:
    cache = make_cache([node()])
    change = cache.put_node(after.info())
    assert (None if change is None else change.kind) == want


def test_an_uncordoned_node_may_help() -> None:
    change = make_cache([node().cordoned()]).put_node(node().info())
    assert change is not None
    assert (change.kind, change.after.name) == (ChangeKind.NODE_SCHEDULABLE, "n1")


def test_what_helps_nobody_is_in_force_all_the_same() -> None:
    cache = make_cache([node()])
    cache.put_node(node().cordoned().offers(cpu="1").info())
    assert cache.view.nodes[0] == node().cordoned().offers(cpu="1").info()
    assert cache.view.allocatable[0, CPU_COLUMN] == 1000


def test_a_resource_that_a_node_no_longer_offers_is_gone() -> None:
    cache = make_cache([node().resource("nvidia.com/gpu", "4")])
    cache.put_node(node().info())
    assert cache.view.allocatable[0, cache.view.columns["nvidia.com/gpu"]] == 0


def test_a_heartbeat_moves_nothing() -> None:
    cache = make_cache([node()])
    topology = cache.view.topology
    cache.put_node(node().metadata(resourceVersion="2").info())
    assert cache.view.topology == topology


def test_nodes_come_and_go() -> None:
    cache = make_cache()
    come = cache.put_node(node().info())
    gone = cache.drop_node("n1")
    assert come is not None
    assert gone is not None
    assert (come.kind, come.after) == (ChangeKind.NODE_ADDED, node().info())
    assert (gone.kind, gone.before) == (ChangeKind.NODE_DELETED, node().info())
    assert cache.drop_node("n1") is None
    assert cache.drop_node("never seen") is None


def pod() -> PodBuilder:
    return make_pod("web").cpu("1").labels(app="web").on("n1")


@pytest.mark.parametrize(
    ("after", "want"),
    [
        pytest.param(pod(), None, id="nothing"),
        pytest.param(pod().metadata(resourceVersion="2"), None, id="a status that nobody looks at"),
        pytest.param(pod().cpu("500m"), ChangeKind.POD_SHRUNK, id="resized down"),
        pytest.param(pod().cpu("2"), None, id="resized up"),
        pytest.param(pod().labels(app="db"), ChangeKind.POD_LABELS, id="relabelled"),
        pytest.param(pod().deleting(), ChangeKind.POD_DELETING, id="terminating holds all but its place in spreading"),
        pytest.param(pod().phase("Succeeded"), ChangeKind.POD_DELETED, id="terminal is as good as deleted"),
        pytest.param(pod().phase("Failed"), ChangeKind.POD_DELETED, id="however it ended"),
    ],
)
def test_a_pod_that_changed(after: PodBuilder, want: ChangeKind | None) -> None:
    cache = make_cache([node()], [pod()])
    change = cache.put_pod(after.info())
    assert (None if change is None else change.kind) == want


def test_the_change_carries_the_pod_as_it_was() -> None:
    cache = make_cache([node()], [pod()])
    change = cache.put_pod(pod().cpu("500m").info())
    assert change is not None
    assert change.before == pod().info()


def test_pods_come_and_go() -> None:
    cache = make_cache([node()])
    come = cache.put_pod(pod().info())
    gone = cache.drop_pod(pod().info().uid)
    assert come is not None
    assert gone is not None
    assert (come.kind, come.after) == (ChangeKind.POD_ADDED, pod().info())
    assert (gone.kind, gone.before) == (ChangeKind.POD_DELETED, pod().info())
    assert cache.drop_pod(pod().info().uid) is None


def test_a_terminal_pod_that_was_never_counted_changes_nothing() -> None:
    cache = make_cache([node()])
    assert cache.put_pod(pod().phase("Succeeded").info()) is None
    assert list(cache.pods()) == []


# -- assumptions ------------------------------------------------------------------------------------------


def test_what_is_assumed_counts_at_once_and_is_confirmed_without_a_change() -> None:
    cache = make_cache([node()])
    assumed = cache.assume(make_pod("web").cpu("1").labels(app="web").info(), "n1")
    assert assumed.node == "n1"
    assert cache.assumed() == {assumed.uid}
    assert cache.is_assumed(assumed.uid)
    assert cache.view.requested[0, CPU_COLUMN] == 1000
    assert cache.put_pod(pod().info()) is None
    assert cache.assumed() == frozenset()
    assert cache.view.requested[0, CPU_COLUMN] == 1000


def test_labels_that_come_with_the_binding_count_and_nothing_is_counted_twice() -> None:
    cache = make_cache([node()])
    cache.assume(make_pod("web").cpu("1").labels(app="web").info(), "n1")
    workloads, rows = cache.view.workloads.version, cache.view.changed.position
    change = cache.put_pod(pod().labels(zone="a").info())
    assert change is not None
    assert change.kind is ChangeKind.POD_LABELS
    assert not cache.assumed()
    assert cache.view.requested[0, CPU_COLUMN] == 1000
    assert cache.view.workloads.version == workloads
    assert cache.view.changed.since(rows) == {0}
    assert [_selected(cache, app="web"), _selected(cache, zone="a"), cache.view.pods.classes] == [1, 1, 1]
    cache.put_pod(pod().labels(zone="b").info())
    assert [_selected(cache, zone="a"), _selected(cache, zone="b")] == [0, 1]


def _selected(cache: Cache, **labels: str) -> int:
    terms = make_pod().together({"labelSelector": {"matchLabels": labels}, "topologyKey": "tier"}).info()
    matcher = PodMatcher(tuple(term.pods for term in terms.required_affinity))
    return int(cache.view.pods.counts(matcher)[0])


def test_what_is_forgotten_counts_as_deleted() -> None:
    cache = make_cache([node()])
    uid = cache.assume(make_pod("web").info(), "n1").uid
    change = cache.forget(uid)
    assert change is not None
    assert change.kind is ChangeKind.POD_DELETED
    assert uid not in cache
    assert cache.forget(uid) is None


def test_what_is_confirmed_is_not_forgotten() -> None:
    cache = make_cache([node()])
    cache.assume(make_pod("web").info(), "n1")
    cache.put_pod(pod().info())
    assert cache.forget(pod().info().uid) is None
    assert pod().info().uid in cache


def test_what_is_confirmed_on_another_node_frees_the_room_where_it_was_assumed() -> None:
    cache = make_cache([node(), make_node("n2")])
    cache.assume(make_pod("web").cpu("1").info(), "n2")
    change = cache.put_pod(pod().info())
    assert change is not None
    assert change.kind == ChangeKind.POD_DELETED | ChangeKind.POD_ADDED
    assert change.before is not None
    assert change.before.node == "n2"
    assert cache.view.requested[:, CPU_COLUMN].tolist() == [1000, 0]
    assert [p.name for p in cache.pods_on("n1")] == ["web"]
    assert list(cache.pods_on("n2")) == []


def test_the_end_of_an_assumed_pod_ends_the_assumption() -> None:
    cache = make_cache([node()])
    uid = cache.assume(make_pod("web").info(), "n1").uid
    assert cache.drop_pod(uid) is not None
    assert cache.assumed() == frozenset()


def test_a_pod_is_assumed_once() -> None:
    cache = make_cache([node()], [pod()])
    with pytest.raises(ValueError, match="default/web is on node n1 already"):
        cache.assume(make_pod("web").info(), "n1")


# -- pods and nodes in any order --------------------------------------------------------------------------


def test_pods_count_as_soon_as_their_node_is_there() -> None:
    cache = make_cache(pods=[pod()])
    assert cache.view.size == 0
    cache.put_node(node().info())
    assert cache.view.requested[0, [CPU_COLUMN, PODS_COLUMN]].tolist() == [1000, 1]


def test_a_node_that_comes_back_finds_its_pods() -> None:
    cache = make_cache([node()], [pod().port(80)])
    cache.drop_node("n1")
    cache.drop_pod(Uid("uid-default-other"))
    cache.put_node(make_node("n2").info())
    cache.put_node(node().info())
    assert cache.view.requested[:, CPU_COLUMN].tolist() == [0, 1000]
    assert list(cache.view.ports.rows_in_conflict(HostPort("10.0.0.1", "TCP", 80))) == [1]
    assert cache.view.workloads.counts(pod().port(80).info().workload) == {1: 1}


def test_a_pod_of_a_deleted_node_goes_without_a_trace() -> None:
    cache = make_cache([node()], [pod()])
    cache.drop_node("n1")
    cache.drop_pod(pod().info().uid)
    cache.put_node(node().info())
    assert cache.view.requested[0].tolist() == [0, 0, 0, 0]


def test_a_row_is_used_again_and_starts_clean() -> None:
    cache = make_cache([node().zone("a").resource("nvidia.com/gpu", "4"), make_node("n2")], [pod()])
    cache.drop_node("n1")
    assert (cache.view.live.tolist(), cache.view.name(0), cache.view.nodes[0]) == ([False, True], "", None)
    cache.put_node(make_node("n3").info())
    assert cache.view.row_of == {"n2": 1, "n3": 0}
    assert cache.view.allocatable[0].tolist() == [16000, 64 * 2**30, 0, 110, 0]
    assert cache.view.requested[0].tolist() == [0, 0, 0, 0, 0]
    assert cache.view.zone[0] == 0


def test_rows_grow_with_the_cluster_and_keep_what_they_hold() -> None:
    cache = make_cache()
    for i in range(100):
        cache.put_node(make_node(f"n{i}").zone(f"z{i % 3}").offers(cpu=str(i + 1)).info())
        cache.put_pod(make_pod(f"p{i}").cpu(f"{i}m").on(f"n{i}").info())
    view = cache.view
    assert view.size == 100
    assert view.live.all()
    assert view.allocatable[:, CPU_COLUMN].tolist() == [1000 * (i + 1) for i in range(100)]
    assert view.requested[:, CPU_COLUMN].tolist() == list(range(100))
    assert view.zone.tolist() == [i % 3 + 1 for i in range(100)]
    assert [row for row, _ in view.live_nodes()] == list(range(100))


def test_a_resource_gets_a_column_when_a_pod_or_a_node_names_it_first() -> None:
    cache = make_cache([make_node("n1")], [make_pod().resource("nvidia.com/gpu", "2").on("n1")])
    cache.put_node(make_node("n2").resource("hugepages-2Mi", "4Mi").info())
    gpu, huge = cache.view.columns["nvidia.com/gpu"], cache.view.columns["hugepages-2Mi"]
    assert cache.view.requested[:, gpu].tolist() == [2, 0]
    assert cache.view.allocatable[:, huge].tolist() == [0, 4 * 2**20]


def test_pods_that_ask_for_everything_do_not_overflow_a_row() -> None:
    greedy = [make_pod(f"p{i}").memory("7Ei").container(memory="7Ei").on("n1") for i in range(5)]
    cache = make_cache([make_node("n1")], greedy)
    column = cache.view.columns["memory"]
    assert cache.view.requested[0, column] > cache.view.allocatable[0, column]
    for pod in greedy:
        cache.drop_pod(pod.info().uid)
    assert cache.view.requested[0].tolist() == [0, 0, 0, 0]


def test_terminating_pods_are_no_neighbours_any_more_but_hold_the_rest() -> None:
    cache = make_cache([node()], [pod().port(80)])
    workload = pod().info().workload
    assert cache.view.workloads.counts(workload) == {0: 1}
    cache.put_pod(pod().port(80).deleting().info())
    assert cache.view.workloads.counts(workload) == {}
    assert cache.view.requested[0, CPU_COLUMN] == 1000
    assert list(cache.view.ports.rows_in_conflict(HostPort("0.0.0.0", "TCP", 80))) == [0]
