from __future__ import annotations

import pytest

from tests.builders import PodBuilder, make_node, make_pod
from tests.rules.asking import cluster, fits, reasons

TAKEN = "node(s) didn't have free ports for the requested pod ports"


def with_init(*, sidecar: bool) -> PodBuilder:
    pod = make_pod().init(sidecar=sidecar).obj()
    pod["spec"]["initContainers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]
    return make_pod().spec(initContainers=pod["spec"]["initContainers"])


@pytest.mark.parametrize(
    ("wanted", "used", "conflict"),
    [
        pytest.param(make_pod().port(80), make_pod().port(80, ip="127.0.0.1"), True, id="any address wants one's port"),
        pytest.param(make_pod().port(80, ip="127.0.0.1"), make_pod().port(80), True, id="one wants any address's port"),
        pytest.param(
            make_pod().port(80, ip="127.0.0.1"), make_pod().port(80, ip="127.0.0.1"), True, id="the same address"
        ),
        pytest.param(
            make_pod().port(80, ip="127.0.0.1"), make_pod().port(80, ip="127.0.0.2"), False, id="another address"
        ),
        pytest.param(make_pod().port(80, ip="::"), make_pod().port(80, ip="127.0.0.2"), False, id=":: is no wildcard"),
        pytest.param(make_pod().port(80, protocol="UDP"), make_pod().port(80), False, id="UDP beside TCP"),
        pytest.param(make_pod().port(80, protocol="SCTP"), make_pod().port(80, protocol="UDP"), False, id="SCTP"),
        pytest.param(make_pod().port(81), make_pod().port(80), False, id="another port"),
        pytest.param(with_init(sidecar=True), make_pod().port(80), True, id="a sidecar's port is wanted"),
        pytest.param(make_pod().port(80), with_init(sidecar=True), True, id="a sidecar's port is in use"),
        pytest.param(with_init(sidecar=False), make_pod().port(80), False, id="an init container's port is not"),
    ],
)
def test_ports_conflict(wanted: PodBuilder, used: PodBuilder, *, conflict: bool) -> None:
    world = cluster(make_node("n1"), pods=[used.named("there").on("n1")])
    assert reasons(world, wanted) == ({"n1": (TAKEN,)} if conflict else {})


def test_a_port_is_taken_on_its_own_node_only() -> None:
    world = cluster(make_node("n1"), make_node("n2"), pods=[make_pod().port(80).on("n1")])
    assert fits(world, make_pod().port(80)) == {"n2"}
