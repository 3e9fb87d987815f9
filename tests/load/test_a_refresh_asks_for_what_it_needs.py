from __future__ import annotations

import re

import pytest

from plimsoll.load.queries import DEFAULT_DEVICES, queries
from plimsoll.policy.compiled import PrometheusSource
from tests.load.answers import METRICS, policy_of


def ids(*metrics: str) -> set[str]:
    return {query.id for query in queries(policy_of(*metrics))}


@pytest.mark.parametrize(
    ("metrics", "want"),
    [
        pytest.param((), set(), id="no metrics, no question"),
        pytest.param(
            ("memory",),
            {"lastSample", "available.short", "available.long", "total", "uname", "interval"},
            id="memory alone",
        ),
        pytest.param(
            ("cpu",),
            {"lastSample", "clock.short", "clock.long", "idle.short", "idle.long", "uname", "interval"},
            id="cpu alone",
        ),
        pytest.param(
            ("networkTransmit",),
            {
                "lastSample",
                "clock.short",
                "clock.long",
                "transmit.short",
                "transmit.long",
                "speed",
                "uname",
                "interval",
            },
            id="one direction of the network",
        ),
    ],
)
def test_only_what_the_metrics_need_is_asked(metrics: tuple[str, ...], want: set[str]) -> None:
    assert ids(*metrics) == want


def test_no_question_is_asked_twice() -> None:
    asked = queries(policy_of(*METRICS))
    assert len({q.id for q in asked}) == len({q.text for q in asked}) == len(asked) == 15


def test_both_windows_are_asked_for() -> None:
    texts = {q.id: q.text for q in queries(policy_of("networkReceive", time_range_s=60.0))}
    assert "[1m]" in texts["receive.short"]
    assert "[1m]" in texts["clock.short"]
    assert "[3m]" in texts["receive.long"]
    assert "[3m]" in texts["clock.long"]


def test_policies_that_differ_in_weights_alone_ask_the_same() -> None:
    one, other = policy_of("cpu", "memory"), policy_of("memory", "cpu", time_range_s=300.0)
    assert {q.text for q in queries(one)} == {q.text for q in queries(other)}


def test_rates_are_taken_before_aggregation_and_duplicates_are_not_summed() -> None:
    texts = {q.id: q.text for q in queries(policy_of("networkReceive", "cpu"))}
    assert re.fullmatch(
        r"max by \([a-z_, ]+, device\) \(rate\(node_network_receive_bytes_total\{.*\}\[5m\]\)\)",
        texts["receive.short"],
    )
    modes = re.findall(
        r"max by \([a-z_, ]+, cpu, mode\) \(rate\(node_cpu_seconds_total\{mode(\S+)\}", texts["idle.short"]
    )
    assert modes == ['=~"idle|iowait"', '=~"idle|iowait"', '!~"idle|iowait"']


def test_the_labels_that_name_nodes_are_kept() -> None:
    policy = policy_of("memory", source=PrometheusSource(url="http://p", node_label="host"))
    for query in queries(policy):
        assert "by (host, node, nodename, kubernetes_node, instance, pod, namespace)" in query.text


@pytest.mark.parametrize("device", ["eth0", "eth12", "ens5", "enp3s0", "eno1", "enx0a1b", "em1", "bond0", "ib0"])
def test_physical_devices_count_by_default(device: str) -> None:
    assert re.fullmatch(DEFAULT_DEVICES, device)


@pytest.mark.parametrize(
    "device",
    [
        "lo",
        "veth1a",
        "cali12",
        "cni0",
        "flannel.1",
        "docker0",
        "br-1f",
        "virbr0",
        "tun0",
        "tap0",
        "vxlan.calico",
        "geneve_sys",
        "kube-ipvs0",
        "dummy0",
        "lxc1",
        "ifb0",
        "wg0",
        "eth0.100",
        "bond0.7",
    ],
)
def test_virtual_devices_do_not(device: str) -> None:
    assert not re.fullmatch(DEFAULT_DEVICES, device)
