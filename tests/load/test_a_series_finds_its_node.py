from __future__ import annotations

import pytest

from plimsoll.load.naming import Directory, NodeNamer
from plimsoll.load.samples import Sample
from tests.builders import NodeBuilder, make_node

NODES = (
    make_node("node-1").address("10.0.0.1").address("203.0.113.1", kind="ExternalIP"),
    make_node("node-2").address("10.0.0.2").address("fd00::2"),
    make_node("worker-3.example.com").address("worker-3", kind="Hostname").label("kubernetes.io/hostname", "rack3"),
    make_node("10.0.0.4").address("10.0.0.4"),
)
PODS = {"monitoring/exporter-a": "node-1", "monitoring/exporter-gone": "node-9"}
UNAME = (("10.9.9.1:9100", "node-1"), ("10.9.9.2:9100", "NODE-2.example.com"), ("10.9.9.3:9100", "worker-3"))
UNAME += (("10.9.9.5:9100", "rack3"), ("10.9.9.6:9100", "stranger"), ("two:9100", "node-1"), ("two:9100", "node-2"))


def namer(nodes: tuple[NodeBuilder, ...] = NODES, *, node_label: str | None = None) -> NodeNamer:
    uname = [Sample({"instance": instance, "nodename": host}, 1.0) for instance, host in UNAME]
    directory = Directory.of(node.info() for node in nodes)
    return NodeNamer(directory, pods=PODS, uname=uname, node_label=node_label)


@pytest.mark.parametrize(
    ("labels", "want"),
    [
        pytest.param({"node": "node-1"}, {"node-1"}, id="1: node"),
        pytest.param({"nodename": "node-2"}, {"node-2"}, id="1: nodename"),
        pytest.param({"kubernetes_node": "node-2"}, {"node-2"}, id="1: kubernetes_node"),
        pytest.param({"node": "node-1", "nodename": "node-2"}, {"node-1", "node-2"}, id="1: two labels disagree"),
        pytest.param({"node": "node-1", "instance": "node-2"}, {"node-1"}, id="1 goes before 2"),
        pytest.param(
            {"node": "nobody", "instance": "node-2"}, {"node-2"}, id="a label that names no node is passed by"
        ),
        pytest.param({"instance": "node-1"}, {"node-1"}, id="2: instance is the name"),
        pytest.param({"instance": "10.0.0.4"}, {"10.0.0.4"}, id="2: a name that is an address"),
        pytest.param({"instance": "10.0.0.2:9100"}, {"node-2"}, id="3: internal address"),
        pytest.param({"instance": "203.0.113.1:9100"}, {"node-1"}, id="3: external address"),
        pytest.param({"instance": "[fd00::2]:9100"}, {"node-2"}, id="3: IPv6 in brackets"),
        pytest.param({"instance": "fd00::2"}, {"node-2"}, id="3: IPv6 without port"),
        pytest.param({"instance": "[FD00:0:0::2]:9100"}, {"node-2"}, id="3: IPv6 written otherwise"),
        pytest.param({"instance": "node-1:9100"}, {"node-1"}, id="3: the name with a port"),
        pytest.param({"instance": "worker-3:9100"}, {"worker-3.example.com"}, id="3: a hostname with a port"),
        pytest.param({"instance": "10.9.9.1:9100"}, {"node-1"}, id="4: uname is the name"),
        pytest.param({"instance": "10.9.9.2:9100"}, {"node-2"}, id="4: uname is the FQDN, in capitals"),
        pytest.param({"instance": "10.9.9.3:9100"}, {"worker-3.example.com"}, id="4: uname is short, the name is not"),
        pytest.param({"instance": "10.9.9.5:9100"}, {"worker-3.example.com"}, id="4: uname is the hostname label"),
        pytest.param({"instance": "two:9100"}, {"node-1", "node-2"}, id="4: two hosts behind one instance"),
        pytest.param(
            {"instance": "10.1.2.3:9100", "namespace": "monitoring", "pod": "exporter-a"}, {"node-1"}, id="5: its pod"
        ),
        pytest.param({"namespace": "monitoring", "pod": "exporter-gone"}, set(), id="5: a pod on a node that is gone"),
        pytest.param({"instance": "10.9.9.6:9100"}, set(), id="a stranger"),
        pytest.param({"instance": "10.0.0.9:9100"}, set(), id="an address whose first number is a node's"),
        pytest.param({}, set(), id="no labels at all"),
    ],
)
def test_the_first_way_that_finds_a_node_wins(labels: dict[str, str], want: set[str]) -> None:
    assert namer().nodes(labels) == want


@pytest.mark.parametrize(
    ("labels", "want"),
    [
        pytest.param({"host": "node-2", "node": "node-1"}, {"node-2"}, id="it goes before all others"),
        pytest.param(
            {"host": "nobody", "node": "node-1"}, {"node-1"}, id="where it names no node the others are tried"
        ),
        pytest.param({"node": "node-1"}, {"node-1"}, id="where it is not there the others are tried"),
    ],
)
def test_the_policys_own_label(labels: dict[str, str], want: set[str]) -> None:
    assert namer(node_label="host").nodes(labels) == want


def test_an_address_of_two_nodes_is_ambiguous() -> None:
    nodes = (make_node("a").address("10.0.0.1"), make_node("b").address("10.0.0.1"))
    assert namer(nodes).nodes({"instance": "10.0.0.1:9100"}) == {"a", "b"}


def test_a_short_name_of_two_nodes_is_ambiguous_but_a_whole_one_is_not() -> None:
    nodes = (make_node("node-1.east").label("kubernetes.io/hostname", ""), make_node("node-1.west"))
    assert namer(nodes).nodes({"instance": "10.9.9.1:9100"}) == {"node-1.east", "node-1.west"}
    exact = (*nodes, make_node("node-1"))
    assert namer(exact).nodes({"instance": "10.9.9.1:9100"}) == {"node-1"}


def test_a_cluster_without_nodes_names_none() -> None:
    assert namer(()).nodes({"instance": "10.0.0.1:9100", "node": "node-1"}) == set()
