from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.pod import HostPort, PodInfo
from plimsoll.cluster.times import epoch_s, timestamp, timestamp_micro
from plimsoll.errors import ObjectError
from tests.builders import PodBuilder, make_node, make_pod


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(make_pod("web", "shop").cpu("lots").obj(), id="a request that is no quantity"),
        pytest.param(make_pod("web", "shop").spec(containers=["x"]).obj(), id="a container that is no object"),
        pytest.param(make_pod("web", "shop").spec(tolerations=[7]).obj(), id="a toleration that is no object"),
        pytest.param(make_pod("web", "shop").spec(overhead=[1]).obj(), id="an overhead that is no map"),
        pytest.param(make_pod("web", "shop").metadata(creationTimestamp=7).obj(), id="a time that is no text"),
        pytest.param(
            make_pod("web", "shop").required_node_affinity({"matchExpressions": [{"values": [{}]}]}).obj(),
            id="a selector's value that is no text",
        ),
        pytest.param({"metadata": {"name": "web", "namespace": "shop"}}, id="no uid"),
    ],
)
def test_a_pod_that_cannot_be_read_is_named(broken: dict[str, Any]) -> None:
    with pytest.raises(ObjectError, match=r"^pod shop/web cannot be read: ."):
        PodInfo.parse(broken)


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(make_node("n1").offers(cpu="many").obj(), id="an allocatable that is no quantity"),
        pytest.param({"metadata": {"name": "n1"}, "spec": {"taints": ["x"]}}, id="a taint that is no object"),
        pytest.param({"metadata": {"name": "n1"}, "status": {"addresses": [1]}}, id="an address that is no object"),
    ],
)
def test_a_node_that_cannot_be_read_is_named(broken: dict[str, Any]) -> None:
    with pytest.raises(ObjectError, match=r"^node n1 cannot be read: ."):
        NodeInfo.parse(broken)


def test_what_has_no_name_is_reported_all_the_same() -> None:
    with pytest.raises(ObjectError, match=r"^node \? cannot be read"):
        NodeInfo.parse({})
    with pytest.raises(ObjectError, match=r"^pod \?/\? cannot be read"):
        PodInfo.parse({})


def test_a_node() -> None:
    node = (
        make_node("n1").zone("a").taint("dedicated", value="gpu").cordoned().address("10.0.0.1").offers(cpu="1500m")
    ).info()
    assert (node.name, node.uid, node.zone, node.unschedulable, node.addresses) == (
        "n1", "uid-n1", "a", True, ("10.0.0.1",)
    )  # fmt: skip
    assert [taint.key for taint in node.taints] == ["dedicated"]
    assert node.allocatable == {"cpu": 1500, "memory": 64 * 2**30, "pods": 110}
    assert node.created_s == 1_767_225_600


def test_capacity_is_told_from_allocatable() -> None:
    node = make_node().offers(cpu="4").allocatable(cpu="3500m").info()
    assert (node.capacity["cpu"], node.allocatable["cpu"]) == (4000, 3500)


def test_a_node_that_says_nothing_offers_nothing() -> None:
    node = NodeInfo.parse({"metadata": {"name": "n1"}})
    assert (node.allocatable, node.labels, node.zone, node.taints, node.unschedulable) == ({}, {}, "", (), False)


def test_only_our_own_annotations_are_kept() -> None:
    pod = make_pod().annotate("plimsoll.dev/policy", "p").annotate("other/thing", "x" * 1000).info()
    node = make_node().annotate("plimsoll.dev/network-capacity", "1G").annotate("other/thing", "x").info()
    assert pod.annotations == {"plimsoll.dev/policy": "p"}
    assert node.annotations == {"plimsoll.dev/network-capacity": "1G"}


def test_a_pod() -> None:
    pod = make_pod("web", "shop").labels(app="web").priority(7).gated("a", "b").on("n1").info()
    assert (pod.key, pod.node, pod.priority, pod.gates, pod.labels) == ("shop/web", "n1", 7, ("a", "b"), {"app": "web"})
    assert not pod.terminal
    assert not pod.deleting


def test_what_a_pod_leaves_out_has_its_usual_meaning() -> None:
    pod = PodInfo.parse({"metadata": {"uid": "u", "namespace": "d", "name": "p"}})
    assert (pod.priority, pod.phase, pod.node, pod.requests, pod.host_ports) == (0, "Pending", "", {}, ())
    assert (pod.scheduled_s, pod.started_s, pod.node_affinity) == (None, None, None)


@pytest.mark.parametrize(
    ("phase", "want"),
    [("Pending", False), ("Running", False), ("Unknown", False), ("Succeeded", True), ("Failed", True)],
)
def test_a_pod_that_has_ended_is_terminal(phase: str, want: bool) -> None:  # noqa: FBT001
    assert make_pod().phase(phase).info().terminal is want


def test_a_deletion_timestamp_is_not_the_end() -> None:
    pod = make_pod().deleting().info()
    assert pod.deleting
    assert not pod.terminal


@pytest.mark.parametrize(
    ("pod", "want"),
    [
        pytest.param(make_pod(), False, id="an ordinary pod"),
        pytest.param(make_pod().priority(1_999_999_999), False, id="an important one"),
        pytest.param(make_pod().priority(2_000_000_000), True, id="system-cluster-critical"),
        pytest.param(make_pod().priority(2_000_001_000), True, id="system-node-critical"),
        pytest.param(make_pod().owner("DaemonSet", "agent"), True, id="of a DaemonSet"),
        pytest.param(make_pod().owner("ReplicaSet", "web"), False, id="of a ReplicaSet"),
    ],
)
def test_critical_and_daemon_pods_are_exempt_from_limits(pod: PodBuilder, want: bool) -> None:  # noqa: FBT001
    assert pod.info().exempt_from_limits is want


def test_times_come_from_the_status() -> None:
    scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-01-01T00:00:10Z"}
    pod = make_pod().on("n1").status(conditions=[scheduled], startTime="2026-01-01T00:00:12Z").info()
    assert (pod.created_s, pod.scheduled_s, pod.started_s) == (1_767_225_600, 1_767_225_610, 1_767_225_612)


def test_a_pod_that_waits_has_no_time_of_scheduling() -> None:
    waiting = {"type": "PodScheduled", "status": "False", "lastTransitionTime": "2026-01-01T00:00:10Z"}
    assert make_pod().status(conditions=[waiting]).info().scheduled_s is None


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("1970-01-01T00:00:01Z", 1.0),
        ("1970-01-01T01:00:00+01:00", 0.0),
        ("1970-01-01T00:00:00.250000Z", 0.25),
        ("", None),
        (None, None),
        ("yesterday", None),
    ],
)
def test_timestamps(text: str | None, want: float | None) -> None:
    assert epoch_s(text) == want


def test_timestamps_are_written_as_the_api_server_writes_them() -> None:
    assert timestamp(1.9) == "1970-01-01T00:00:01Z"
    assert timestamp_micro(1.5) == "1970-01-01T00:00:01.500000Z"


def test_host_ports_with_what_is_left_out_filled_in() -> None:
    pod = make_pod().port(80).port(53, ip="10.0.0.1", protocol="UDP").port(80, protocol="TCP").info()
    assert pod.host_ports == (HostPort("0.0.0.0", "TCP", 80), HostPort("10.0.0.1", "UDP", 53))


def test_sidecars_claim_host_ports_and_ordinary_init_containers_do_not() -> None:
    ports = [{"containerPort": 1, "hostPort": 81}]
    inits = [{"name": "a", "ports": ports}, {"name": "b", "restartPolicy": "Always", "ports": [{"hostPort": 82}]}]
    assert [port.port for port in make_pod().spec(initContainers=inits).info().host_ports] == [82]


def test_container_ports_claim_nothing() -> None:
    containers = [{"name": "main", "ports": [{"containerPort": 80}, {"containerPort": 81, "hostPort": 0}]}]
    assert make_pod().spec(containers=containers).info().host_ports == ()


def test_expected_network_use_is_read_from_annotations() -> None:
    pod = make_pod().annotate("plimsoll.dev/network-receive", "10M").annotate("plimsoll.dev/network-transmit", "1Ki")
    assert pod.info().expected_network == {"networkReceive": 10_000_000, "networkTransmit": 1024}


@pytest.mark.parametrize("hint", ["fast", "", "9" * 5000, "1e" + "9" * 5000])
def test_a_hint_that_does_not_parse_is_set_aside_and_named(hint: str) -> None:
    pod = make_pod().annotate("plimsoll.dev/network-receive", hint).info()
    assert pod.expected_network == {}
    assert len(pod.ignored) == 1
    assert pod.ignored[0].startswith("metadata.annotations[plimsoll.dev/network-receive]: ")
    assert len(pod.ignored[0]) < 300


def test_pods_with_the_same_constraints_are_of_one_class() -> None:
    def pod(name: str) -> PodBuilder:
        return make_pod(name).node_selector(a="1", b="2").tolerate(key="x", operator="Exists")

    assert pod("p").cpu("1").info().class_key == pod("q").labels(app="q").info().class_key
    assert pod("p").info().class_key == make_pod().tolerate(key="x", operator="Exists").node_selector(b="2", a="1").info().class_key  # fmt: skip


@pytest.mark.parametrize(
    "other",
    [
        make_pod().node_selector(a="2"),
        make_pod().tolerate(key="x"),
        make_pod().required_node_affinity(),
        make_pod().required_node_affinity({}),
        make_pod().on("n1"),
        make_pod(),
    ],
    ids=["another selector", "a toleration", "affinity to nothing", "an empty term", "a node", "nothing"],
)
def test_pods_with_other_constraints_are_of_another_class(other: PodBuilder) -> None:
    assert make_pod().node_selector(a="1").info().class_key != other.info().class_key


@pytest.mark.parametrize(
    "odd", [pytest.param(2**64, id="beyond 64 bits"), pytest.param("\ud800", id="half a character")]
)
def test_whatever_a_pod_tolerates_it_has_a_class(odd: object) -> None:
    one = make_pod().spec(tolerations=[{"key": "x", "operator": "Exists", "tolerationSeconds": odd}]).info()
    other = make_pod("other").spec(tolerations=[{"tolerationSeconds": odd, "operator": "Exists", "key": "x"}]).info()
    assert one.class_key == other.class_key != make_pod().info().class_key


def test_a_pod_that_is_put_on_a_node_is_the_same_in_all_else() -> None:
    pod = make_pod("web").cpu("1").labels(app="web").info()
    pod = replace(pod, nominated_node="n1", generation=3)
    for field in fields(PodInfo):
        assert getattr(pod.on("n2"), field.name) == ("n2" if field.name == "node" else getattr(pod, field.name))
