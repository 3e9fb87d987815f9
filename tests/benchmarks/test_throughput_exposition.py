"""What the harness reads from the metrics of others."""

from __future__ import annotations

import math

import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from benchmarks.throughput.exposition import buckets, count, largest_above, percentile, requests, total
from benchmarks.throughput.inside import of_metrics


def _histogram(name: str, values: list[float], bounds: tuple[float, ...] = (1, 2, 4)) -> str:
    registry = CollectorRegistry()
    histogram = Histogram(name, "of a test", ["result"], buckets=bounds, registry=registry)
    for i, value in enumerate(values):
        histogram.labels(result=f"result {i % 2}").observe(value)
    return generate_latest(registry).decode()


def test_buckets_are_summed_over_labels():
    assert buckets(_histogram("took_seconds", [0.5, 0.5, 3, 9]), "took_seconds") == {1: 2, 2: 2, 4: 3, math.inf: 4}


@pytest.mark.parametrize(
    ("share", "expected"), [(0.5, 1), (0.75, 4), (0.625, 3), (0.99, 4)], ids=["bound", "next", "within", "beyond all"]
)
def test_percentiles_are_those_of_promql(share: float, expected: float):
    cumulative = {1.0: 2.0, 2.0: 2.0, 4.0: 3.0, math.inf: 4.0}
    assert percentile(cumulative, share) == pytest.approx(expected)


def test_a_histogram_without_observations_has_no_percentile_and_no_largest():
    empty = {1.0: 0.0, math.inf: 0.0}
    assert percentile(empty, 0.5) is None
    assert percentile({}, 0.5) is None
    assert largest_above(empty) is None


@pytest.mark.parametrize(
    ("values", "above"), [([0.5], 0), ([0.5, 1.5], 1), ([3, 0.5], 2), ([9], 4)], ids=["first", "second", "3rd", "last"]
)
def test_the_largest_observation_is_above_the_bound_below_its_bucket(values: list[float], above: float):
    assert largest_above(buckets(_histogram("took_seconds", values), "took_seconds")) == above


def _asked(counts: dict[tuple[str, str, str, str], int]) -> str:
    registry = CollectorRegistry()
    names = ["verb", "resource", "subresource", "code"]
    counter = Counter("apiserver_request_total", "as of the API server", names, registry=registry)
    for labels, value in counts.items():
        counter.labels(*labels).inc(value)
    return generate_latest(registry).decode()


def test_requests_are_what_came_between_two_readings_most_first():
    bind, event, list_ = ("POST", "pods", "binding", "201"), ("POST", "events", "", "201"), ("LIST", "pods", "", "200")
    before, after = _asked({bind: 5, list_: 3}), _asked({bind: 15, event: 12, list_: 3})
    asked = requests(before, after)
    assert list(asked.items()) == [("POST events 201", 12), ("POST pods/binding 201", 10)]
    assert count(asked, verb="POST") == 22
    assert count(asked, resource="events", code="201") == 12
    assert count(asked, verb="PATCH") == 0


def test_a_total_is_over_those_that_have_the_labels_and_absent_where_there_is_no_such_metric():
    text = 'up{state="fresh",policy="a"} 3\nup{state="stale",policy="a"} 4\nupper 9\n'
    assert total(text, "up") == 7
    assert total(text, "up", state="fresh") == 3
    assert total(text, "u") is None


def test_cpu_time_of_decisions_goes_before_their_wall_time():
    wall = _histogram("plimsoll_scheduling_algorithm_duration_seconds", [3, 3], (1, 2, 4))
    cpu = _histogram("plimsoll_scheduling_decision_cpu_seconds", [0.5, 0.5], (1, 2, 4))
    assert of_metrics(wall)["decision_p50_ms"] > 2000
    assert of_metrics(wall + cpu)["decision_p50_ms"] < 1000


def test_decisions_that_found_no_node_are_told_apart():
    registry = CollectorRegistry()
    name = "plimsoll_scheduling_decision_cpu_seconds"
    histogram = Histogram(name, "of a test", ["result"], buckets=(0.001, 0.01, 0.1), registry=registry)
    histogram.labels("scheduled").observe(0.0005)
    for result in ("nominated", "unschedulable"):
        histogram.labels(result).observe(0.05)
    found = of_metrics(generate_latest(registry).decode())
    assert found["decision_p99_ms"] < 1
    assert found["decision_refused_p99_ms"] > 10


def test_decisions_of_kube_scheduler_are_read_as_well():
    text = _histogram("scheduler_scheduling_algorithm_duration_seconds", [0.5], (1, 2))
    assert of_metrics(text)["decision_p99_ms"] == pytest.approx(990)


def test_the_longest_holds_of_the_loop_have_names_of_their_own():
    registry = CollectorRegistry()
    Gauge("plimsoll_loop_longest_hold_cpu_seconds", "of a test", registry=registry).set(0.125)
    assert of_metrics(generate_latest(registry).decode()) == {"loop_longest_hold_cpu_ms": 125}


def test_who_has_no_metrics_has_no_figures():
    assert of_metrics("") == {}
