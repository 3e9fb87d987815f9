from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.load.readings import Readings, ReadingState
from plimsoll.load.samples import PrometheusAnswers
from plimsoll.policy.compiled import CPU, MEMORY, NETWORK_RECEIVE, PrometheusSource
from tests.builders import make_node
from tests.load.answers import METRICS, NOW_S, Answering, policy_of, read, reversed_series

GI = float(2**30)
OK, STALE, MISSING = ReadingState.OK, ReadingState.STALE, ReadingState.MISSING
NODE = make_node()


def one(readings: Readings, metric: str) -> tuple[ReadingState, float]:
    judged = readings.metrics[metric]
    return ReadingState(int(judged.state[0])), float(judged.utilisation[0])


def test_cpu_is_what_is_not_idle_in_cores_of_the_node() -> None:
    readings = Answering().target("node-1", idle=0.75).read(policy_of(CPU), [make_node().offers(cpu="8")])
    metric = readings.metrics[CPU]
    assert (metric.value[0], metric.capacity[0], metric.utilisation[0]) == (2.0, 8.0, 0.25)
    assert (metric.sampled_at_s[0], metric.window_s) == (NOW_S - 10, 300.0)
    assert (readings.id, readings.taken_at_s, readings.nodes) == (7, NOW_S, ("node-1",))


def test_memory_is_what_is_not_available() -> None:
    answering = Answering().target("node-1", available=48 * GI, available_long=40 * GI, total=64 * GI)
    metric = answering.read(policy_of(MEMORY), [NODE]).metrics[MEMORY]
    assert (metric.value[0], metric.capacity[0], metric.utilisation[0]) == (24 * GI, 64 * GI, 0.375)


def test_the_busier_window_of_the_cpu_counts() -> None:
    readings = Answering().target("node-1", idle=0.9, idle_long=0.5).read(policy_of(CPU), [NODE])
    assert one(readings, CPU) == (OK, 0.5)


@pytest.mark.parametrize(
    ("share", "share_long"),
    [
        pytest.param(0.2, 0.0667, id="a minute old"),
        pytest.param(1.0, 0.5, id="the short window is full"),
        pytest.param(0.1333, 0.0444, id="forty seconds old"),
    ],
)
def test_a_partly_filled_window_is_corrected(share: float, share_long: float) -> None:
    """As Prometheus answers it of a node that receives 100 MB/s and is half idle from its first sample on."""
    answering = Answering().target(
        "node-1",
        receive={"eth0": 100e6 * share},
        receive_long={"eth0": 100e6 * share_long},
        speed={"eth0": 1250e6},
        idle=0.5,
        idle_long=0.5,
        share=share,
        share_long=share_long,
    )
    readings = answering.read(policy_of(NETWORK_RECEIVE, CPU), [NODE])
    assert readings.metrics[NETWORK_RECEIVE].value.tolist() == pytest.approx([100e6])
    assert one(readings, CPU) == (OK, pytest.approx(0.5))
    assert ("Partial" in readings.oddities.counts) == (share < 0.95)


@pytest.mark.parametrize(
    "share",
    [
        pytest.param(0.05, id="fifteen seconds"),
        pytest.param(None, id="one sample"),
        pytest.param(3000.0, id="the clock was set inside the window"),
    ],
)
def test_too_little_of_a_window_is_missing_on_that_node_alone(share: float | None) -> None:
    young = Answering().target("node-1", idle=0.05, share=share, share_long=share if share != 0.05 else 0.0167)
    young.target("node-2", idle=0.5)
    readings = young.read(policy_of(CPU), [NODE, make_node("node-2")])
    assert readings.metrics[CPU].state.tolist() == [MISSING, OK]
    assert readings.failures == {}
    assert readings.oddities.counts == {"Partial": 1}


@pytest.mark.parametrize(
    ("age_s", "want"),
    [
        pytest.param(20, OK, id="alive"),
        pytest.param(200, STALE, id="dead for three minutes"),
        pytest.param(601, MISSING, id="dead for more than ten"),
        pytest.param(None, MISSING, id="dead for so long that no time is answered"),
    ],
)
def test_a_dead_exporters_last_rate_ages(age_s: float | None, want: ReadingState) -> None:
    answering = Answering().target("node-1", idle=0.5, age_s=age_s).target("node-2", idle=0.5)
    readings = answering.read(policy_of(CPU), [NODE, make_node("node-2")])
    state, utilisation = one(readings, CPU)
    assert state is want
    assert math.isnan(utilisation) == (want is MISSING)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        pytest.param(math.nan, "NotFinite", id="NaN"),
        pytest.param(math.inf, "NotFinite", id="infinite"),
        pytest.param(-math.inf, "NotFinite", id="negative infinite"),
        pytest.param(-1.0, "Negative", id="negative"),
    ],
)
@pytest.mark.parametrize("metric", METRICS)
def test_impossible_numbers_are_missing_and_counted(metric: str, value: float, kind: str) -> None:
    odd = {"receive": {"eth0": value}, "transmit": {"eth0": value}, "idle": value, "available": value, "total": GI}
    well = {"receive": {"eth0": 1.0}, "transmit": {"eth0": 1.0}, "idle": 0.5, "available": GI / 2, "total": GI}
    answering = Answering().target("node-1", **odd).target("node-2", **well)
    readings = answering.read(policy_of(metric), [NODE, make_node("node-2")])
    assert readings.metrics[metric].state.tolist() == [MISSING, OK]
    assert math.isnan(readings.metrics[metric].utilisation[0])
    assert readings.oddities.counts[kind] == 1
    assert readings.oddities.examples[kind].startswith(metric)


def test_more_idle_time_than_all_time_is_impossible() -> None:
    readings = Answering().target("node-1", idle=2.0).read(policy_of(CPU), [NODE])
    assert "negative" in readings.failures[CPU]


def test_counters_that_stand_still_while_the_clock_goes_on_are_missing_and_no_busy_node() -> None:
    """A share of no time is NaN. The longer window has seen some."""
    answering = Answering().target("node-1", idle=math.nan, idle_long=0.75).target("node-2", idle=math.nan)
    readings = answering.target("node-3", idle=0.5).read(policy_of(CPU), [make_node(f"node-{i}") for i in (1, 2, 3)])
    assert readings.metrics[CPU].state.tolist() == [OK, MISSING, OK]
    assert readings.metrics[CPU].utilisation[[0, 2]].tolist() == [0.25, 0.5]
    assert readings.oddities.counts == {"NotFinite": 2}


def test_more_memory_available_than_there_is_is_missing() -> None:
    readings = Answering().target("node-1", available=2 * GI, total=GI).read(policy_of(MEMORY), [NODE])
    assert readings.oddities.counts == {"Negative": 1}


@pytest.mark.parametrize("metric", METRICS)
def test_a_metric_is_missing_where_its_capacity_is_nothing(metric: str) -> None:
    answering = Answering().target(
        "node-1", receive={"eth0": 1.0}, transmit={"eth0": 1.0}, idle=0.5, available=0.0, total=0.0
    )
    readings = answering.read(policy_of(metric), [make_node().offers(cpu="0")])
    if metric in {CPU, MEMORY}:
        assert metric in readings.failures
    else:
        assert one(readings, metric)[0] is OK


def test_duplicates_of_one_target_count_with_the_largest() -> None:
    answering = Answering()
    for pod, idle in (("exporter-a", 0.9), ("exporter-b", 0.4), ("exporter-c", 0.8)):
        answering.target("node-1", idle=idle, pod=pod, namespace="monitoring")
    readings = answering.read(policy_of(CPU), [NODE])
    assert one(readings, CPU) == (OK, pytest.approx(0.6))
    assert readings.oddities.counts == {"Duplicate": 1}


def test_a_replaced_exporter_is_no_duplicate_and_its_last_load_does_not_stay() -> None:
    answering = Answering().target("node-1", idle=0.1, pod="old", age_s=200).target("node-1", idle=0.7, pod="new")
    readings = answering.read(policy_of(CPU), [NODE])
    assert one(readings, CPU) == (OK, pytest.approx(0.3))
    assert readings.oddities.counts == {}


def test_strangers_and_ambiguous_series_are_counted_and_the_rest_counts() -> None:
    nodes = [make_node("node-1"), make_node("a").address("10.0.0.1"), make_node("b").address("10.0.0.1")]
    answering = Answering().target("node-1", idle=0.5).target("10.0.0.1:9100", idle=0.5)
    answering.target("10.0.0.8:9100", idle=0.1).target("10.0.0.7:9100", idle=0.1)
    readings = answering.read(policy_of(CPU), nodes)
    assert readings.metrics[CPU].state.tolist() == [OK, MISSING, MISSING]
    assert readings.oddities.counts == {"Unmapped": 2, "Ambiguous": 1}
    assert readings.oddities.examples["Unmapped"] == 'cpu{instance="10.0.0.7:9100"}'


def test_exporters_are_found_by_their_pod_and_by_uname() -> None:
    answering = Answering().target("10.1.0.5:9100", idle=0.5, namespace="m", pod="exporter")
    answering.target("10.1.0.6:9100", idle=0.25, nodename="node-2.example.com")
    readings = answering.read(policy_of(CPU), [NODE, make_node("node-2")], pods={"m/exporter": "node-1"})
    assert readings.metrics[CPU].utilisation.tolist() == [0.5, 0.75]


def test_the_policys_own_label_names_the_node() -> None:
    policy = policy_of(CPU, source=PrometheusSource(url="http://p", node_label="host"))
    assert one(Answering().target("x:1", idle=0.5, host="node-1").read(policy, [NODE]), CPU) == (OK, 0.5)


@pytest.mark.parametrize(
    ("answering", "metric", "want"),
    [
        pytest.param(
            Answering(),
            NETWORK_RECEIVE,
            "Prometheus has no series of node_network_receive_bytes_total for a physical device: is node-exporter"
            " scraped, and is spec.deviceName to be set?",
            id="nothing",
        ),
        pytest.param(
            Answering(),
            CPU,
            "Prometheus has no series of node_cpu_seconds_total with idle and with busy modes: is node-exporter scraped?",
            id="no cpu",
        ),
        pytest.param(
            Answering().target("stranger", idle=0.5), CPU, "set spec.metricsSource.prometheus.nodeLabel", id="strangers"
        ),
        pytest.param(Answering().target("node-1", idle=math.nan), CPU, "they are no finite numbers", id="no numbers"),
        pytest.param(
            Answering().target("node-1", idle=0.1, share=0.01), CPU, "they have too few samples yet", id="young"
        ),
        pytest.param(
            Answering().target("node-1", idle=0.1, age_s=None), CPU, "no series of node_time_seconds", id="no clocks"
        ),
        pytest.param(Answering().target("node-1", idle=0.1, age_s=700), CPU, "no sample within ten minutes", id="old"),
        pytest.param(
            Answering().target("node-1", available=1.0),
            MEMORY,
            "no series of node_memory_MemTotal_bytes",
            id="no total",
        ),
        pytest.param(
            Answering().target("node-1", idle=math.nan).target("node-2", idle=math.nan).target("x", idle=0.5),
            CPU,
            "most of them are no finite numbers",
            id="several reasons",
        ),
    ],
)
def test_a_metric_that_no_node_has_fails_by_name_and_says_what_to_do(
    answering: Answering, metric: str, want: str
) -> None:
    readings = answering.read(policy_of(metric), [NODE, make_node("node-2")])
    assert want in readings.failures[metric]
    assert metric not in readings.metrics


def test_the_device_that_was_asked_for_is_named() -> None:
    readings = Answering().read(policy_of(NETWORK_RECEIVE, device_name="eth9"), [NODE])
    assert (
        "for device eth9: is node-exporter scraped, and is spec.deviceName right?" in readings.failures[NETWORK_RECEIVE]
    )


def test_a_query_that_fails_sets_its_metric_aside_alone() -> None:
    answering = Answering().target("node-1", idle=0.5, available=GI / 2, total=GI).failing("idle.long")
    readings = answering.read(policy_of(CPU, MEMORY), [NODE])
    assert readings.failures == {CPU: "Prometheus refuses the query: too many samples."}
    assert list(readings.metrics) == [MEMORY]


def test_the_source_as_a_whole_fails_under_no_name() -> None:
    answers = PrometheusAnswers(asked_at_s=NOW_S, failures={"": "Prometheus at http://p cannot be reached."})
    readings = read(policy_of(*METRICS), [NODE], answers)
    assert readings.failures == {"": "Prometheus at http://p cannot be reached."}
    assert (readings.metrics, readings.nodes, readings.taken_at_s) == ({}, ("node-1",), NOW_S)


def test_a_cluster_without_nodes_is_no_failure() -> None:
    readings = Answering().target("node-1", idle=0.5).read(policy_of(CPU), [])
    assert readings.failures == {}
    assert readings.metrics[CPU].utilisation.shape == (0,)


# Laws ------------------------------------------------------------------------------------------------

NAMES = [f"node-{i}" for i in range(4)]
POLICY = policy_of(*METRICS)


def mostly(plausible: st.SearchStrategy[float | None]) -> st.SearchStrategy[float | None]:
    """Now and then any number at all, or none."""
    return st.one_of(plausible, plausible, plausible, st.floats(), st.none())


def rates() -> st.SearchStrategy[dict[str, float]]:
    devices = st.sampled_from(["eth0", "eth0.7", "eth1", "bond0"])
    return st.dictionaries(devices, mostly(st.floats(0, 1e9)).filter(lambda rate: rate is not None), max_size=2)


TARGET = st.fixed_dictionaries(
    {
        "instance": st.sampled_from([*NAMES, "10.0.0.1:9100", "stranger"]),
        "pod": st.sampled_from(["", "a", "b"]),
        "receive": rates(),
        "transmit": rates(),
        "speed": rates(),
        "idle": mostly(st.floats(0, 1)),
        "available": mostly(st.floats(0, 8 * GI)),
        "total": mostly(st.floats(8 * GI, 16 * GI)),
        "share": mostly(st.floats(0.1, 1)),
        "share_long": mostly(st.floats(0.1, 1)),
        "age_s": mostly(st.floats(0, 120)),
    }
)


def answered(targets: list[dict[str, Any]]) -> PrometheusAnswers:
    answering = Answering()
    for target in targets:
        answering.target(**target)
    return answering.build()


ANSWERS = st.lists(TARGET, max_size=7, unique_by=lambda t: (t["instance"], t["pod"])).map(answered)
NODES = [make_node(name).address(f"10.0.0.{i}") for i, name in enumerate(NAMES)]


def same(one_: Readings, other: Readings) -> bool:
    columns = ("utilisation", "value", "capacity", "sampled_at_s", "state")
    return (one_.failures, one_.oddities, set(one_.metrics)) == (
        other.failures,
        other.oddities,
        set(other.metrics),
    ) and all(
        np.array_equal(getattr(one_.metrics[m], c), getattr(other.metrics[m], c), equal_nan=c != "state")
        for m in one_.metrics
        for c in columns
    )


@given(ANSWERS)
def test_the_order_of_series_changes_nothing(answers: PrometheusAnswers) -> None:
    assert same(read(POLICY, NODES, answers), read(POLICY, NODES, reversed_series(answers)))


@given(ANSWERS, st.permutations(range(len(NODES))))
def test_permuting_nodes_permutes_the_readings(answers: PrometheusAnswers, order: list[int]) -> None:
    straight, permuted = read(POLICY, NODES, answers), read(POLICY, [NODES[i] for i in order], answers)
    for name, metric in straight.metrics.items():
        assert np.array_equal(metric.utilisation[order], permuted.metrics[name].utilisation, equal_nan=True)


@given(ANSWERS)
def test_a_reading_is_a_finite_number_or_missing(answers: PrometheusAnswers) -> None:
    readings = read(POLICY, NODES, answers)
    assert set(readings.metrics) | set(readings.failures) == set(METRICS)
    assert not set(readings.metrics) & set(readings.failures)
    for metric in readings.metrics.values():
        missing = metric.state == MISSING
        assert np.isfinite(metric.utilisation[~missing]).all()
        assert (metric.utilisation[~missing] >= 0).all()
        assert np.isnan(metric.utilisation[missing]).all()
        assert np.isnan(metric.value[missing]).all()
        assert np.isfinite(metric.sampled_at_s[~missing]).all()


@given(ANSWERS)
def test_numbers_that_are_none_never_become_a_reading(answers: PrometheusAnswers) -> None:
    """Where every load is NaN nothing is known, whatever clocks, times and capacities say."""
    kept = ("lastSample", "clock", "speed", "total", "uname")
    spoilt = {
        id_: samples if id_.startswith(kept) else tuple(replace(s, value=math.nan) for s in samples)
        for id_, samples in answers.answers.items()
    }
    assert read(POLICY, NODES, replace(answers, answers=spoilt)).metrics == {}


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.2, 1))
def test_more_load_never_reads_as_less(low: float, high: float, share: float) -> None:
    low, high = sorted((low, high))

    def utilisation(busy: float) -> float:
        answering = Answering().target("node-1", idle=1 - busy, share=share, share_long=share)
        return one(answering.read(policy_of(CPU), [NODE]), CPU)[1]

    assert utilisation(low) <= utilisation(high) + 1e-12
