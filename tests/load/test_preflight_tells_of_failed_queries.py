from __future__ import annotations

import pytest

from plimsoll.load.preflight import FindingKind
from plimsoll.load.queries import follow_up
from plimsoll.load.samples import Sample
from plimsoll.policy.compiled import CPU, NETWORK_RECEIVE, NETWORK_TRANSMIT, Metric
from tests.load.answers import Answering, policy_of
from tests.load.trials import carrying, kinds, many, only

REFUSED = 'Prometheus refuses the query: invalid parameter "query": 1:1: parse error: unexpected end of input.'


def test_a_query_that_does_not_parse_is_quoted_with_the_field_to_mend() -> None:
    policy = policy_of(metrics=(Metric("disk-busy", 1, query="max("),))
    finding = only(Answering().rejecting("custom.disk-busy", sentence=REFUSED).tried(policy, many(1)))
    assert (finding.kind, finding.metric) == (FindingKind.QUERY_FAILED, "disk-busy")
    assert finding.text == f"{REFUSED} Mend spec.metrics[disk-busy].query."


def test_a_device_that_is_no_expression_is_named() -> None:
    policy = policy_of(NETWORK_RECEIVE, device_name="eth[")
    finding = only(Answering().rejecting("receive.short", sentence=REFUSED).tried(policy, many(1)))
    late = only(Answering().rejecting("receive.short", sentence="Too many samples.").tried(policy, many(1)))
    assert late.text == "Too many samples."
    assert finding.text == f"{REFUSED} Is spec.deviceName eth[ the regular expression that was meant?"


@pytest.mark.parametrize("metric", [CPU, NETWORK_RECEIVE])
def test_what_plimsoll_asks_of_itself_is_for_nobody_to_mend(metric: str) -> None:
    answering = Answering().rejecting("lastSample", sentence=REFUSED)
    assert only(answering.tried(policy_of(metric), many(1))).text == REFUSED


def test_a_source_that_failed_for_other_reasons_has_no_field_to_mend() -> None:
    policy = policy_of(NETWORK_RECEIVE, device_name="eth0")
    assert only(Answering().failing("speed", sentence="It is late.").tried(policy, many(1))).text == "It is late."


def test_one_metric_that_fails_leaves_the_others_tried() -> None:
    answering = carrying(1e6, "node-1", idle=0.5).failing("idle.short", sentence="It is late.")
    found = answering.tried(policy_of(NETWORK_RECEIVE, CPU), many(1))
    assert (kinds(found), [t.metric for t in found.tried]) == ([FindingKind.QUERY_FAILED], [NETWORK_RECEIVE])


@pytest.mark.parametrize(
    ("device", "there", "want"),
    [
        pytest.param(
            "eth7",
            ("wlan0", "eth1", "eth0"),
            "for device eth7: set spec.deviceName to a device that there is: eth0, eth1, wlan0.",
            id="another, the physical ones first",
        ),
        pytest.param(
            None, ("wlan0",), "for a physical device: set spec.deviceName to a device that there is: wlan0.", id="none"
        ),
        pytest.param(
            "eth7", (), "for device eth7: is node-exporter scraped, and is spec.deviceName right?", id="no exporter"
        ),
        pytest.param(
            "eth[0-9]",
            ("eth0", "wlan0"),
            "Prometheus has fewer than two samples of node_network_receive_bytes_total for device eth[0-9] yet: wait",
            id="not scraped twice yet",
        ),
        pytest.param(
            r"\p{Greek}0", ("eth0",), "set spec.deviceName to a device that there is: eth0.", id="no Python expression"
        ),
        pytest.param(
            "eth7",
            tuple(f"eth{i}" for i in range(10, 22)),
            "there is: eth10, eth11, eth12, eth13, eth14, eth15, eth16, eth17 and 4 more.",
            id="many",
        ),
    ],
)
def test_a_device_that_no_node_has_is_told_with_those_that_there_are(
    device: str | None, there: tuple[str, ...], want: str
) -> None:
    answering = Answering().target("node-1", idle=0.5).having_devices(*there)
    finding = only(answering.tried(policy_of(NETWORK_RECEIVE, device_name=device), many(1)))
    assert finding.kind is FindingKind.QUERY_FAILED
    assert want in finding.text


SERIES = (Sample({"device": "eth0"}, 1.0),)


@pytest.mark.parametrize(
    ("answered", "asked"),
    [
        pytest.param({"receive.long": SERIES, "transmit.long": SERIES}, [], id="all there"),
        pytest.param({"receive.long": (), "transmit.long": SERIES}, ["devices"], id="one direction empty"),
        pytest.param({"receive.long": (), "transmit.long": ()}, ["devices"], id="both, asked once"),
        pytest.param({}, [], id="failed"),
    ],
)
def test_devices_are_asked_for_only_where_none_was_found(
    answered: dict[str, tuple[Sample, ...]], asked: list[str]
) -> None:
    assert [query.id for query in follow_up(policy_of(NETWORK_RECEIVE, NETWORK_TRANSMIT), answered)] == asked
    assert follow_up(policy_of(CPU), {"receive.long": ()}) == ()
