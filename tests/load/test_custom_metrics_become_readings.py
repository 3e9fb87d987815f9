from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.load.carry_over import carry_over, same_question
from plimsoll.load.readings import MetricReadings, Readings, ReadingState
from plimsoll.load.samples import PrometheusAnswers
from plimsoll.policy.compiled import CPU, Goal, Metric, PrometheusSource
from tests.builders import make_node
from tests.load.answers import NOW_S, Answering, policy_of, read, reversed_series

OK, STALE, MISSING = ReadingState.OK, ReadingState.STALE, ReadingState.MISSING
BUSY = Metric("busy", 1, query="busy[$timeRange]", min=0.0, max=1.0)
FREE = Metric("busy", 1, query="free", goal=Goal.MAXIMIZE, min=0.0, max=1.0)
GUESSED = Metric("busy", 1, query="busy")
NODES = [make_node("n1"), make_node("n2")]


def taken(answering: Answering, metric: Metric = BUSY, nodes: Any = NODES, **fields: Any) -> Readings:
    return answering.read(policy_of(metrics=(metric,), **fields), nodes)


def busy(answering: Answering, metric: Metric = BUSY, **fields: Any) -> MetricReadings:
    return taken(answering, metric, **fields).metrics["busy"]


def test_each_node_has_its_value_and_where_it_is_on_the_scale() -> None:
    metric = Metric("busy", 1, query="busy[$timeRange]", min=20.0, max=100.0)
    got = busy(Answering().answering("busy", 40.0, node="n1").answering("busy", 100.0, instance="n2"), metric)
    assert (got.value.tolist(), got.utilisation.tolist()) == ([40.0, 100.0], [0.25, 1.0])
    assert got.capacity.tolist() == [80.0, 80.0]
    assert got.state.tolist() == [OK, OK]


def test_with_maximize_the_greater_value_is_the_idler_node() -> None:
    got = busy(Answering().answering("busy", 0.9, node="n1").answering("busy", 0.2, node="n2"), FREE)
    assert got.value.tolist() == [0.9, 0.2]
    assert got.utilisation.tolist() == pytest.approx([0.1, 0.8])


def test_a_negative_value_is_a_value() -> None:
    metric = Metric("busy", 1, query="busy", min=-10.0, max=10.0)
    readings = taken(Answering().answering("busy", -5.0, node="n1").answering("busy", -20.0, node="n2"), metric)
    assert readings.metrics["busy"].utilisation.tolist() == [0.25, -0.5]
    assert readings.oddities.counts == {}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e200], ids=str)
def test_what_is_no_finite_number_is_missing_on_that_node_alone(value: float) -> None:
    readings = taken(Answering().answering("busy", value, node="n1").answering("busy", 0.5, node="n2"))
    assert readings.metrics["busy"].state.tolist() == [MISSING, OK]
    assert np.isnan([readings.metrics["busy"].value[0], readings.metrics["busy"].utilisation[0]]).all()
    assert readings.oddities.counts == {"NotFinite": 1}
    assert readings.failures == {}


@pytest.mark.parametrize(
    ("metric", "want"),
    [pytest.param(BUSY, 0.7, id="the largest of Minimize"), pytest.param(FREE, 0.2, id="the least of Maximize")],
)
def test_of_several_series_for_one_node_the_worst_counts_and_they_are_told(metric: Metric, want: float) -> None:
    answering = Answering()
    for disk, value in (("sda", 0.4), ("sdb", 0.7), ("sdc", 0.2)):
        answering.answering("busy", value, node="n1", device=disk)
    readings = taken(answering, metric)
    assert readings.metrics["busy"].value[0] == want
    assert readings.oddities.counts == {"Duplicate": 1}
    assert readings.oddities.examples == {"Duplicate": 'busy{node="n1"}'}


# -- how old a value is -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("age_s", "want"),
    [
        pytest.param(20.0, OK, id="alive"),
        pytest.param(200.0, STALE, id="dead for three minutes"),
        pytest.param(None, MISSING, id="dead for so long that its time is not answered any more"),
    ],
)
@pytest.mark.parametrize("labels", [{"instance": "n1"}, {"node": "n1"}], ids=["by instance", "by node"])
def test_a_value_is_as_old_as_the_last_sample_of_its_node(
    age_s: float | None, want: ReadingState, labels: dict[str, str]
) -> None:
    answering = Answering().target("n1", age_s=age_s).target("n2").answering("busy", 0.5, **labels)
    got = busy(answering.answering("busy", 0.5, instance="n2"))
    assert got.state.tolist() == [want, OK]
    if age_s is not None:
        assert got.sampled_at_s[0] == NOW_S - age_s


@pytest.mark.parametrize(
    ("age_s", "want"),
    [
        pytest.param(20.0, OK, id="alive"),
        pytest.param(200.0, STALE, id="dead for three minutes"),
        pytest.param(None, MISSING, id="dead for so long that its time is not answered any more"),
    ],
)
def test_a_value_of_another_exporter_is_as_old_as_its_nodes_last_sample(
    age_s: float | None, want: ReadingState
) -> None:
    answering = Answering().target("n1:9100", age_s=age_s, node="n1").target("n2:9100", node="n2")
    answering.answering("busy", 0.5, instance="n1:9400", node="n1")
    got = busy(answering.answering("busy", 0.5, instance="n2:9400", node="n2"))
    assert got.state.tolist() == [want, OK]
    if age_s is not None:
        assert got.sampled_at_s[0] == NOW_S - age_s


def test_a_value_of_a_node_without_clock_is_of_now() -> None:
    answering = Answering().answering("busy", 0.5, instance="n1:9400", node="n1").answering("busy", 0.5, node="n2")
    got = busy(answering)
    assert got.state.tolist() == [OK, OK]
    assert got.sampled_at_s.tolist() == [NOW_S, NOW_S]


@pytest.mark.parametrize(
    ("share", "metric", "want"),
    [
        pytest.param(0.13, BUSY, MISSING, id="a mean of a node of 40 s"),
        pytest.param(0.79, BUSY, MISSING, id="a mean of most of the window"),
        pytest.param(0.8, BUSY, OK, id="a mean of nearly the window"),
        pytest.param(3000.0, BUSY, OK, id="a clock that was set tells nothing of it"),
        pytest.param(None, BUSY, OK, id="a mean of a node without clock in the window"),
        pytest.param(0.13, FREE, OK, id="an instant value"),
    ],
)
@pytest.mark.parametrize("instance", ["n1:9100", "n1:9400"], ids=["node-exporter's", "another's"])
def test_a_mean_over_a_part_of_the_time_range_is_not_believed(
    share: float | None, metric: Metric, want: ReadingState, instance: str
) -> None:
    answering = Answering().target("n1:9100", node="n1", share=share, share_long=share).target("n2")
    answering.answering("busy", 0.1, instance=instance, node="n1").answering("busy", 0.5, instance="n2")
    readings = taken(answering, metric)
    assert readings.metrics["busy"].state.tolist() == [want, OK]
    assert readings.oddities.counts == ({"Partial": 1} if want is MISSING else {})


def test_of_several_series_for_one_node_a_dead_exporters_does_not_count() -> None:
    answering = Answering().target("a", age_s=200.0, node="n1").target("b", age_s=5.0, node="n1")
    answering.answering("busy", 0.9, instance="a", node="n1").answering("busy", 0.1, instance="b", node="n1")
    readings = taken(answering)
    assert readings.metrics["busy"].value[0] == 0.1
    assert readings.oddities.counts == {}


@pytest.mark.parametrize(
    ("query", "window_s"),
    [pytest.param("rate(a[$timeRange])", 120.0, id="a mean"), pytest.param("a", 0.0, id="an instant value")],
)
def test_the_window_is_the_policys_where_the_query_names_it(query: str, window_s: float) -> None:
    metric = Metric("busy", 1, query=query, min=0.0, max=1.0)
    got = busy(Answering().answering("busy", 0.5, node="n1"), metric, time_range_s=120.0)
    assert got.window_s == window_s
    [window] = got.windows
    assert (window.length_s, window.utilisation[0]) == (window_s, 0.5)


# -- the scale that is estimated ----------------------------------------------------------------------------------


def test_only_the_policys_nodes_say_what_much_and_little_are() -> None:
    nodes = [make_node(f"n{i}").label("pool", "a") for i in range(101)] + [make_node("other")]
    answering = Answering().answering("busy", 1e6, node="other")
    for i in range(101):
        answering.answering("busy", float(i), node=f"n{i}")
    got = busy(answering, GUESSED, nodes=nodes, node_selector={"pool": "a"})
    assert got.scale is not None
    assert (got.scale.low, got.scale.span) == pytest.approx((5.0, 90.0))
    assert got.utilisation[[5, 95, 101]].tolist() == pytest.approx([0.0, 1.0, (1e6 - 5) / 90])


def test_the_scale_is_the_same_whatever_else_is_missing() -> None:
    answering = Answering().answering("busy", 3.0, node="n1").answering("busy", math.nan, node="n2")
    got = busy(answering, GUESSED)
    assert (got.utilisation[0], got.state.tolist()) == (0.0, [OK, MISSING])


# -- what fails -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answering", "want"),
    [
        pytest.param(Answering(), "Prometheus answers the query with no series: try it in Prometheus", id="nothing"),
        pytest.param(
            Answering().answering("busy", 0.5),
            "None of the series of the query can be used: they name no node of this cluster: keep a label that tells"
            " the node, e.g. by (node) or by (instance), or set spec.metricsSource.prometheus.nodeLabel",
            id="the labels are aggregated away",
        ),
        pytest.param(Answering().answering("busy", 0.5, instance="10.9.9.9:1"), "they name no node", id="strangers"),
        pytest.param(
            Answering().answering("busy", math.nan, node="n1"),
            "they are no finite numbers: does the query divide by 0?",
            id="no numbers",
        ),
        pytest.param(
            Answering().target("n1", age_s=None).answering("busy", 0.5, instance="n1"),
            "they have no sample within ten minutes",
            id="all dead",
        ),
        pytest.param(
            Answering().target("n1", share=0.13).answering("busy", 0.5, instance="n1"),
            "they are means over a part of spec.timeRange only: wait until exporters have been scraped for so long",
            id="all have just come",
        ),
        pytest.param(
            Answering().answering("busy", 0.5, node="n1").failing("custom.busy", sentence="parse error at char 5."),
            "parse error at char 5.",
            id="a query that is refused",
        ),
    ],
)
def test_a_metric_that_no_node_has_fails_by_name_alone_and_says_what_to_do(answering: Answering, want: str) -> None:
    policy = policy_of(metrics=(Metric(CPU, 1), BUSY))
    readings = answering.target("n2", idle=0.5).read(policy, NODES)
    assert want in readings.failures["busy"]
    assert "busy" not in readings.metrics
    assert list(readings.metrics) == [CPU]


def test_without_any_answer_about_ages_a_metric_fails_rather_than_to_be_taken_for_fresh() -> None:
    answering = Answering().answering("busy", 0.5, node="n1").failing("lastSample", sentence="too many samples.")
    assert taken(answering).failures == {"busy": "too many samples."}


def test_the_policys_own_label_names_the_node() -> None:
    source = PrometheusSource(url="http://p", node_label="host")
    assert busy(Answering().answering("busy", 0.5, host="n1", instance="x"), source=source).state[0] == OK


def test_a_series_that_could_be_of_two_nodes_is_not_believed() -> None:
    twins = [make_node("a").address("10.0.0.1"), make_node("b").address("10.0.0.1"), make_node("n1")]
    answering = Answering().answering("busy", 0.5, instance="10.0.0.1:9100").answering("busy", 0.5, node="n1")
    readings = taken(answering, nodes=twins)
    assert readings.metrics["busy"].state.tolist() == [MISSING, MISSING, OK]
    assert readings.oddities.counts == {"Ambiguous": 1}


# -- when readings stay in force ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "same"),
    [
        pytest.param({"weight": 3.0}, True, id="the weight"),
        pytest.param({"limit": 0.5}, True, id="the limit"),
        pytest.param({"per_pod": 0.5}, True, id="what a pod adds"),
        pytest.param({"query": "other"}, False, id="the query"),
        pytest.param({"min": -1.0}, False, id="min"),
        pytest.param({"max": 2.0}, False, id="max"),
        pytest.param({"goal": Goal.MAXIMIZE}, False, id="the goal"),
        pytest.param({"name": "other"}, False, id="the name"),
    ],
)
def test_readings_of_a_changed_metric_are_kept_while_they_answer_the_same(
    changed: dict[str, Any], *, same: bool
) -> None:
    metric = Metric("busy", 1.0, query="busy", min=0.0, max=1.0)
    before, after = (policy_of(metrics=(m,)) for m in (metric, replace(metric, **changed)))
    assert same_question(before, after) is same


def test_a_metric_that_fails_once_keeps_its_scale_and_its_values_by_node() -> None:
    policy = policy_of(metrics=(GUESSED,))
    before = Answering().answering("busy", 1.0, node="n1").answering("busy", 3.0, node="n2").read(policy, NODES)
    failed = Answering().failing("custom.busy").read(policy, [NODES[1], make_node("n3"), NODES[0]])
    carried = carry_over(before, failed, interval_s=30.0).metrics["busy"]
    assert carried.value.tolist() == pytest.approx([3.0, math.nan, 1.0], nan_ok=True)
    assert carried.windows[0].utilisation.tolist() == pytest.approx(carried.utilisation.tolist(), nan_ok=True)
    assert carried.scale == before.metrics["busy"].scale


# Laws ------------------------------------------------------------------------------------------------

NAMES = ("n1", "n2", "stranger")
SERIES = st.fixed_dictionaries(
    {"value": st.one_of(st.floats(-1e6, 1e6), st.floats()), "node": st.sampled_from(NAMES), "instance": st.just("i")}
)
METRICS = st.sampled_from([BUSY, FREE, GUESSED])


def answered(series: list[dict[str, Any]]) -> PrometheusAnswers:
    answering = Answering()
    for one in series:
        answering.answering("busy", **one)
    return answering.build()


@given(METRICS, st.lists(SERIES, max_size=8).map(answered))
def test_a_reading_is_a_finite_number_or_missing(metric: Metric, answers: PrometheusAnswers) -> None:
    readings = read(policy_of(metrics=(metric,)), NODES, answers)
    assert set(readings.metrics) | set(readings.failures) == {"busy"}
    for got in readings.metrics.values():
        missing = got.state == MISSING
        assert np.isfinite([got.utilisation[~missing], got.value[~missing], got.sampled_at_s[~missing]]).all()
        assert np.isnan([got.utilisation[missing], got.value[missing]]).all()


@given(METRICS, st.lists(SERIES, max_size=8).map(answered))
def test_the_order_of_series_changes_nothing(metric: Metric, answers: PrometheusAnswers) -> None:
    policy = policy_of(metrics=(metric,))
    one, other = read(policy, NODES, answers), read(policy, NODES, reversed_series(answers))
    assert (one.failures, one.oddities) == (other.failures, other.oddities)
    for name, got in one.metrics.items():
        assert np.array_equal(got.utilisation, other.metrics[name].utilisation, equal_nan=True)
