from __future__ import annotations

import pytest

from plimsoll.cluster.reservation import Reservation
from plimsoll.cluster.storage.claim import PersistentVolumeClaim
from plimsoll.cluster.volume_matching import PodVolumes
from plimsoll.reporting.annotation import note_of
from plimsoll.reporting.explanation import annotation_document, decision_document
from plimsoll.reporting.pod_state import pod_state
from plimsoll.reporting.tables import headline, legend, node_table, reason_table, remarks
from plimsoll.scheduling.decision import NodeScore, Outcome, Rejection
from plimsoll.scheduling.preparing import Preparation
from tests.builders import make_pod
from tests.volume_objects import a_claim


def test_each_node_has_its_score_costs_readings_and_sample_age(bound):
    table = node_table(decision_document(bound()))
    assert table.columns == (
        "", "node", "score", "load", "requests", "spreading", "network receive", "memory", "cpu", "age",
    )  # fmt: skip
    assert table.rows == (
        ("*", "node-7", "91.2", "0.06", "0.20", "0.00", "4->9", "30->34", "?->12", "12s"),
        ("", "node-3", "88.0", "0.10", "-", "-", "7", "-", "-", "-"),
    )


def test_a_custom_metric_is_called_what_the_policy_calls_it(bound):
    node = NodeScore("node-7", 91.2, {}, readings={"diskBusy-GB": 4}, projected={"diskBusy-GB": 9}, sampled_at_s=None)
    assert node_table(decision_document(bound(best=(node,)))).columns[-2:] == ("diskBusy-GB", "age")


def test_the_columns_are_explained(bound, refused):
    assert legend(decision_document(bound())) == (
        "load, requests, spreading: cost from 0 to 1, lower is better",
        "metrics: percent measured->percent with pods in flight and this one",
    )
    from_annotation = annotation_document("default/web-1", note_of(bound()))
    assert legend(from_annotation) == ("metrics: percent measured",)
    assert legend(decision_document(refused())) == ()


def test_reasons_come_with_nodes_to_look_at(refused):
    examples = tuple(f"node-{i}" for i in range(10))
    decision = refused(rejections=(Rejection("P", "Insufficient cpu", 40, resolvable=True, examples=examples),))
    assert reason_table(decision_document(decision)).rows == (
        ("40", "Insufficient cpu", "node-0, node-1, node-2 and 37 more"),
    )


def test_the_headline_of_a_bound_pod(bound):
    assert headline(decision_document(bound())) == (
        "default/web-1 was placed on node-7 (score 91.2) at 2026-01-01T00:00:00Z by policy network-first;"
        " runner-up node-3 (88.0)"
    )


def test_a_pod_that_waits_for_its_claims_is_reserved_and_not_yet_placed(bound):
    prepare = Preparation(
        PodVolumes(provisions=(PersistentVolumeClaim.parse(a_claim("c-dyn")),)),
        (Reservation(namespace="default", name="gpu", uid="u"),),
    )
    waits = decision_document(bound(prepare=prepare))
    assert waits["waitsFor"] == ["default/c-dyn", "default/gpu"]
    assert headline(waits) == (
        "default/web-1 is reserved on node-7 (score 91.2) and waits for claims default/c-dyn and default/gpu"
        " (decided at 2026-01-01T00:00:00Z by policy network-first; runner-up node-3 (88.0))"
    )
    done = decision_document(bound(prepare=prepare, bound=True))
    assert "waitsFor" not in done
    assert headline(done).startswith("default/web-1 was placed on node-7 (score 91.2) at ")


def test_a_pod_that_was_not_bound_after_all_is_not_called_placed(bound):
    document = decision_document(bound(bound=False))
    assert document["bound"] is False
    assert headline(document) == (
        "default/web-1 was not bound to node-7 (score 91.2), chosen at 2026-01-01T00:00:00Z by policy network-first;"
        " its events say why; runner-up node-3 (88.0)"
    )


@pytest.mark.parametrize(
    ("victims", "want"),
    [
        (("low-b",), "Preemption makes room on node-5: default/low-b; the pod waits for it to go."),
        (("a", "b"), "Preemption makes room on node-5: default/a and default/b; the pod waits for them to go."),
        ((), "The pod is nominated to node-5, and waits for room there."),
    ],
)
def test_preemption_is_said_with_node_and_victims(refused, victims, want):
    pods = tuple(make_pod(name).info() for name in victims)
    document = decision_document(refused(nominated_node="node-5", victims=pods))
    assert document["nominatedNode"] == "node-5"
    assert document["victims"] == [pod.key for pod in pods]
    assert remarks(document) == (want,)


@pytest.mark.parametrize("node", ["", None])
def test_no_preemption_is_not_mentioned(refused, node):
    document = decision_document(refused(nominated_node=node))
    assert "nominatedNode" not in document
    assert remarks(document) == ()


def test_the_headline_of_a_pending_pod(refused):
    assert headline(decision_document(refused(nodes=0))) == (
        "default/web-1 was not placed at 2026-01-01T00:00:00Z (the built-in default policy, Unschedulable):"
        " no nodes available to schedule pods"
    )


def test_the_annotation_has_a_headline_and_a_table_too(bound):
    document = annotation_document("default/web-1", note_of(bound()))
    assert headline(document).startswith("default/web-1 was placed on node-7 (score 91.2) by policy network-first")
    assert [row[1] for row in node_table(document).rows] == ["node-7", "node-3"]


def test_remarks_name_what_the_scores_do_not_show(bound):
    document = decision_document(bound(overloaded=True, load_set_aside="too few nodes"))
    assert remarks(document)[:2] == (
        "Every fit node was above the policy's limits; the least loaded was taken.",
        "Metrics did not count: too few nodes",
    )


def test_annotations_that_were_set_aside_are_named(bound):
    annotation = "plimsoll.dev/network-receive"
    pod = make_pod("web-1").annotate(annotation, "much").info()
    document = decision_document(bound(pod=pod))
    assert document["ignored"] == list(pod.ignored)
    [remark] = [remark for remark in remarks(document) if remark.startswith("Set aside: ")]
    assert remark.startswith(f"Set aside: metadata.annotations[{annotation}]: 'much' is not a quantity")
    assert remark.endswith("e.g. 500m or 1Gi.")
    assert "ignored" not in decision_document(bound())


def test_a_choice_by_chance_is_called_one(bound):
    better = NodeScore(node="node-3", score=91.9)
    assert "Nodes within 1 point" in remarks(decision_document(bound(best=(better, *bound().best[:1]))))[0]
    assert not any("Nodes within 1 point" in remark for remark in remarks(decision_document(bound())))


def test_metrics_that_do_not_fit_beside_each_other_are_named(bound):
    readings = {f"m{i}": i for i in range(6)}
    document = decision_document(bound(best=(NodeScore(node="node-7", score=1.0, readings=readings),)))
    assert node_table(document).columns == ("", "node", "score", "m0", "m1", "m2", "m3", "age")
    assert remarks(document)[-1] == "Not shown here: m4, m5; -o json has every metric."


@pytest.mark.parametrize(
    ("pod", "want"),
    [
        pytest.param(
            make_pod("p").gated("wait-for-quota", "x"),
            "default/p is held back until its scheduling gates are removed: wait-for-quota and x",
            id="gated",
        ),
        pytest.param(
            make_pod("p").spec(schedulerName="default-scheduler"),
            "default/p names scheduler default-scheduler, not plimsoll: Plimsoll leaves it alone; is the name right?",
            id="another scheduler's",
        ),
        pytest.param(
            make_pod("p").spec(schedulerName="default-scheduler").on("node-1"),
            "default/p is on node-1, and carries no decision of Plimsoll (spec.schedulerName: default-scheduler)",
            id="placed by another scheduler",
        ),
        pytest.param(make_pod("p").deleting(), "default/p is being deleted", id="deleting"),
        pytest.param(make_pod("p").phase("Failed"), "default/p has ended (Failed) and will not be placed", id="ended"),
        pytest.param(
            make_pod("p"),
            "default/p waits, and has not been tried yet: see whether Plimsoll runs and is ready",
            id="not tried yet",
        ),
        pytest.param(
            make_pod("p").status(
                conditions=[{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 x."}]
            ),
            "default/p waits (Unschedulable): 0/1 x.",
            id="refused",
        ),
    ],
)
def test_a_pod_without_a_decision_says_what_it_waits_for(pod, want):
    assert pod_state(pod.obj(), scheduler_name="plimsoll") == want


def test_an_error_headline_names_the_reason(refused):
    document = decision_document(refused(outcome=Outcome.ERROR, problem="no such policy"))
    assert headline(document).endswith("(no policy, SchedulerError): no such policy")
