from __future__ import annotations

import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.cluster.workload import WorkloadKey
from plimsoll.load.pod_use import PodAmount, PodPlace, use_by_workload
from plimsoll.load.workload_use import Use
from plimsoll.policy.compiled import CPU, NETWORK_RECEIVE
from tests.builders import PodBuilder, make_pod

NOW_S = 1_700_000_000.0
WEB, JOB = WorkloadKey("default/Deployment/web"), WorkloadKey("default/Job/job")
OLD = PodPlace(WEB, NOW_S - 86_400)


def amount(value: float, pod: str = "default/web-1", *, window_s: float = 300.0) -> PodAmount:
    return PodAmount(pod, value, NOW_S, window_s)


def aged(age_s: float) -> PodPlace:
    return PodPlace(WEB, NOW_S - age_s)


def test_pods_of_one_workload_are_one_use() -> None:
    pods = {"default/web-1": OLD, "default/web-2": OLD, "default/job-1": PodPlace(JOB, NOW_S - 86_400)}
    amounts = [amount(1.0), amount(3.0, "default/web-2"), amount(0.0, "default/job-1")]
    assert use_by_workload(CPU, amounts, pods=pods) == {WEB: Use(2, 2.0, 5.0), JOB: Use(1, 0.0, 0.0)}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -0.001, 1e300], ids=repr)
def test_a_number_that_cannot_be_believed_is_left_out_and_is_not_0(value: float) -> None:
    assert use_by_workload(CPU, [amount(value)], pods={"default/web-1": OLD}) == {}


def test_a_number_that_cannot_be_believed_takes_nothing_from_its_siblings() -> None:
    pods = {"default/web-1": OLD, "default/web-2": OLD}
    assert use_by_workload(CPU, [amount(math.nan), amount(3.0, "default/web-2")], pods=pods) == {WEB: Use(1, 3.0, 9.0)}


def test_a_pod_that_nobody_knows_is_left_out() -> None:
    assert use_by_workload(CPU, [amount(1.0, "default/of-another-cluster")], pods={"default/web-1": OLD}) == {}


@pytest.mark.parametrize(
    ("place", "window_s", "want"),
    [
        pytest.param(aged(300), 300.0, 1.0, id="as old as the window"),
        pytest.param(aged(150), 300.0, 2.0, id="half as old: the other half was not its own"),
        pytest.param(aged(30), 300.0, 10.0, id="as young as may be"),
        pytest.param(aged(60), 0.0, 1.0, id="a value of the moment has no window"),
        pytest.param(aged(40), 20.0, 1.0, id="older than a short window"),
        pytest.param(aged(29), 300.0, None, id="too young"),
        pytest.param(aged(29), 0.0, None, id="too young for a value of the moment too"),
        pytest.param(aged(-5), 300.0, None, id="its clock is ahead"),
        pytest.param(aged(math.nan), 300.0, None, id="a time that is none"),
    ],
)
def test_a_window_that_began_before_the_pod_is_made_up_for(
    place: PodPlace, window_s: float, want: float | None
) -> None:
    use = use_by_workload(CPU, [amount(1.0, window_s=window_s)], pods={"default/web-1": place})
    assert use == ({} if want is None else {WEB: Use(1, pytest.approx(want), pytest.approx(want**2))})


@pytest.mark.parametrize(
    ("metric", "want"),
    [
        pytest.param(NETWORK_RECEIVE, {}, id="traffic is the node's"),
        pytest.param(CPU, {WEB: Use(1, 1.0, 1.0)}, id="cpu is its own"),
    ],
)
def test_a_pod_on_the_hosts_network(metric: str, want: Mapping[WorkloadKey, Use]) -> None:
    pods = {"default/web-1": OLD._replace(host_network=True)}
    assert use_by_workload(metric, [amount(1.0)], pods=pods) == want


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=20))
def test_the_mean_square_is_never_below_the_mean_squared(values: list[float]) -> None:
    pods = {f"default/web-{i}": OLD for i in range(len(values))}
    amounts = [amount(value, pod) for value, pod in zip(values, pods, strict=True)]
    use = use_by_workload(CPU, amounts, pods=pods)[WEB]
    assert use.pods == len(values)
    assert min(values) * 0.999 <= use.mean <= max(values) * 1.001
    assert use.mean_square >= use.mean**2 * 0.999


def test_a_pod_that_works_has_a_place() -> None:
    assert PodPlace.of(make_pod("web-1").on("node-1").started().info()) is not None


@pytest.mark.parametrize(
    "builder",
    [
        pytest.param(make_pod("web-1").on("node-1"), id="not started yet"),
        pytest.param(make_pod("web-1").on("node-1").started().phase("Succeeded"), id="has done its work"),
        pytest.param(make_pod("web-1").on("node-1").started().deleting(), id="has to go"),
    ],
)
def test_a_pod_that_does_not_work_has_none(builder: PodBuilder) -> None:
    assert PodPlace.of(builder.info()) is None


def test_a_place_tells_the_workload_and_the_network() -> None:
    pod = make_pod("web-1").on("node-1").started("2026-01-01T00:00:05Z").spec(hostNetwork=True).info()
    assert PodPlace.of(pod) == PodPlace(pod.workload, 1_767_225_605.0, host_network=True)
