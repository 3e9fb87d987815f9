from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import ObjectError
from plimsoll.reporting.annotation import MAX_BYTES, DecisionNote, annotation, note_of, parse, render
from plimsoll.scheduling.decision import NodeScore


def test_it_says_where_why_and_what_came_next(bound):
    assert json.loads(annotation(bound())) == {
        "node": "node-7",
        "score": 91.2,
        "policy": "network-first",
        "readingsTime": "2025-12-31T23:59:50Z",
        "runnerUp": {"node": "node-3", "score": 88.0},
        "readings": {"networkReceive": 4, "memory": 30, "cpu": None},
    }


def test_a_missing_reading_is_null_and_never_zero(bound):
    assert parse(annotation(bound())).readings["cpu"] is None


def test_a_decision_without_metrics_says_only_what_it_knows(bound):
    lone = NodeScore(node="node-7", score=50.0)
    text = annotation(bound(policy="", best=(lone,), readings_at_s=None, score=50.0))
    assert json.loads(text) == {"node": "node-7", "score": 50.0, "policy": ""}


def test_it_can_be_read_back(bound):
    assert parse(annotation(bound())) == note_of(bound())


def test_the_least_important_goes_first_when_it_is_too_long(bound):
    names = {"node": "n" * 253, "policy": "p" * 253}
    readings = {f"metric-{i}-{'x' * 50}": i for i in range(20)}
    best = (
        NodeScore(node=names["node"], score=90, readings=readings),
        NodeScore(node="r" * 253, score=80),
    )
    text = annotation(bound(**names, best=best))
    found = parse(text)
    assert len(text.encode()) <= MAX_BYTES
    assert (found.node, found.policy, found.runner_up) == (names["node"], names["policy"], "r" * 253)
    assert found.readings_at_s is not None
    assert 0 < len(found.readings) < 20


NAMES = st.text(max_size=1500)
SCORES = st.floats(0, 100).map(lambda score: round(score, 1))


@st.composite
def notes(draw, names=NAMES):
    runner_up = draw(st.none() | names)
    return DecisionNote(
        node=draw(names),
        score=draw(SCORES),
        policy=draw(names),
        readings_at_s=draw(st.none() | st.integers(0, 4_000_000_000).map(float)),
        runner_up=runner_up,
        runner_up_score=None if runner_up is None else draw(SCORES),
        readings=draw(st.dictionaries(names, st.none() | st.integers(0, 1000), max_size=8)),
    )


@given(note=notes())
def test_it_is_never_longer_than_one_kib_whatever_the_names(note):
    text = render(note)
    assert len(text.encode()) <= MAX_BYTES
    assert isinstance(parse(text), DecisionNote)


@given(note=notes(names=st.text(max_size=10)))
def test_what_fits_survives_the_round_trip_whole(note):
    assert parse(render(note)) == note


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not json",
        "[]",
        "7",
        '{"score": "high"}',
        '{"score": NaN}',
        '{"runnerUp": 3}',
        '{"readings": {"cpu": 1e999}}',
        "[" * 100_000,
    ],
)
def test_an_annotation_that_somebody_else_wrote_is_named_as_such(text):
    with pytest.raises(ObjectError, match=r"plimsoll\.dev/decision cannot be read"):
        parse(text)
