from __future__ import annotations

import pytest

from plimsoll.load.preflight import FindingKind, Preflight, Tried
from plimsoll.policy.compiled import CPU, NETWORK_RECEIVE, Metric
from tests.builders import make_node
from tests.load.answers import Answering, policy_of
from tests.load.trials import JUST_NOW, carrying, kinds, many, nodes, only

RECEIVE = policy_of(NETWORK_RECEIVE)
DISK = policy_of(metrics=(Metric("disk-busy", 1, query="disk", min=0.0, max=1.0),))


def test_what_works_is_told_with_its_numbers_and_an_example() -> None:
    tried = carrying(125e6, "node-2", "node-1", "a-stranger").tried(RECEIVE, many(2))
    stranger = 'networkReceive{device="eth0", instance="a-stranger"}'
    assert tried == Preflight(
        tried=(
            Tried(
                NETWORK_RECEIVE,
                series=3,
                nodes=2,
                of_nodes=2,
                example="eth0 of node-1 at about 10 %",
                unmapped=1,
                unmapped_example=stranger,
            ),
        )
    )


def test_a_custom_metric_is_told_in_its_own_unit() -> None:
    answering = Answering().answering("disk-busy", 0.4321, node="node-1").answering("disk-busy", 0.2, node="node-2")
    (tried,) = answering.tried(DISK, many(2)).tried
    assert (tried.series, tried.nodes, tried.example) == (2, 2, "node-1 at about 0.43")


def test_nodes_without_a_series_are_counted_with_the_first_by_name() -> None:
    finding = only(carrying(1e6, "node-1", "node-4").tried(RECEIVE, many(4)))
    assert (finding.kind, finding.metric) == (FindingKind.NODES_WITHOUT_SERIES, NETWORK_RECEIVE)
    assert finding.text == "2 of 4 nodes have no series, e.g. node-2: is node-exporter running there, and scraped?"


def test_nodes_without_a_series_while_some_name_no_node_want_a_label() -> None:
    finding = only(carrying(1e6, "node-1", "10.9.9.9:9100").tried(RECEIVE, many(2)))
    assert finding.text == (
        "1 of 2 nodes have no series, e.g. node-2, while 1 series name no node, e.g."
        ' networkReceive{device="eth0", instance="10.9.9.9:9100"}: give them a label that holds the node\'s name, and'
        " set spec.metricsSource.prometheus.nodeLabel to it."
    )


@pytest.mark.parametrize(
    ("labels", "mend"),
    [
        pytest.param({"node": "node-1"}, "does the query of spec.metrics[disk-busy] answer for every node?", id="few"),
        pytest.param({"host": "x"}, "keep a label that tells the node in the query, e.g. by (node)", id="unmapped"),
    ],
)
def test_a_custom_query_is_mended_itself(labels: dict[str, str], mend: str) -> None:
    answering = Answering().answering("disk-busy", 0.5, node="node-1").answering("disk-busy", 0.5, **labels)
    finding = only(answering.tried(DISK, many(2)))
    assert finding.kind is FindingKind.NODES_WITHOUT_SERIES
    assert mend in finding.text


def test_series_that_may_be_of_two_nodes_are_told() -> None:
    twins = [node.status(addresses=[{"type": "InternalIP", "address": "10.0.0.1"}]) for node in many(2)]
    answering = carrying(1e6, "10.0.0.1:9100", "node-1", "node-2")
    finding = only(answering.tried(RECEIVE, twins))
    assert finding.kind is FindingKind.AMBIGUOUS_SERIES
    assert finding.text.startswith(
        '1 series could be of more than one node, e.g. networkReceive{device="eth0", instance="10.0.0.1:9100"}: give'
    )


def test_many_series_of_which_none_names_a_node_fail_with_an_example() -> None:
    finding = only(carrying(1e6, "10.9.9.9:9100", "10.9.9.8:9100").tried(RECEIVE, many(2)))
    assert finding.kind is FindingKind.QUERY_FAILED
    assert "name no node of this cluster" in finding.text
    assert finding.text.endswith('For example networkReceive{device="eth0", instance="10.9.9.8:9100"}.')


def test_only_the_policys_nodes_are_looked_at() -> None:
    mine, other = nodes("node-1", "node-2")
    policy = policy_of(NETWORK_RECEIVE, node_selector={"pool": "network"})
    tried = carrying(1e6, "node-1").tried(policy, [mine.label("pool", "network"), other])
    assert tried.findings == ()
    assert (tried.tried[0].nodes, tried.tried[0].of_nodes) == (1, 1)


def test_a_young_node_is_not_missed_yet_and_counts_once_it_has_a_series() -> None:
    young = make_node("node-2").metadata(creationTimestamp=JUST_NOW)
    without = carrying(1e6, "node-1").tried(RECEIVE, [*nodes("node-1"), young])
    with_one = carrying(1e6, "node-1", "node-2").tried(RECEIVE, [*nodes("node-1"), young])
    assert (without.findings, without.tried[0].of_nodes) == ((), 1)
    assert (with_one.findings, with_one.tried[0].of_nodes) == ((), 2)


@pytest.mark.parametrize(
    ("device", "text"),
    [
        pytest.param(
            "eth0",
            "spec.deviceName eth0 is on 2 of 4 nodes, not on e.g. node-3: add the name of its device, e.g. eth0|ens5;",
            id="named",
        ),
        pytest.param(
            None,
            "2 of 4 nodes have no network device that looks physical by its name, e.g. node-3: set spec.deviceName",
            id="by default",
        ),
    ],
)
def test_a_device_that_only_some_nodes_have_is_told(device: str | None, text: str) -> None:
    answering = carrying(1e6, "node-1", "node-2", idle=0.5)
    for name in ("node-3", "node-4"):
        answering.target(name, idle=0.5)
    finding = only(answering.tried(policy_of(NETWORK_RECEIVE, CPU, device_name=device), many(4)))
    assert finding.kind is FindingKind.DEVICE_NOT_ON_ALL_NODES
    assert finding.text.startswith(text)


def test_a_node_without_exporter_is_not_taken_for_one_without_device() -> None:
    answering = carrying(1e6, "node-1").target("node-2", idle=0.5)
    found = answering.tried(policy_of(NETWORK_RECEIVE, device_name="eth0"), many(3))
    assert kinds(found) == [FindingKind.DEVICE_NOT_ON_ALL_NODES, FindingKind.NODES_WITHOUT_SERIES]
    assert "is on 1 of 3 nodes" in found.findings[0].text
    assert found.findings[1].text.startswith("1 of 3 nodes have no series, e.g. node-3")


def test_the_order_of_an_answer_changes_nothing() -> None:
    names = ["node-1", "10.9.9.9:1", "10.9.9.8:1"]
    assert carrying(1e6, *names).tried(RECEIVE, many(2)) == carrying(1e6, *names[::-1]).tried(RECEIVE, many(2))
