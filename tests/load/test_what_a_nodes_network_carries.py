from __future__ import annotations

import pytest

from plimsoll.load.readings import Readings, ReadingState
from plimsoll.policy.compiled import NETWORK_RECEIVE, NETWORK_TRANSMIT
from tests.builders import make_node
from tests.load.answers import Answering, policy_of

GBIT = 125e6
CAPACITY = "plimsoll.dev/network-capacity"


def receive(readings: Readings, row: int = 0) -> tuple[float, float, float]:
    metric = readings.metrics[NETWORK_RECEIVE]
    return float(metric.value[row]), float(metric.capacity[row]), float(metric.utilisation[row])


def test_a_node_is_as_busy_as_its_busiest_device_by_share() -> None:
    answering = Answering().target(
        "node-1", receive={"eth0": 100e6, "eth1": 50e6}, speed={"eth0": 1250e6, "eth1": 125e6}
    )
    assert receive(answering.read(policy_of(NETWORK_RECEIVE), [make_node()])) == (50e6, 125e6, 0.4)


def test_receiving_and_sending_are_apart_since_links_are_full_duplex() -> None:
    answering = Answering().target("node-1", receive={"eth0": 100e6}, transmit={"eth0": 25e6}, speed={"eth0": GBIT})
    readings = answering.read(policy_of(NETWORK_RECEIVE, NETWORK_TRANSMIT), [make_node()])
    assert readings.metrics[NETWORK_RECEIVE].utilisation.tolist() == [0.8]
    assert readings.metrics[NETWORK_TRANSMIT].utilisation.tolist() == [0.2]


def test_the_larger_of_the_two_windows_counts() -> None:
    calm_now = Answering().target("node-1", receive={"eth0": 10e6}, receive_long={"eth0": 50e6}, speed={"eth0": GBIT})
    busy_now = Answering().target("node-1", receive={"eth0": 50e6}, receive_long={"eth0": 10e6}, speed={"eth0": GBIT})
    policy = policy_of(NETWORK_RECEIVE)
    assert receive(calm_now.read(policy, [make_node()])) == receive(busy_now.read(policy, [make_node()]))


@pytest.mark.parametrize(
    ("annotation", "policy_capacity", "speed", "want", "assumed"),
    [
        pytest.param("250M", 1250_000_000, 625e6, 250e6, False, id="the node's annotation goes before all"),
        pytest.param("1Gi", None, None, 2**30, False, id="an annotation in binary units"),
        pytest.param(None, 1250_000_000, 625e6, 625e6, False, id="a known link speed"),
        pytest.param(None, 1250_000_000, None, 1250e6, False, id="the policy's where the speed is not told"),
        pytest.param(None, 1250_000_000, -125e3, 1250e6, False, id="the policy's where the driver does not know"),
        pytest.param(None, None, 1.25e6, GBIT, True, id="10 Mbit/s is what virtual devices claim"),
        pytest.param(None, None, 0.0, GBIT, True, id="no speed at all"),
        pytest.param(None, None, float("nan"), GBIT, True, id="a speed that is no number"),
        pytest.param(None, None, None, GBIT, True, id="nobody knows"),
        pytest.param("fast", None, 625e6, 625e6, True, id="an annotation that does not parse"),
        pytest.param("0", None, 625e6, 625e6, True, id="an annotation of nothing"),
        pytest.param("-1G", None, 625e6, 625e6, True, id="an annotation below nothing"),
    ],
)
def test_what_a_device_can_carry(
    annotation: str | None, policy_capacity: int | None, speed: float | None, want: float, *, assumed: bool
) -> None:
    node = make_node() if annotation is None else make_node().annotate(CAPACITY, annotation)
    answering = Answering().target("node-1", receive={"eth0": 10e6}, speed={} if speed is None else {"eth0": speed})
    policy = policy_of(NETWORK_RECEIVE, network_capacity_bytes_s=policy_capacity)
    readings = answering.read(policy, [node])
    assert receive(readings) == (10e6, want, 10e6 / want)
    assert readings.oddities.counts.get("Capacity", 0) == int(assumed)


def test_an_assumed_capacity_is_told_with_the_device() -> None:
    answering = Answering().target("node-1", receive={"eth0": 1.0}, speed={"eth0": -125000.0})
    readings = answering.read(policy_of(NETWORK_RECEIVE), [make_node()])
    want = "node node-1, device eth0: link speed -125000 bytes/s, so 125M is assumed"
    assert readings.oddities.examples["Capacity"] == want


@pytest.mark.parametrize(
    ("devices", "device_name", "want"),
    [
        pytest.param({"bond0": 60e6, "eth0": 40e6, "eth1": 20e6}, None, 60e6, id="a bond stands for its members"),
        pytest.param({"bond0": 0.0, "eth0": 40e6}, None, 40e6, id="an idle bond has no busy members"),
        pytest.param({"bond0": 10e6, "eth0": 10e6, "ens5": 40e6}, None, 40e6, id="a device beside the bond"),
        pytest.param({"eth0": 40e6, "eth0.100": 30e6}, "eth.*", 40e6, id="a VLAN is part of its device"),
        pytest.param({"eth0.100": 30e6}, r"eth0\.100", 30e6, id="a VLAN that was asked for alone"),
    ],
)
def test_bytes_are_counted_once(devices: dict[str, float], device_name: str | None, want: float) -> None:
    # Only the first device's speed is known: the default makes the others look busier than they are.
    answering = Answering().target("node-1", receive=devices, speed=dict.fromkeys(list(devices)[:1], 10 * GBIT))
    readings = answering.read(policy_of(NETWORK_RECEIVE, device_name=device_name), [make_node()])
    assert receive(readings)[0] == want


def test_a_node_without_the_device_is_missing_and_not_idle() -> None:
    nodes = [make_node("node-1"), make_node("node-2")]
    answering = Answering().target("node-1", receive={"eth0": 1e6}).target("node-2")
    metric = answering.read(policy_of(NETWORK_RECEIVE), nodes).metrics[NETWORK_RECEIVE]
    assert metric.state.tolist() == [ReadingState.OK, ReadingState.MISSING]
    assert str(metric.utilisation[1]) == "nan"


def test_an_idle_device_is_zero_and_known() -> None:
    metric = Answering().target("node-1", receive={"eth0": 0.0}).read(policy_of(NETWORK_RECEIVE), [make_node()])
    assert receive(metric) == (0.0, GBIT, 0.0)
    assert metric.metrics[NETWORK_RECEIVE].state.tolist() == [ReadingState.OK]
