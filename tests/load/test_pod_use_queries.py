"""What Prometheus makes of them is told by tests/sources, on a real one."""

from __future__ import annotations

import re

import pytest

from plimsoll.load.pod_use_queries import LONGEST_WINDOW_S, pod_queries, window_s
from tests.load.answers import METRICS


def text(metric: str, *, window_s: float = 300.0) -> str:
    (query,) = pod_queries([metric], window_s=window_s)
    return query.text


def test_only_what_is_wanted_is_asked_in_one_query_each() -> None:
    assert [query.id for query in pod_queries(["memory", "cpu"], window_s=300.0)] == ["memory", "cpu"]
    assert len({query.text for query in pod_queries(METRICS, window_s=300.0)}) == len(METRICS)


def test_of_metrics_that_cadvisor_does_not_have_nothing_is_asked() -> None:
    assert pod_queries(["disk-busy"], window_s=300.0) == ()


@pytest.mark.parametrize("metric", METRICS)
def test_every_answer_has_one_value_per_pod_and_duplicates_are_not_summed(metric: str) -> None:
    assert text(metric).startswith("sum by (namespace, pod) (max by (namespace, pod, ")


@pytest.mark.parametrize(
    ("metric", "window"),
    [("cpu", "[5m]"), ("networkReceive", "[5m]"), ("networkTransmit", "[5m]"), ("memory", None)],
)
def test_rates_are_over_the_window_and_memory_is_of_the_moment(metric: str, window: str | None) -> None:
    assert re.findall(r"\[[^\]]*m\]", text(metric)) == ([window] if window else [])


def test_the_window_is_the_policys_unless_it_is_long() -> None:
    assert [window_s(seconds) for seconds in (30.0, 300.0, 86_400.0)] == [30.0, 300.0, LONGEST_WINDOW_S]


@pytest.mark.parametrize(
    ("length_s", "ended_after"),
    [pytest.param(30.0, "< 60)", id="a short window"), pytest.param(600.0, "< 150)", id="a quarter of a longer one")],
)
def test_what_has_ended_is_not_asked_for_until_its_window_is_empty(length_s: float, ended_after: str) -> None:
    assert ended_after in text("cpu", window_s=length_s)


@pytest.mark.parametrize("interface", ["eth0", "eth1", "net1"])
def test_a_pods_own_interfaces_count(interface: str) -> None:
    assert _counts(interface)


@pytest.mark.parametrize("interface", ["lo", "tunl0", "wg0", "cali248950e0d8c", "veth1a", "bond0", "eno1", "eth0.100"])
def test_tunnels_and_the_nodes_interfaces_do_not(interface: str) -> None:
    assert not _counts(interface)


def _counts(interface: str) -> bool:
    expression = re.search(r'interface=~"([^"]*)"', text("networkReceive"))
    assert expression
    return bool(re.fullmatch(expression[1], interface))
