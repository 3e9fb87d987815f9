from __future__ import annotations

import math
from typing import Any

import pytest

from plimsoll.load.preflight import FindingKind, Preflight
from plimsoll.policy.compiled import CPU, MEMORY, NETWORK_RECEIVE, Metric
from tests.load.answers import Answering, policy_of
from tests.load.trials import carrying, kinds, many, only

RECEIVE = policy_of(NETWORK_RECEIVE, device_name="eth0", network_capacity_bytes_s=125_000_000)
GI = float(2**30)


def at(*shares: float) -> Answering:
    """Shares of the 125 MB/s that the policy says, since the device does not know its speed."""
    answering = Answering()
    for i, share in enumerate(shares, start=1):
        answering.target(f"node-{i}", receive={"eth0": share * 125e6}, speed={"eth0": -125000.0})
    return answering


def test_forty_times_the_capacity_asks_for_the_unit_of_the_capacity() -> None:
    finding = only(at(0.5, 40.0, 41.0).tried(RECEIVE, many(3)))
    assert (finding.kind, finding.metric) == (FindingKind.IMPOSSIBLE_VALUES, NETWORK_RECEIVE)
    assert finding.text == (
        "node-2 is at about 4000 % of 125000000 bytes/s: is spec.networkCapacity (or the node's annotation"
        " plimsoll.dev/network-capacity) in bytes per second, and is that the device's speed?"
    )


@pytest.mark.parametrize(
    ("was", "share", "found"),
    [
        pytest.param(False, 1.19, False, id="a little more than full is noise"),
        pytest.param(False, 1.21, True, id="more is found"),
        pytest.param(True, 1.19, True, id="what was found stays"),
        pytest.param(True, 0.99, False, id="until it is back"),
    ],
)
def test_a_value_at_the_threshold_does_not_come_and_go(*, was: bool, share: float, found: bool) -> None:
    before = at(2.0).tried(RECEIVE, many(1)) if was else None
    assert bool(at(share).tried(RECEIVE, many(1), before=before).findings) == found


def test_what_was_found_of_one_node_is_no_reason_to_find_it_of_another() -> None:
    before = at(2.0, 0.5).tried(RECEIVE, many(2))
    assert at(0.5, 1.1).tried(RECEIVE, many(2), before=before).findings == ()


@pytest.mark.parametrize(
    ("metric", "device", "values", "want"),
    [
        pytest.param(
            NETWORK_RECEIVE,
            "eth0",
            {"receive": {"eth0": 0.0}, "speed": {"eth0": 125e6}},
            "The values of all 2 nodes are exactly 0: does device eth0 carry the traffic?",
            id="a device that carries nothing",
        ),
        pytest.param(
            NETWORK_RECEIVE,
            None,
            {"receive": {"eth0": 0.0}, "speed": {"eth0": 125e6}},
            "The values of all 2 nodes are exactly 0: set spec.deviceName to the device that carries the traffic.",
            id="the default devices carry nothing",
        ),
        pytest.param(
            CPU, None, {"idle": 1.0}, "The values of all 2 nodes are exactly 0: look at what is reported.", id="cpu"
        ),
        pytest.param(
            MEMORY, None, {"available": GI, "total": GI}, "The values of all 2 nodes are exactly 0: look", id="memory"
        ),
    ],
)
def test_nothing_but_zeroes_is_told(metric: str, device: str | None, values: Any, want: str) -> None:
    answering = Answering().target("node-1", **values).target("node-2", **values)
    finding = only(answering.tried(policy_of(metric, device_name=device), many(2)))
    assert finding.kind is FindingKind.ALL_ZERO
    assert finding.text.startswith(want)


def test_one_node_that_carries_something_is_enough() -> None:
    assert at(0.0, 0.001).tried(RECEIVE, many(2)).findings == ()


def test_more_memory_available_than_there_is_is_told() -> None:
    answering = Answering().target("node-1", available=2 * GI, total=GI).target("node-2", available=GI / 2, total=GI)
    finding = only(answering.tried(policy_of(MEMORY), many(2)))
    assert finding.kind is FindingKind.IMPOSSIBLE_VALUES
    assert 'more is available than there is), e.g. memory{instance="node-1"}: look' in finding.text


def test_values_that_are_no_numbers_are_told() -> None:
    answering = Answering().target("node-1", idle=math.nan).target("node-2", idle=0.5)
    finding = only(answering.tried(policy_of(CPU), many(2)))
    assert finding.text == (
        "Some values are no finite numbers (of cpu also where counters stand still),"
        ' e.g. cpu{instance="node-1"}: look at what is reported.'
    )


def test_a_link_of_unknown_speed_wants_a_capacity() -> None:
    found = carrying(1e6, "node-1", speed_bytes_s=-125000.0).tried(policy_of(NETWORK_RECEIVE), many(1))
    assert kinds(found) == [FindingKind.CAPACITY_ASSUMED]
    assert "set spec.networkCapacity in bytes per second" in found.findings[0].text


def disk(*values: float, before: Preflight | None = None, **scale: float | None) -> Preflight:
    answering = Answering()
    for i, value in enumerate(values, start=1):
        answering.answering("disk-busy", value, node=f"node-{i}")
    policy = policy_of(metrics=(Metric("disk-busy", 1, query="disk", **scale),))  # type: ignore[arg-type]
    return answering.tried(policy, many(len(values)), before=before)


@pytest.mark.parametrize(
    ("values", "low", "high", "want"),
    [
        pytest.param(
            (12, 97),
            0.0,
            1.0,
            'Its values lie between about 12 and about 97, but max is 1: write max: "100" for spec.metrics[disk-busy],'
            " or divide its query by 100.",
            id="percent for a share",
        ),
        pytest.param((0.5, 40), 0.0, 1.0, 'but max is 1: write max: "100"', id="a single share of forty"),
        pytest.param(
            (3e9, 4e9),
            0.0,
            1e9,
            "Its values lie between about 3000000000 and about 4000000000, but max is 1000000000: write a max for"
            " spec.metrics[disk-busy] that its values do not exceed.",
            id="all above",
        ),
        pytest.param((7, 8), None, 5.0, "but max is 5: write a max", id="all above, no min"),
        pytest.param((1, 2), 10.0, None, "but min is 10: write a min", id="all below, no max"),
        pytest.param((-5, -4), 0.0, 1.0, "Its values lie between about -5 and about -4, but min is 0", id="negative"),
    ],
)
def test_a_scale_that_no_value_lies_on_is_told(
    values: tuple[float, ...], low: float | None, high: float | None, want: str
) -> None:
    finding = only(disk(*values, min=low, max=high))
    assert finding.kind is FindingKind.OUTSIDE_SCALE
    assert want in finding.text


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        pytest.param((0.2, 0.9), 0.0, 1.0, id="inside"),
        pytest.param((0.2, 1.5), 0.0, 1.0, id="one beyond"),
        pytest.param((1.1, 1.15), 0.0, 1.0, id="a little beyond"),
        pytest.param((12, 97), None, None, id="no scale"),
        pytest.param((0, 0), 0.0, 1.0, id="nothing but zeroes can be right"),
    ],
)
def test_a_scale_that_fits_is_not(values: tuple[float, ...], low: float | None, high: float | None) -> None:
    assert disk(*values, min=low, max=high).findings == ()


def test_a_scale_that_was_left_is_left_until_some_value_is_back() -> None:
    before = disk(1.5, 2.0, min=0.0, max=1.0)
    assert kinds(disk(1.1, 1.2, min=0.0, max=1.0, before=before)) == [FindingKind.OUTSIDE_SCALE]
    assert disk(0.9, 1.2, min=0.0, max=1.0, before=before).findings == ()
