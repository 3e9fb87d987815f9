from __future__ import annotations

from typing import Any

import pytest

from plimsoll.reporting.conditions import unscheduled
from plimsoll.reporting.fit import fit_message
from plimsoll.scheduling.decision import Bind
from tests.builders import PodBuilder, make_node, make_pod
from tests.rules.asking import cluster, shown

Json = dict[str, Any]


def claim(*, allocation: Json | None = None) -> Json:
    status = {} if allocation is None else {"allocation": allocation}
    return {"kind": "ResourceClaim", "metadata": {"name": "gpu", "namespace": "default", "uid": "u"}, "status": status}


CLAIMING = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}]}


@pytest.mark.parametrize(
    ("pod", "named"),
    [
        pytest.param(make_pod().spec(**CLAIMING), "spec.resourceClaims", id="a resource claim that is not allocated"),
        pytest.param(
            make_pod().resource("deviceclass.resource.kubernetes.io/gpu", "1"),
            "resources.requests[deviceclass.resource.kubernetes.io/gpu]",
            id="a resource that stands for a claim",
        ),
        pytest.param(
            make_pod().spec(schedulingGroup={"podGroupName": "g"}), "spec.schedulingGroup", id="a scheduling group"
        ),
        pytest.param(make_pod().spec(workloadRef={"name": "w"}), "spec.workloadRef", id="a workload"),
        pytest.param(
            make_pod().tolerate(key="a", operator="Gt", value="1"),
            "spec.tolerations[0].operator (Gt)",
            id="a toleration operator",
        ),
    ],
)
def test_a_pod_is_refused_as_an_error_that_names(pod: PodBuilder, named: str) -> None:
    world = cluster(make_node("n1"), objects=[claim()])
    decision = world.decide(pod)
    assert decision.node == ""
    assert unscheduled(decision).reason == "SchedulerError"
    assert named in fit_message(decision)


def test_a_claim_that_is_allocated_is_honoured_and_reserved() -> None:
    here = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]}
    world = cluster(make_node("n1"), make_node("n2"))
    shown(world, claim(allocation={"nodeSelector": {"nodeSelectorTerms": [here]}}))
    world.pending(make_pod().spec(**CLAIMING))
    command = world.scheduler.next_command(now_s=world.now_s)
    assert isinstance(command, Bind)
    assert command.decision.node == "n2"
    assert command.prepare is not None
    assert [reservation.name for reservation in command.prepare.reservations] == ["gpu"]
