from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.reporting.fit import failed_bind_message, fit_message
from plimsoll.scheduling.decision import Outcome, Rejection


def no(count: int, reason: str, plugin: str = "Plugin") -> Rejection:
    return Rejection(plugin, reason, count, resolvable=False)


@pytest.mark.parametrize(
    ("nodes", "rejections", "problem", "want"),
    [
        pytest.param(
            5,
            [no(3, "node(s) had untolerated taint(s)"), no(2, "Insufficient cpu")],
            "",
            "0/5 nodes are available: 2 Insufficient cpu, 3 node(s) had untolerated taint(s).",
            id="reasons are counted and sorted",
        ),
        pytest.param(
            12,
            [no(2, "y"), no(10, "x")],
            "",
            "0/12 nodes are available: 10 x, 2 y.",
            id="sorting is of the joined strings, so 10 stands before 2",
        ),
        pytest.param(
            2,
            [no(2, "Insufficient cpu"), no(2, "Insufficient memory"), no(1, "Too many pods")],
            "",
            "0/2 nodes are available: 1 Too many pods, 2 Insufficient cpu, 2 Insufficient memory.",
            id="one node adds several reasons",
        ),
        pytest.param(
            3,
            [no(1, "Insufficient cpu", "NodeResourcesFit"), no(2, "Insufficient cpu", "Other")],
            "",
            "0/3 nodes are available: 3 Insufficient cpu.",
            id="the same reason of two plugins is one reason",
        ),
        pytest.param(
            3,
            [],
            "pod has unbound immediate PersistentVolumeClaims",
            "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.",
            id="a problem of the pod as a whole",
        ),
        pytest.param(
            3,
            [no(3, "pod affinity terms conflict")],
            "pod affinity terms conflict",
            "0/3 nodes are available: pod affinity terms conflict.",
            id="a problem of the pod as a whole is not repeated by node",
        ),
        pytest.param(0, [], "", "no nodes available to schedule pods", id="no nodes at all"),
        pytest.param(
            4,
            [no(3, "node(s) were above the scheduling policy's load limit"), no(1, "node(s) were unschedulable")],
            "",
            "0/4 nodes are available: 1 node(s) were unschedulable,"
            " 3 node(s) were above the scheduling policy's load limit.",
            id="the policy's own reasons stand among the others",
        ),
    ],
)
def test_unschedulable(refused, nodes, rejections, problem, want):
    assert fit_message(refused(nodes=nodes, rejections=tuple(rejections), problem=problem)) == want


def test_an_error_is_told_as_it_is(refused):
    decision = refused(outcome=Outcome.ERROR, problem='the policy "gone" does not exist')
    assert fit_message(decision) == 'the policy "gone" does not exist'


def test_there_is_no_sentence_for_success(bound):
    with pytest.raises(ValueError, match="default/web-1 fits on node-7"):
        fit_message(bound())


def test_a_failed_bind_is_told_as_kube_scheduler_does():
    error = 'Operation cannot be fulfilled on pods/binding "web-1": pod web-1 is being deleted'
    assert failed_bind_message(error) == f'running Bind plugin "DefaultBinder": {error}'


REASONS = st.sampled_from(["Insufficient cpu", "Insufficient memory", "Too many pods", "node(s) were unschedulable"])


@given(found=st.lists(st.tuples(REASONS, st.integers(1, 5000)), min_size=1, max_size=12))
def test_the_counts_in_the_sentence_add_up_to_the_rejections(refused, found):
    rejections = tuple(no(count, reason) for reason, count in found)
    _, _, listed = fit_message(refused(nodes=5000, rejections=rejections)).partition(": ")
    told = {reason: int(count) for count, _, reason in (part.partition(" ") for part in listed[:-1].split(", "))}
    want = {reason: sum(c for r, c in found if r == reason) for reason, _ in found}
    assert told == want
    assert listed[:-1].split(", ") == sorted(listed[:-1].split(", "))
