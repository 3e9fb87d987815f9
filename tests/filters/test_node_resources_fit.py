"""The vectors of kube-scheduler's NodeResourcesFit for nodes that may be full."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from plimsoll.filters.interface import Overlay, Reason
from plimsoll.filters.node_resources_fit import NodeResourcesFit
from tests.builders import NodeBuilder, PodBuilder, make_cache, make_node, make_pod

FitOf = Callable[..., Any]


def small() -> NodeBuilder:
    return make_node("n1").offers(cpu="1", memory="1Gi", ephemeral_storage="10Gi")


def full() -> PodBuilder:
    return make_pod("full").requests(cpu="1", memory="1Gi").on("n1")


@pytest.mark.parametrize(
    ("pod", "there", "want"),
    [
        pytest.param(make_pod().cpu("1"), [], {}, id="the whole node"),
        pytest.param(make_pod().cpu("1001m"), [], {"Insufficient cpu": False}, id="more than the node"),
        pytest.param(make_pod(), [full()], {}, id="no requests fit a full node"),
        pytest.param(make_pod(), [full(), full().named("more")], {}, id="also an overcommitted one"),
        pytest.param(make_pod().cpu("0"), [full(), full().named("more")], {}, id="a request of zero is none"),
        pytest.param(make_pod().cpu("1m"), [full()], {"Insufficient cpu": True}, id="a milli does not"),
        pytest.param(
            make_pod().cpu("1001m"), [full()], {"Insufficient cpu": False}, id="too large even if all others went"
        ),
        pytest.param(
            make_pod().requests(cpu="1", memory="1Mi"),
            [full()],
            {"Insufficient cpu": True, "Insufficient memory": True},
            id="all that is short is named",
        ),
        pytest.param(
            make_pod().requests(cpu="2", memory="1Mi"),
            [full()],
            {"Insufficient cpu": False, "Insufficient memory": False},
            id="one that can never fit makes it final",
        ),
        pytest.param(
            make_pod().cpu("100m"),
            [make_pod().memory("9Gi").on("n1")],
            {},
            id="memory that is overcommitted is no matter for who asks for none",
        ),
        pytest.param(
            make_pod().requests(ephemeral_storage="10Gi"),
            [make_pod().requests(ephemeral_storage="1").on("n1")],
            {"Insufficient ephemeral-storage": True},
            id="ephemeral storage",
        ),
        pytest.param(
            make_pod().resource("nvidia.com/gpu", "1"),
            [],
            {"Insufficient nvidia.com/gpu": False},
            id="an extended resource that the node does not know",
        ),
        pytest.param(
            make_pod().resource("nvidia.com/gpu", "0"), [], {}, id="none of a resource that the node does not know"
        ),
        pytest.param(make_pod().init(cpu="2"), [], {"Insufficient cpu": False}, id="init containers count"),
        pytest.param(
            make_pod().cpu("900m").spec(overhead={"cpu": "101m"}), [], {"Insufficient cpu": False}, id="overhead counts"
        ),
        pytest.param(make_pod().cpu("1"), [full().phase("Succeeded")], {}, id="who succeeded holds nothing"),
        pytest.param(make_pod().cpu("1"), [full().phase("Failed")], {}, id="who failed holds nothing"),
        pytest.param(
            make_pod().cpu("1"), [full().deleting()], {"Insufficient cpu": True}, id="who terminates holds everything"
        ),
        pytest.param(
            make_pod().cpu("1"),
            [full().spec(schedulerName="default-scheduler")],
            {"Insufficient cpu": True},
            id="whoever placed it",
        ),
        pytest.param(
            make_pod().memory("9Ei").container(memory="9Ei"),
            [],
            {"Insufficient memory": False},
            id="more than any integer of a node",
        ),
    ],
)
def test_what_a_pod_requests_must_be_free(
    fit_of: FitOf, pod: PodBuilder, there: list[PodBuilder], want: dict[str, bool]
) -> None:
    fit = fit_of(pod, [small()], there)
    assert {reason: bool(fit.resolvable[reason]) for reason in fit.refused} == want
    assert fit.nodes == (set() if want else {"n1"})


def test_extended_resources_are_counted_like_the_others(fit_of: FitOf) -> None:
    gpus = small().resource("nvidia.com/gpu", "2")
    one = make_pod().resource("nvidia.com/gpu", "1")
    assert fit_of(one, [gpus], [make_pod().resource("nvidia.com/gpu", "1").on("n1")]).nodes == {"n1"}
    fit = fit_of(one, [gpus], [make_pod().resource("nvidia.com/gpu", "2").on("n1")])
    assert fit.resolvable == {"Insufficient nvidia.com/gpu": {"n1"}}


def test_a_node_takes_as_many_pods_as_it_says(fit_of: FitOf) -> None:
    there = [make_pod().on("n1") for _ in range(2)]
    assert fit_of(make_pod(), [small().offers(pods="3")], there).nodes == {"n1"}
    assert fit_of(make_pod(), [small().offers(pods="2")], there).resolvable == {"Too many pods": {"n1"}}


def test_a_node_that_names_no_number_of_pods_takes_none(fit_of: FitOf) -> None:
    nameless = make_node("n1")
    del nameless._node["status"]["allocatable"]["pods"]
    assert fit_of(make_pod(), [nameless]).refused == {"Too many pods": {"n1"}}


def test_each_node_is_judged_by_itself(fit_of: FitOf) -> None:
    nodes = [small(), make_node("n2").offers(cpu="4"), make_node("n3").offers(cpu="4")]
    fit = fit_of(make_pod().cpu("2"), nodes, [make_pod().cpu("3").on("n3")])
    assert fit.nodes == {"n2"}
    assert fit.refused == {"Insufficient cpu": {"n1", "n3"}}
    assert fit.resolvable == {"Insufficient cpu": {"n3"}}


def test_what_freed_says_is_what_the_removed_pods_held() -> None:
    there = make_pod("there").cpu("1").on("n1").info()
    view = make_cache([small()], [full()]).view
    prepared = NodeResourcesFit().prepare(view, make_pod().cpu("1").info())
    assert prepared.check(0, Overlay()) == (Reason("Insufficient cpu", resolvable=True),)
    assert prepared.check(0, Overlay(removed=(there,))) == ()
    assert prepared.check(0, Overlay(freed={"pods": 1, "cpu": 1000})) == ()
    assert prepared.effect(there) == prepared.effect(full().memory("2Gi").info())
    assert prepared.effect(there) != prepared.effect(make_pod().info())
