from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.builders import PodBuilder, make_node, make_pod

FitOf = Callable[..., Any]
TAKEN = "node(s) didn't have free ports for the requested pod ports"


@pytest.mark.parametrize(
    ("wanted", "used", "clash"),
    [
        pytest.param(make_pod().port(80), make_pod().port(80), True, id="the same port"),
        pytest.param(make_pod().port(80), make_pod().port(81), False, id="another port"),
        pytest.param(make_pod().port(80), make_pod().port(80, ip="127.0.0.1"), True, id="all addresses against one"),
        pytest.param(make_pod().port(80, ip="127.0.0.1"), make_pod().port(80), True, id="one against all"),
        pytest.param(
            make_pod().port(80, ip="127.0.0.1"), make_pod().port(80, ip="127.0.0.1"), True, id="the same address"
        ),
        pytest.param(
            make_pod().port(80, ip="127.0.0.1"), make_pod().port(80, ip="127.0.0.2"), False, id="two addresses"
        ),
        pytest.param(
            make_pod().port(80, ip="::"), make_pod().port(80, ip="127.0.0.1"), False, id=":: is no wildcard upstream"
        ),
        pytest.param(make_pod().port(80, protocol="UDP"), make_pod().port(80), False, id="UDP against TCP"),
        pytest.param(
            make_pod().port(80, protocol="SCTP"), make_pod().port(80, protocol="UDP"), False, id="SCTP against UDP"
        ),
        pytest.param(make_pod().port(80, protocol="TCP"), make_pod().port(80), True, id="TCP is the default"),
        pytest.param(make_pod().port(79).port(80), make_pod().port(80).port(81), True, id="one of several"),
        pytest.param(make_pod(), make_pod().port(80), False, id="nothing wanted"),
        pytest.param(make_pod().port(80), make_pod().port(80).phase("Failed"), False, id="held by one that ended"),
        pytest.param(make_pod().port(80), make_pod().port(80).deleting(), True, id="held by one that is ending"),
    ],
)
def test_a_host_port(fit_of: FitOf, wanted: PodBuilder, used: PodBuilder, clash: bool) -> None:  # noqa: FBT001
    phase = used.info().phase
    there = used.on("n1").phase(phase if phase == "Failed" else "Running")
    fit = fit_of(wanted, [make_node("n1"), make_node("n2")], [there])
    assert fit.nodes == ({"n2"} if clash else {"n1", "n2"})
    assert fit.refused == ({TAKEN: {"n1"}} if clash else {})
    assert fit.resolvable == fit.refused


def test_sidecars_hold_ports_and_init_containers_do_not(fit_of: FitOf) -> None:
    def there(**fields: str) -> PodBuilder:
        init = {"name": "i", "ports": [{"containerPort": 80, "hostPort": 80}], **fields}
        return make_pod().spec(initContainers=[init]).on("n1")

    assert fit_of(make_pod().port(80), [make_node("n1")], [there()]).nodes == {"n1"}
    assert fit_of(make_pod().port(80), [make_node("n1")], [there(restartPolicy="Always")]).nodes == set()
