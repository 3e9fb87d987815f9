import random
import socket
from pathlib import Path

import pytest

from devcluster import ClusterMissingError, ClusterSpec, FolderError, NodeSpec, equal_nodes, ports
from devcluster.cluster import tear_down
from devcluster.folder import ClusterFolder
from devcluster.nodes import first_load, is_ready, manifest
from devcluster.quantity import number
from devcluster.state import ClusterState


def test_equal_nodes_differ_in_name_and_zone() -> None:
    spec = ClusterSpec.of(4, zones=3, cpu="8", prometheus=True)
    assert [(node.name, node.zone) for node in spec.nodes] == [
        ("node-1", "a"),
        ("node-2", "b"),
        ("node-3", "c"),
        ("node-4", "a"),
    ]
    assert {node.cpu for node in spec.nodes} == {"8"}
    assert spec.prometheus


def test_more_nodes_can_follow_with_the_next_numbers() -> None:
    assert [node.name for node in equal_nodes(2, first=4)] == ["node-4", "node-5"]


def test_a_misspelt_option_is_refused() -> None:
    with pytest.raises(TypeError, match="promtheus"):
        ClusterSpec.of(1, promtheus=True)


def test_a_node_without_kwok_is_born_ready() -> None:
    node = manifest(NodeSpec(name="n1"), static_port=10250)
    assert is_ready(node)
    assert node["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"] == 10250


def test_a_node_of_kwoks_gets_ready_later() -> None:
    assert not is_ready(manifest(NodeSpec(name="n1"), static_port=None))


def test_a_ready_node_whose_first_taint_is_still_on_takes_no_pods() -> None:
    taint = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
    assert not is_ready(manifest(NodeSpec(name="n1", taints=[taint]), static_port=10250))


def test_the_exporter_learns_the_size_of_a_node_and_its_first_load() -> None:
    node = NodeSpec(name="n1", cpu="1500m", memory="64Gi", load={"cpu_utilisation": 0.3})
    assert first_load(node) == {"cpus": 2, "memory_total_bytes": 64 * 2**30, "cpu_utilisation": 0.3}


@pytest.mark.parametrize(("quantity", "want"), [("16", 16), ("1500m", 1.5), ("64Gi", 64 * 2**30), ("2k", 2000)])
def test_quantities_are_numbers(quantity: str, want: float) -> None:
    assert number(quantity) == want


def test_what_is_no_quantity_is_named() -> None:
    with pytest.raises(ValueError, match="64GiB"):
        number("64GiB")


def test_ports_are_free_and_apart_from_those_of_outgoing_connections() -> None:
    chosen = ports.choose(random.Random(1))
    assert all(ports.is_free(port) for port in chosen)
    assert max(chosen) < 32_768
    assert len(set(chosen)) == len(chosen)


def test_a_block_with_a_port_in_use_is_passed_over() -> None:
    first = ports.choose(random.Random(2))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", first.prometheus))
        taken.listen()
        assert ports.choose(random.Random(2)) != first


def test_a_folder_is_emptied_of_our_own_things_alone(tmp_path: Path) -> None:
    folder = ClusterFolder(tmp_path)
    folder.prepare()
    (tmp_path / "notes.txt").write_text("mine")
    folder.log("etcd").write_text("a line")
    folder.kubeconfig.write_text("secret")
    folder.clear()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".devcluster", "logs", "notes.txt"]


def test_a_folder_without_a_cluster_says_so(tmp_path: Path) -> None:
    with pytest.raises(ClusterMissingError, match="no cluster in"):
        ClusterState.load(ClusterFolder(tmp_path))


def test_a_folder_of_somebody_else_is_neither_used_nor_cleared(tmp_path: Path) -> None:
    precious = tmp_path / "data" / "precious"
    precious.parent.mkdir()
    precious.write_text("kept")
    folder = ClusterFolder(tmp_path)
    with pytest.raises(FolderError, match="is not empty and holds no cluster"):
        folder.prepare()
    tear_down(tmp_path)
    assert precious.read_text() == "kept"


def test_a_folder_that_held_a_cluster_is_used_again(tmp_path: Path) -> None:
    folder = ClusterFolder(tmp_path / "new")
    folder.prepare()
    folder.log("etcd").touch()
    folder.clear()
    assert folder.log("etcd").exists()
    folder.prepare()
    assert not folder.log("etcd").exists()


@pytest.mark.parametrize("static_port", [None, 10250])
def test_nodes_can_have_addresses_of_their_own(static_port: int | None) -> None:
    node = manifest(NodeSpec(name="n1", internal_ip="127.0.1.1"), static_port=static_port)
    assert {"type": "InternalIP", "address": "127.0.1.1"} in node["status"]["addresses"]
