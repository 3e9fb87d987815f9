"""The vectors of kube-scheduler's NodeResourcesFit for a pod that is to be placed."""

from __future__ import annotations

import pytest

from plimsoll.cluster.resources import assigned_requests, is_scalar, pod_requests, tracked
from tests.builders import PodBuilder, make_pod

MI = 2**20


def bare() -> PodBuilder:
    """A pod whose first container asks for nothing."""
    return make_pod()


@pytest.mark.parametrize(
    ("pod", "want"),
    [
        pytest.param(bare(), {}, id="nothing asked, nothing counted"),
        pytest.param(bare().cpu("1").memory("1Mi"), {"cpu": 1000, "memory": MI}, id="one container"),
        pytest.param(bare().cpu("500m").container(cpu="500m"), {"cpu": 1000}, id="containers add up"),
        pytest.param(
            bare().cpu("500m").container(cpu="500m").init(cpu="2"), {"cpu": 2000}, id="a hungrier init container wins"
        ),
        pytest.param(
            bare().cpu("500m").container(cpu="500m").init(cpu="300m", sidecar=True).init(cpu="2"),
            {"cpu": 2300},
            id="an init container runs beside a sidecar that was started before it",
        ),
        pytest.param(
            bare().cpu("500m").container(cpu="500m").init(cpu="2").init(cpu="300m", sidecar=True),
            {"cpu": 2000},
            id="but not beside one that is started after it",
        ),
        pytest.param(
            bare().cpu("500m").init(cpu="300m", sidecar=True), {"cpu": 800}, id="a sidecar runs beside the containers"
        ),
        pytest.param(
            bare().cpu("1").init(cpu="1", sidecar=True).init(cpu="1", sidecar=True).init(cpu="500m"),
            {"cpu": 3000},
            id="sidecars add up among themselves",
        ),
        pytest.param(
            bare().cpu("1").memory("1Mi").init(cpu="2").init(memory="2Mi"),
            {"cpu": 2000, "memory": 2 * MI},
            id="each resource has its own hungriest moment",
        ),
        pytest.param(
            bare().cpu("1").container(cpu="2").memory("5Mi").spec(resources={"requests": {"cpu": "1"}}),
            {"cpu": 1000, "memory": 5 * MI},
            id="a pod-level request replaces the sum, other resources stay",
        ),
        pytest.param(
            bare().cpu("3").init(cpu="4").spec(resources={"requests": {"cpu": "1"}}),
            {"cpu": 1000},
            id="init containers live within the pod-level request too",
        ),
        pytest.param(
            bare().cpu("1").spec(resources={"requests": {"memory": "1Mi", "hugepages-2Mi": "4Mi"}}),
            {"cpu": 1000, "memory": MI, "hugepages-2Mi": 4 * MI},
            id="memory and huge pages at pod level",
        ),
        pytest.param(
            bare().resource("nvidia.com/gpu", "1").spec(resources={"requests": {"nvidia.com/gpu": "7"}}),
            {"nvidia.com/gpu": 1},
            id="an extended resource cannot be asked for at pod level",
        ),
        pytest.param(
            bare().cpu("1").spec(overhead={"cpu": "100m", "memory": "1Mi"}),
            {"cpu": 1100, "memory": MI},
            id="overhead comes on top",
        ),
        pytest.param(
            bare().cpu("3").spec(overhead={"cpu": "100m"}, resources={"requests": {"cpu": "1"}}),
            {"cpu": 1100},
            id="also on top of the pod-level request",
        ),
        pytest.param(
            bare().requests(cpu="0.5m", memory="100m", ephemeral_storage="1"),
            {"cpu": 1, "memory": 1, "ephemeral-storage": 1},
            id="fractions are rounded up",
        ),
        pytest.param(
            bare().requests(cpu="0.5m", memory="100m").container(cpu="400u", memory="900m").init(cpu="1100u"),
            {"cpu": 2, "memory": 1},
            id="once, when the sum is complete",
        ),
        pytest.param(bare().cpu("0.1m").spec(overhead={"cpu": "0.9m"}), {"cpu": 1}, id="with the overhead in it"),
        pytest.param(
            bare().cpu("1e-12").container(cpu="999999n"), {"cpu": 1}, id="from billionths, the finest there is"
        ),
        pytest.param(bare().resource("pods", "5").cpu("1"), {"cpu": 1000}, id="a pod is one pod, whatever it says"),
        pytest.param(bare().cpu("0"), {"cpu": 0}, id="a request of zero is one"),
        pytest.param(bare().resource("disk", "1").cpu("1"), {"cpu": 1000}, id="unprefixed names are not tracked"),
        pytest.param(
            bare().spec(containers=[{"name": "main", "resources": {"limits": {"cpu": "2"}}}]),
            {},
            id="limits are not read: the API server has copied them",
        ),
        pytest.param(
            bare()
            .cpu("1")
            .on("n1")
            .status(containerStatuses=[{"name": "main", "resources": {"requests": {"cpu": 9}}}]),
            {"cpu": 1000},
            id="status is not read",
        ),
    ],
)
def test_an_incoming_pod_requests(pod: PodBuilder, want: dict[str, int]) -> None:
    assert pod_requests(pod.obj()) == want


def resized(asked: str, *, in_force: str | None, allocated: str | None, pending: str = "") -> PodBuilder:
    status: dict[str, object] = {"name": "main"}
    if in_force is not None:
        status["resources"] = {"requests": {"cpu": in_force}}
    if allocated is not None:
        status["allocatedResources"] = {"cpu": allocated}
    conditions = [{"type": "PodResizePending", "status": "True", "reason": pending}] if pending else []
    return make_pod().cpu(asked).on("n1").status(containerStatuses=[status], conditions=conditions)


def sidecar_resized() -> PodBuilder:
    reported = {"name": "proxy", "resources": {"requests": {"cpu": "800m"}}}
    return make_pod().cpu("1").init(name="proxy", cpu="300m", sidecar=True).status(initContainerStatuses=[reported])


@pytest.mark.parametrize(
    ("pod", "cpu_milli"),
    [
        pytest.param(make_pod().cpu("1"), 1000, id="without a status the spec counts"),
        pytest.param(resized("200m", in_force="500m", allocated="500m"), 500, id="shrinking: what is in force counts"),
        pytest.param(resized("2", in_force="500m", allocated="500m"), 2000, id="growing: what is asked counts"),
        pytest.param(
            resized("2", in_force="500m", allocated="500m", pending="Deferred"), 2000, id="also while it is deferred"
        ),
        pytest.param(
            resized("2", in_force="500m", allocated="500m", pending="Infeasible"), 500, id="but not once infeasible"
        ),
        pytest.param(
            resized("2", in_force="500m", allocated="700m", pending="Infeasible"), 700, id="allocated counts as well"
        ),
        pytest.param(resized("200m", in_force="300m", allocated="400m"), 400, id="the largest of the three"),
        pytest.param(
            resized("200m", in_force=None, allocated="400m"), 200, id="allocated alone is of an older kubelet: the spec"
        ),
        pytest.param(
            make_pod()
            .cpu("200m")
            .status(containerStatuses=[{"name": "main", "resources": {}, "allocatedResources": {"cpu": "400m"}}]),
            400,
            id="resources that are told to be none are told",
        ),
        pytest.param(sidecar_resized(), 1800, id="sidecars are resized like containers"),
        pytest.param(
            make_pod()
            .cpu("1")
            .init(name="prepare", cpu="2")
            .status(initContainerStatuses=[{"name": "prepare", "resources": {"requests": {"cpu": "9"}}}]),
            2000,
            id="ordinary init containers count as their spec says",
        ),
        pytest.param(
            make_pod()
            .cpu("3")
            .spec(resources={"requests": {"cpu": "1"}})
            .status(resources={"requests": {"cpu": "1500m"}}, allocatedResources={"cpu": "2"}),
            2000,
            id="pod-level requests are resized like a container's",
        ),
        pytest.param(
            make_pod()
            .cpu("3")
            .spec(resources={"requests": {"cpu": "1"}})
            .status(resources={"requests": {"cpu": "1", "memory": "1Gi"}}, allocatedResources={"memory": "2Gi"}),
            1000,
            id="at pod level only what the spec asks for",
        ),
        pytest.param(
            make_pod()
            .cpu("3")
            .spec(resources={"requests": {"cpu": "1"}})
            .status(resources={"requests": {}}, conditions=[{"type": "PodResizePending", "reason": "Infeasible"}]),
            0,
            id="at pod level nothing where an infeasible resize left nothing",
        ),
        pytest.param(
            make_pod()
            .cpu("2")
            .status(
                containerStatuses=[{"name": "main", "resources": {"requests": {"cpu": "1"}}}],
                conditions=[
                    {"type": "PodResizePending", "reason": "Deferred"},
                    {"type": "PodResizePending", "reason": "Infeasible"},
                ],
            ),
            2000,
            id="the first of two conditions holds",
        ),
        pytest.param(
            make_pod().cpu("3").spec(resources={"requests": {"cpu": "1"}}, overhead={"cpu": "100m"}),
            1100,
            id="pod-level and overhead as for an incoming pod",
        ),
    ],
)
def test_an_assigned_pod_counts_for(pod: PodBuilder, cpu_milli: int) -> None:
    assert assigned_requests(pod.obj()) == {"cpu": cpu_milli}


def test_a_resource_that_only_the_status_names_is_counted() -> None:
    reported = {"name": "main", "resources": {"requests": {"cpu": "1", "memory": "1Mi"}}}
    pod = make_pod().cpu("1").status(containerStatuses=[reported])
    assert assigned_requests(pod.obj()) == {"cpu": 1000, "memory": MI}


@pytest.mark.parametrize("sums", [pod_requests, assigned_requests])
def test_a_pod_without_spec_requests_nothing(sums: object) -> None:
    assert callable(sums)
    assert sums({}) == {}


@pytest.mark.parametrize(
    ("name", "want"),
    [
        ("nvidia.com/gpu", True),
        ("hugepages-2Mi", True),
        ("attachable-volumes-csi-x", True),
        ("kubernetes.io/batch-cpu", True),
        ("scheduling.kubernetes.io/foo", True),
        ("requests.nvidia.com/gpu", False),
        ("requests.kubernetes.io/foo", True),
        ("disk", False),
        ("requests.mykubernetes.io/foo", True),
        ("mykubernetes.io/foo", True),
        ("a/b/c", False),
        ("Example.com/gpu", False),
        ("example.com/-gpu", False),
        ("example.com/", False),
        (f"example.com/{'x' * 63}", True),
        (f"example.com/{'x' * 64}", False),
        (f"{'x' * 244}/gpu", True),
        (f"{'x' * 245}/gpu", False),
        ("cpu", False),
        ("requests.cpu", False),
    ],
)
def test_scalar_resources_are_recognised_by_their_name(name: str, want: bool) -> None:  # noqa: FBT001
    assert is_scalar(name) is want


@pytest.mark.parametrize("name", ["cpu", "memory", "ephemeral-storage", "pods"])
def test_basic_resources_are_tracked(name: str) -> None:
    assert tracked(name)
    assert not is_scalar(name)
