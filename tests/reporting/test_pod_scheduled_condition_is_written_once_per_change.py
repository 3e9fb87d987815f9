from __future__ import annotations

import pytest

from plimsoll.reporting.conditions import (
    PodCondition,
    bind_failed,
    completed,
    condition_patch,
    needs_patch,
    read_condition,
    unscheduled,
)
from plimsoll.scheduling.decision import Outcome, Rejection
from tests.builders import make_pod


def test_a_pod_that_fits_nowhere_is_unschedulable_so_that_autoscalers_act(refused):
    decision = refused(rejections=(Rejection("NodeResourcesFit", "Insufficient cpu", 5, resolvable=True),))
    assert unscheduled(decision, generation=2) == PodCondition(
        "False", "Unschedulable", "0/5 nodes are available: 5 Insufficient cpu.", 2
    )


def test_a_pod_that_cannot_be_judged_is_a_scheduler_error_so_that_autoscalers_do_not(refused):
    assert unscheduled(refused(outcome=Outcome.ERROR, problem="no such policy")).reason == "SchedulerError"
    assert bind_failed("conflict").reason == "SchedulerError"


def test_the_patch_has_the_shape_of_kube_schedulers(refused, now_s):
    wanted = unscheduled(refused(nodes=0), generation=7)
    assert condition_patch(wanted, previous=None, uid="u1", now_s=now_s) == {
        "metadata": {"uid": "u1"},
        "status": {
            "conditions": [
                {
                    "type": "PodScheduled",
                    "status": "False",
                    "reason": "Unschedulable",
                    "message": "no nodes available to schedule pods",
                    "lastProbeTime": None,
                    "observedGeneration": 7,
                    "lastTransitionTime": "2026-01-01T00:00:00Z",
                }
            ]
        },
    }


def test_the_transition_time_is_left_alone_unless_the_status_flips(now_s):
    wanted = PodCondition("False", "Unschedulable", "new words")
    gated = PodCondition("False", "SchedulingGated", "old words")
    patch = condition_patch(wanted, previous=gated, uid="u", now_s=now_s)
    assert "lastTransitionTime" not in patch["status"]["conditions"][0]
    patch = condition_patch(wanted, previous=PodCondition("True", "", ""), uid="u", now_s=now_s)
    assert "lastTransitionTime" in patch["status"]["conditions"][0]


def test_an_unknown_generation_is_left_out(now_s):
    patch = condition_patch(PodCondition("False", "R", "m"), previous=None, uid="u", now_s=now_s)
    assert "observedGeneration" not in patch["status"]["conditions"][0]


def test_the_same_words_are_not_written_twice():
    wanted = PodCondition("False", "Unschedulable", "0/5 nodes are available: 5 Insufficient cpu.", 2)
    assert needs_patch(None, wanted)
    assert not needs_patch(wanted, wanted)
    assert needs_patch(PodCondition("False", "Unschedulable", "0/4 ...", 2), wanted)
    assert needs_patch(PodCondition("False", "SchedulerError", wanted.message, 2), wanted)
    assert needs_patch(PodCondition("False", wanted.reason, wanted.message, 1), wanted)


def test_what_was_written_is_read_back(now_s):
    wanted = PodCondition("False", "Unschedulable", "words", 3)
    patch = condition_patch(wanted, previous=None, uid="u", now_s=now_s)
    pod = make_pod().status(conditions=[{"type": "Ready", "status": "False"}, *patch["status"]["conditions"]]).obj()
    assert read_condition(pod) == wanted


def test_a_pod_without_the_condition_has_none():
    assert read_condition(make_pod().obj()) is None


def test_the_nominated_node_is_written_in_one_go_with_the_condition(refused, now_s):
    wanted = unscheduled(refused(nominated_node="n1"))
    patch = condition_patch(wanted, previous=None, uid="u", now_s=now_s)
    assert patch["status"]["nominatedNodeName"] == "n1"
    assert patch["status"]["conditions"][0]["type"] == "PodScheduled"


def test_a_nomination_that_ended_is_taken_away(refused, now_s):
    patch = condition_patch(unscheduled(refused(nominated_node="")), previous=None, uid="u", now_s=now_s)
    assert patch["status"]["nominatedNodeName"] is None


def test_a_nomination_that_stands_is_left_alone(refused, now_s):
    patch = condition_patch(unscheduled(refused(nominated_node=None)), previous=None, uid="u", now_s=now_s)
    assert "nominatedNodeName" not in patch["status"]


def test_a_binding_that_failed_ends_the_nomination():
    assert bind_failed("conflict").nominated_node == ""


def _nominated(node):
    return PodCondition("False", "Unschedulable", "words", 2, node)


@pytest.mark.parametrize(
    ("before", "wanted", "patched"),
    [
        pytest.param("", "n1", True, id="nominated"),
        pytest.param("n1", "n2", True, id="nominated elsewhere"),
        pytest.param("n1", "", True, id="given up"),
        pytest.param("n1", "n1", False, id="the same"),
        pytest.param("", "", False, id="none before and after"),
        pytest.param("n1", None, False, id="left alone"),
    ],
)
def test_the_same_words_with_another_nomination_are_written(before, wanted, patched):
    assert needs_patch(_nominated(before), _nominated(wanted)) == patched


def test_what_is_left_alone_stays_known():
    assert completed(_nominated("n1"), _nominated(None)).nominated_node == "n1"
    assert completed(_nominated("n1"), _nominated("")).nominated_node == ""


def test_the_nomination_is_read_with_the_condition():
    told = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "words"}]
    assert read_condition(make_pod().status(conditions=told, nominatedNodeName="n1").obj()).nominated_node == "n1"
    assert read_condition(make_pod().status(conditions=told).obj()).nominated_node == ""
