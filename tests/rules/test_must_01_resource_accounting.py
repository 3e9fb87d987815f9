from __future__ import annotations

from typing import Any

import pytest

from tests.builders import NodeBuilder, PodBuilder, make_node, make_pod
from tests.rules.asking import cluster, codes, fits, reasons

Json = dict[str, Any]
FITS, U, UAU = "Success", "Unschedulable", "UnschedulableAndUnresolvable"


def node(cpu: str = "1", **offers: str) -> NodeBuilder:
    return make_node("n1").offers(cpu=cpu, **offers)


def two(pod: PodBuilder) -> PodBuilder:
    """Containers of half a core each."""
    return pod.cpu("500m").container(cpu="500m")


def resized(spec: str, allocated: str, in_force: str, *, pending: str = "") -> PodBuilder:
    pod = make_pod("resized").cpu(spec).on("n1")
    status: Json = {"name": "main", "allocatedResources": {"cpu": allocated}}
    status["resources"] = {"requests": {"cpu": in_force}}
    pod.status(containerStatuses=[status])
    if pending:
        pod.status(conditions=[{"type": "PodResizePending", "status": "True", "reason": pending}])
    return pod


@pytest.mark.parametrize(
    ("pod", "milli"),
    [
        pytest.param(two(make_pod()).init(cpu="2"), 2000, id="the largest init container"),
        pytest.param(two(make_pod()), 1000, id="containers add up"),
        pytest.param(
            two(make_pod()).init(sidecar=True, cpu="300m").init(cpu="2"), 2300, id="a sidecar before an init container"
        ),
        pytest.param(
            two(make_pod()).init(cpu="2").init(sidecar=True, cpu="300m"), 2000, id="a sidecar after an init container"
        ),
        pytest.param(two(make_pod()).init(sidecar=True, cpu="300m"), 1300, id="a sidecar beside the containers"),
        pytest.param(
            make_pod().cpu("3").spec(resources={"requests": {"cpu": "1"}}), 1000, id="a pod-level request takes over"
        ),
        pytest.param(
            make_pod().cpu("3").spec(resources={"requests": {"cpu": "1"}}, overhead={"cpu": "100m"}),
            1100,
            id="overhead comes on top",
        ),
        pytest.param(make_pod().cpu("0.1234"), 124, id="a fraction of a milli is rounded up"),
    ],
)
def test_a_pod_requests(pod: PodBuilder, milli: int) -> None:
    assert fits(cluster(node(f"{milli}m")), pod) == {"n1"}
    assert reasons(cluster(node(f"{milli - 1}m")), pod) == {"n1": ("Insufficient cpu",)}


def test_memory_that_is_not_asked_at_pod_level_stays_the_containers() -> None:
    pod = make_pod().memory("2Gi").spec(resources={"requests": {"cpu": "1"}})
    assert reasons(cluster(node(memory="1Gi")), pod) == {"n1": ("Insufficient memory",)}


@pytest.mark.parametrize(
    ("pod", "code"),
    [
        pytest.param(make_pod(), FITS, id="nothing requested fits a full node"),
        pytest.param(make_pod().cpu("0"), FITS, id="a request of zero is none"),
        pytest.param(make_pod().cpu("1m"), U, id="a milli does not fit"),
        pytest.param(make_pod().cpu("1001m"), UAU, id="more than the node offers never fits"),
    ],
)
def test_a_full_node(pod: PodBuilder, code: str) -> None:
    assert codes(cluster(node("1000m"), pods=[make_pod().cpu("1000m").on("n1")]), pod) == {"n1": code}


def test_a_request_of_zero_fits_a_node_that_is_overcommitted() -> None:
    there = [make_pod(name).cpu("1000m").on("n1") for name in ("one", "two")]
    assert codes(cluster(node("1000m"), pods=there), make_pod().cpu("0").memory("1Mi")) == {"n1": FITS}


def test_the_limit_of_pods_holds_for_pods_without_requests() -> None:
    world = cluster(node(pods="1"), pods=[make_pod().on("n1")])
    assert reasons(world, make_pod()) == {"n1": ("Too many pods",)}


@pytest.mark.parametrize("name", ["nvidia.com/gpu", "hugepages-2Mi"])
def test_a_scalar_that_the_node_does_not_offer_is_missing(name: str) -> None:
    pod = make_pod().resource(name, "1")
    assert reasons(cluster(node()), pod) == {"n1": (f"Insufficient {name}",)}
    assert fits(cluster(node().resource(name, "1")), pod) == {"n1"}


@pytest.mark.parametrize(
    ("pod", "milli"),
    [
        pytest.param(resized("200m", "500m", "500m"), 500, id="shrinking, not in force yet"),
        pytest.param(resized("2000m", "500m", "500m", pending="Infeasible"), 500, id="growing, infeasible"),
        pytest.param(resized("2000m", "500m", "500m", pending="Deferred"), 2000, id="growing, deferred"),
    ],
)
def test_a_pod_that_is_being_resized_counts(pod: PodBuilder, milli: int) -> None:
    world = cluster(node("3"), pods=[pod])
    assert fits(world, make_pod().cpu(f"{3000 - milli}m")) == {"n1"}
    assert fits(world, make_pod().cpu(f"{3001 - milli}m")) == set()


@pytest.mark.parametrize(
    ("pod", "holds"),
    [
        pytest.param(make_pod().on("n1").spec(schedulerName="other"), True, id="of another scheduler"),
        pytest.param(make_pod().on("n1").deleting(), True, id="that is terminating"),
        pytest.param(make_pod().on("n1").phase("Succeeded"), False, id="that has succeeded"),
        pytest.param(make_pod().on("n1").phase("Failed"), False, id="that has failed"),
    ],
)
def test_a_pod_holds_what_it_requests(pod: PodBuilder, *, holds: bool) -> None:
    world = cluster(node("4"), pods=[pod.cpu("4")])
    assert fits(world, make_pod().cpu("1")) == (set() if holds else {"n1"})
