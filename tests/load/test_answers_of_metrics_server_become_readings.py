from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.load.metrics_server_readings import readings_from_metrics_server
from plimsoll.load.readings import Readings, ReadingState
from plimsoll.load.samples import MetricsServerAnswers, NodeUsage
from plimsoll.policy.compiled import CPU, MEMORY, NETWORK_RECEIVE, MetricsServerSource
from tests.builders import make_node
from tests.load.answers import NOW_S, policy_of

GI = float(2**30)
OK, STALE, MISSING = ReadingState.OK, ReadingState.STALE, ReadingState.MISSING
POLICY = policy_of(CPU, MEMORY, source=MetricsServerSource())
NODES = [make_node("node-1"), make_node("node-2")]


def usage(node: str = "node-1", **fields: Any) -> NodeUsage:
    usual = {"sampled_at_s": NOW_S - 20, "window_s": 15.0, "cpu_cores": 4.0, "mem_bytes": 16 * GI}
    return NodeUsage(node=node, **{**usual, **fields})


def read(*usages: NodeUsage, previous: Readings | None = None, policy: Any = POLICY, failure: str = "") -> Readings:
    return read_at(NOW_S, *usages, previous=previous, policy=policy, failure=failure)


def read_at(
    now_s: float, *usages: NodeUsage, previous: Readings | None = None, policy: Any = POLICY, failure: str = ""
) -> Readings:
    return readings_from_metrics_server(
        policy=policy,
        nodes=[node.info() for node in NODES],
        answers=MetricsServerAnswers(asked_at_s=now_s, usages=usages, failure=failure),
        readings_id=3,
        previous=previous,
    )


def test_usage_is_measured_against_the_machine() -> None:
    readings = read(usage(), usage("node-2", cpu_cores=0.0))
    cpu, memory = readings.metrics[CPU], readings.metrics[MEMORY]
    assert cpu.utilisation.tolist() == [0.25, 0.0]
    assert cpu.capacity.tolist() == [16.0, 16.0]
    assert memory.utilisation.tolist() == [0.25, 0.25]
    assert cpu.sampled_at_s.tolist() == [NOW_S - 20] * 2
    assert (readings.id, readings.failures, readings.oddities.counts) == (3, {}, {})


def test_the_samples_window_is_the_window_and_memory_has_none() -> None:
    readings = read(usage(window_s=15.0), usage("node-2", window_s=20.0))
    assert (readings.metrics[CPU].window_s, readings.metrics[MEMORY].window_s) == (20.0, 0.0)


def test_a_node_that_metrics_server_does_not_list_is_missing() -> None:
    cpu = read(usage()).metrics[CPU]
    assert cpu.state.tolist() == [OK, MISSING]
    assert math.isnan(cpu.utilisation[1])


def test_an_old_sample_is_stale_by_its_own_time() -> None:
    assert read(usage(sampled_at_s=NOW_S - 200), usage("node-2")).metrics[CPU].state.tolist() == [STALE, OK]


@pytest.mark.parametrize(
    ("odd", "kind"),
    [
        pytest.param(usage(cpu_cores=math.nan), "NotFinite", id="cpu that could not be read"),
        pytest.param(usage(cpu_cores=-1.0), "Negative", id="negative cpu"),
        pytest.param(usage(sampled_at_s=math.nan), "NotFinite", id="no timestamp"),
        pytest.param(usage("stranger"), "Unmapped", id="a node that is gone"),
    ],
)
def test_what_cannot_be_used_is_missing_and_counted(odd: NodeUsage, kind: str) -> None:
    readings = read(odd, usage("node-2"))
    assert readings.metrics[CPU].state.tolist() == [MISSING, OK]
    assert readings.oddities.counts[kind] >= 1
    assert odd.node in readings.oddities.examples[kind]


def test_a_sample_that_is_older_than_the_one_before_does_not_replace_it() -> None:
    before = read(usage(cpu_cores=8.0, sampled_at_s=NOW_S - 10), usage("node-2", cpu_cores=1.0))
    now = read(usage(cpu_cores=1.0, sampled_at_s=NOW_S - 40), usage("node-2", cpu_cores=2.0), previous=before)
    assert now.metrics[CPU].value.tolist() == [8.0, 2.0]
    assert now.metrics[CPU].sampled_at_s[0] == NOW_S - 10


@pytest.mark.parametrize(
    ("age_s", "state"),
    [
        pytest.param(40, OK, id="a scrape was missed"),
        pytest.param(200, STALE, id="several were"),
        pytest.param(601, MISSING, id="it is gone"),
    ],
)
def test_a_node_that_vanished_from_the_answer_keeps_its_last_sample_while_that_is_believed(
    age_s: float, state: ReadingState
) -> None:
    sampled_at_s = NOW_S - age_s
    last = read_at(sampled_at_s, usage("node-2", cpu_cores=15.0, mem_bytes=48 * GI, sampled_at_s=sampled_at_s))
    now = read(usage(), previous=last)
    for metric, value in ((CPU, 15.0), (MEMORY, 48 * GI)):
        readings = now.metrics[metric]
        assert readings.state.tolist() == [OK, state]
        kept = (math.nan, math.nan) if state is MISSING else (value, sampled_at_s)
        assert (readings.value[1], readings.sampled_at_s[1]) == pytest.approx(kept, nan_ok=True)


@pytest.mark.parametrize("ahead_s", [91.0, 300.0, 3600.0])
def test_a_sample_from_the_future_does_not_win_against_later_ones(ahead_s: float) -> None:
    skewed = read(usage(cpu_cores=0.0, sampled_at_s=NOW_S + ahead_s), usage("node-2"))
    now = read_at(NOW_S + 30, usage(sampled_at_s=NOW_S), usage("node-2"), previous=skewed)
    assert (now.metrics[CPU].value[0], now.metrics[CPU].sampled_at_s[0]) == (4.0, NOW_S)
    gone = read_at(NOW_S + 30, usage("node-2"), previous=skewed)
    assert gone.metrics[CPU].state.tolist() == [MISSING, OK]


def test_nor_against_earlier_ones() -> None:
    before = read(usage(), usage("node-2"))
    skewed = usage(cpu_cores=0.0, sampled_at_s=NOW_S + 3600)
    now = read_at(NOW_S + 30, skewed, usage("node-2"), previous=before)
    assert (now.metrics[CPU].value[0], now.metrics[CPU].sampled_at_s[0]) == (4.0, NOW_S - 20)


def test_samples_of_before_do_not_hide_that_nothing_is_answered_any_more() -> None:
    assert "it needs two scrapes" in read(previous=read(usage(), usage("node-2"))).failures[CPU]


@pytest.mark.parametrize(
    ("usages", "want"),
    [
        pytest.param((), "it needs two scrapes", id="no node yet"),
        pytest.param((usage("stranger"),), "it needs two scrapes", id="only strangers"),
        pytest.param((usage(sampled_at_s=NOW_S - 700),), "no usable sample of the last ten minutes", id="all too old"),
    ],
)
def test_metrics_that_no_node_has_fail_by_name(usages: tuple[NodeUsage, ...], want: str) -> None:
    readings = read(*usages)
    assert set(readings.failures) == {CPU, MEMORY}
    assert want in readings.failures[CPU]
    assert readings.metrics == {}


def test_network_is_not_there_and_says_where_to_get_it() -> None:
    readings = read(usage(), policy=policy_of(CPU, NETWORK_RECEIVE, source=MetricsServerSource()))
    assert list(readings.metrics) == [CPU]
    assert "set spec.metricsSource.prometheus" in readings.failures[NETWORK_RECEIVE]


def test_the_source_as_a_whole_fails_under_no_name() -> None:
    readings = read(failure="metrics.k8s.io is not served (404): install metrics-server.")
    assert readings.failures == {"": "metrics.k8s.io is not served (404): install metrics-server."}
    assert readings.metrics == {}


@given(
    st.lists(
        st.builds(
            NodeUsage,
            node=st.sampled_from(["node-1", "node-2", "stranger"]),
            sampled_at_s=st.one_of(st.floats(NOW_S - 900, NOW_S), st.just(math.nan)),
            window_s=st.floats(),
            cpu_cores=st.floats(),
            mem_bytes=st.floats(),
        ),
        max_size=3,
        unique_by=lambda u: u.node,
    )
)
def test_a_reading_is_a_finite_number_or_missing(usages: list[NodeUsage]) -> None:
    readings, backwards = read(*usages), read(*usages[::-1])
    assert (readings.failures, readings.oddities) == (backwards.failures, backwards.oddities)
    for name, metric in readings.metrics.items():
        missing = metric.state == MISSING
        assert np.isfinite(metric.utilisation[~missing]).all()
        assert np.isnan(metric.utilisation[missing]).all()
        assert math.isfinite(metric.window_s)
        assert np.array_equal(metric.utilisation, backwards.metrics[name].utilisation, equal_nan=True)
