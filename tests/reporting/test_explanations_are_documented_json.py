from __future__ import annotations

import json

import pytest

from plimsoll.reporting.annotation import note_of
from plimsoll.reporting.explanation import annotation_document, decision_document, explanation
from plimsoll.scheduling.decision import NodeScore, Outcome, Rejection
from tests.builders import make_pod


def test_a_bound_pod_shows_every_node_that_was_looked_at_best_first(bound):
    assert decision_document(bound()) == {
        "pod": "default/web-1",
        "uid": "uid-default-web-1",
        "outcome": "Bind",
        "policy": "network-first",
        "policyGeneration": 3,
        "decidedAt": "2026-01-01T00:00:00.000000Z",
        "nodes": {"total": 12, "feasible": 12},
        "node": "node-7",
        "score": 91.2,
        "runnerUp": {"node": "node-3", "score": 88.0},
        "readingsTime": "2025-12-31T23:59:50Z",
        "best": [
            {
                "node": "node-7",
                "score": 91.2,
                "terms": {"load": 0.06, "requests": 0.2, "spreading": 0.0},
                "readings": {"networkReceive": 4, "memory": 30, "cpu": None},
                "projected": {"networkReceive": 9, "memory": 34, "cpu": 12},
                "sampleTime": "2025-12-31T23:59:48Z",
                "sampleAgeSeconds": 12.0,
            },
            {
                "node": "node-3",
                "score": 88.0,
                "terms": {"load": 0.1},
                "readings": {"networkReceive": 7},
                "projected": {},
            },
        ],
    }


def test_a_node_shows_what_the_plugins_of_soft_preferences_gave(bound):
    preferred = NodeScore(node="node-7", score=91.2, preferences={"NodeAffinity": 100, "ImageLocality": 7})
    (row,) = decision_document(bound(best=(preferred,)))["best"]
    assert row["preferences"] == {"NodeAffinity": 100, "ImageLocality": 7}


def test_what_set_the_ordinary_course_aside_is_said(bound):
    document = decision_document(bound(overloaded=True, load_set_aside="only 2 of 50 nodes have fresh data"))
    assert document["overloaded"] is True
    assert document["loadSetAside"] == "only 2 of 50 nodes have fresh data"


def test_a_pending_pod_shows_the_sentence_and_the_reasons_most_nodes_first(refused):
    rejections = (
        Rejection("TaintToleration", "node(s) had untolerated taint(s)", 1, resolvable=False, examples=("node-5",)),
        Rejection("NodeResourcesFit", "Insufficient cpu", 4, resolvable=True, examples=("node-1", "node-2")),
    )
    document = decision_document(refused(rejections=rejections))
    assert document["message"] == "0/5 nodes are available: 1 node(s) had untolerated taint(s), 4 Insufficient cpu."
    assert document["reasons"] == [
        {
            "count": 4,
            "reason": "Insufficient cpu",
            "plugin": "NodeResourcesFit",
            "resolvable": True,
            "examples": ["node-1", "node-2"],
        },
        {
            "count": 1,
            "reason": "node(s) had untolerated taint(s)",
            "plugin": "TaintToleration",
            "resolvable": False,
            "examples": ["node-5"],
        },
    ]
    assert "node" not in document


def test_decisions_come_newest_first(bound, refused, now_s):
    first, second = refused(decided_at_s=now_s - 60), bound(decided_at_s=now_s)
    document = explanation("default/web-1", [first, second])
    assert document["pod"] == "default/web-1"
    assert [d["outcome"] for d in document["decisions"]] == ["Bind", "Unschedulable"]


def test_a_pod_nobody_decided_about_has_no_decisions():
    assert explanation("default/ghost", []) == {"pod": "default/ghost", "decisions": []}


def test_the_annotation_alone_tells_the_same_in_the_same_words(bound):
    document = annotation_document("default/web-1", note_of(bound()))
    whole = decision_document(bound())
    assert document["from"] == "annotation"
    for key in ("pod", "outcome", "policy", "node", "score", "runnerUp", "readingsTime"):
        assert document[key] == whole[key]
    assert document["best"][0]["readings"] == whole["best"][0]["readings"]


@pytest.mark.parametrize("outcome", [Outcome.BIND, Outcome.UNSCHEDULABLE, Outcome.ERROR])
def test_every_document_is_plain_json(bound, refused, outcome):
    decision = bound() if outcome is Outcome.BIND else refused(outcome=outcome, problem="x")
    document = decision_document(decision)
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_a_sample_time_that_is_not_known_is_left_out(bound):
    document = decision_document(bound(pod=make_pod("p").info(), best=(NodeScore(node="node-7", score=1.0),)))
    assert "sampleTime" not in document["best"][0]
    assert "sampleAgeSeconds" not in document["best"][0]
