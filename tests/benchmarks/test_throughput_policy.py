"""What stands for a Prometheus is believed by Plimsoll's own reading of it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks.throughput.prometheus_answers import Answers
from benchmarks.throughput.workloads import WORKLOADS
from plimsoll.cluster.node import NodeInfo
from plimsoll.load.prometheus_readings import readings_from_prometheus
from plimsoll.load.queries import queries
from plimsoll.load.readings import ReadingState
from plimsoll.load.samples import PrometheusAnswers, Sample
from plimsoll.policy.compile import compile_policy

_NOW_S = 1_800_000_007.5
_POLICY = WORKLOADS["policy"].policy("http://prometheus")
_NODES = [WORKLOADS["policy"].node(number) for number in range(5)]


@pytest.fixture
def answers() -> Answers:
    return Answers(_POLICY, [node["metadata"]["name"] for node in _NODES])


def _samples(body: bytes) -> tuple[Sample, ...]:
    result = json.loads(body)["data"]["result"]
    return tuple(Sample(labels=series["metric"], value=float(series["value"][1])) for series in result)


def test_every_node_has_a_fresh_reading_of_every_metric_that_no_limit_refuses(answers: Answers):
    policy = compile_policy(_POLICY)
    asked = {query.id: _samples(answers.to(query.text, at_s=_NOW_S)) for query in queries(policy)}
    readings = readings_from_prometheus(
        policy=policy,
        nodes=[NodeInfo.parse(node) for node in _NODES],
        pods={},
        answers=PrometheusAnswers(asked_at_s=_NOW_S, answers=asked),
        readings_id=1,
    )
    assert readings.failures == {}
    assert set(readings.metrics) == {metric.name for metric in policy.metrics}
    for metric in readings.metrics.values():
        assert (metric.state == ReadingState.OK).all()
        assert (metric.sampled_at_s <= _NOW_S).all()
        assert len(np.unique(metric.utilisation)) == len(_NODES)
        assert (metric.utilisation < 0.9).all()


def test_times_are_those_of_the_question(answers: Answers):
    last_sample = next(query for query in queries(compile_policy(_POLICY)) if query.id == "lastSample")
    for later_s in (0.0, 3600.0):
        at_s = _NOW_S + later_s
        series = json.loads(answers.to(last_sample.text, at_s=at_s))["data"]["result"][0]
        assert series["value"][0] == at_s
        assert at_s - 60 < float(series["value"][1]) <= at_s


def test_what_no_policy_asks_has_no_series(answers: Answers):
    assert _samples(answers.to("something else", at_s=_NOW_S)) == ()
