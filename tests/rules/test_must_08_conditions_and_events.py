from __future__ import annotations

from typing import Any

import pytest

from plimsoll.cluster.pod import PodInfo
from plimsoll.kube.binding import BindOutcome, BindResult
from plimsoll.reporting.conditions import PodCondition, condition_patch, needs_patch
from plimsoll.reporting.events import Event, to_json
from plimsoll.runtime.pending import PendingPods
from plimsoll.runtime.reports import DecisionReports
from plimsoll.scheduling.decision import Bind, Refuse, Skip
from plimsoll.telemetry import Telemetry
from tests.builders import PodBuilder, make_node, make_pod
from tests.rules.asking import cluster
from tests.scheduling.conftest import World

NO_ROOM = (
    "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, "
    "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
)


class Told:
    """One node, and what is told of the pods that are tried there."""

    def __init__(self, world: World) -> None:
        self.events: list[Event] = []
        self.conditions: list[PodCondition] = []
        self._world = world
        self._pending = PendingPods(world.scheduler, wake=lambda: None)
        self._reports = DecisionReports(
            scheduler_name="plimsoll",
            pending=self._pending,
            record=self.events.append,
            write_condition=self._write,
            policy=lambda _: None,
            telemetry=Telemetry(),
        )

    def _write(self, _: PodInfo, condition: PodCondition) -> None:
        self.conditions.append(condition)

    def tries(self, pod: PodBuilder, *, answer: BindOutcome = BindOutcome.BOUND) -> None:
        self._pending.seen(pod.obj())
        match self._world.scheduler.next_command(now_s=self._world.now_s):
            case Bind() as command:
                self._reports.settled(command, BindResult(answer, "no" if answer is BindOutcome.FAILED else ""), 0.1)
            case Refuse() as command:
                self._reports.refused(command, took_s=0.1)
            case Skip() as command:
                self._reports.skipped(command)

    def said(self) -> list[tuple[str, str, str, str]]:
        return [(event.type, event.reason, event.action, event.note) for event in self.events]


@pytest.fixture
def told() -> Told:
    return Told(cluster(make_node("n1").offers(cpu="1")))


def test_a_pod_that_fits_nowhere_gets_condition_and_event_in_the_same_words(told: Told) -> None:
    told.tries(make_pod("web").cpu("2").metadata(generation=3))
    assert told.conditions == [PodCondition("False", "Unschedulable", NO_ROOM, 3)]
    assert told.said() == [("Warning", "FailedScheduling", "Scheduling", NO_ROOM)]


def test_a_pod_that_is_bound_gets_an_event_and_no_condition(told: Told) -> None:
    told.tries(make_pod("web"))
    assert told.conditions == []
    assert told.said() == [("Normal", "Scheduled", "Binding", "Successfully assigned default/web to n1")]


def test_a_binding_that_fails_is_an_error_and_no_call_for_nodes(told: Told) -> None:
    told.tries(make_pod("web"), answer=BindOutcome.FAILED)
    assert [(c.status, c.reason) for c in told.conditions] == [("False", "SchedulerError")]


def test_a_pod_that_cannot_be_read_is_an_error_that_says_what_is_wrong(told: Told) -> None:
    told.tries(make_pod("odd").cpu("lots"))
    assert [(c.status, c.reason) for c in told.conditions] == [("False", "SchedulerError")]
    ((kind, reason, _, note),) = told.said()
    assert (kind, reason) == ("Warning", "FailedScheduling")
    assert note.startswith("pod default/odd cannot be read: 'lots' is not a quantity")


def test_a_pod_that_is_being_deleted_gets_an_event_and_no_condition(told: Told) -> None:
    told.tries(make_pod("web").deleting())
    assert told.conditions == []
    assert told.said() == [("Warning", "FailedScheduling", "Scheduling", "skip schedule deleting pod: default/web")]


def test_an_event_is_one_of_events_k8s_io(told: Told) -> None:
    told.tries(make_pod("web"))
    body: dict[str, Any] = to_json(told.events[0], now_s=0.0, instance="plimsoll-host")
    assert (body["apiVersion"], body["eventTime"]) == ("events.k8s.io/v1", "1970-01-01T00:00:00.000000Z")
    assert (body["reportingController"], body["reportingInstance"]) == ("plimsoll", "plimsoll-host")
    assert body["regarding"] == {
        "apiVersion": "v1", "kind": "Pod", "namespace": "default", "name": "web", "uid": "uid-default-web",
    }  # fmt: skip


def test_a_condition_is_written_once_per_change() -> None:
    condition = PodCondition("False", "Unschedulable", NO_ROOM, 1)
    assert needs_patch(None, condition)
    assert not needs_patch(condition, condition)
    assert needs_patch(condition, PodCondition("False", "Unschedulable", "other words", 1))


def test_the_transition_time_is_that_of_the_status_alone() -> None:
    first = PodCondition("False", "Unschedulable", "a", 1)
    (new,) = condition_patch(first, previous=None, uid="u", now_s=0.0)["status"]["conditions"]
    (later,) = condition_patch(PodCondition("False", "Unschedulable", "b", 1), previous=first, uid="u", now_s=9.0)[
        "status"
    ]["conditions"]
    assert new["lastTransitionTime"] == "1970-01-01T00:00:00Z"
    assert "lastTransitionTime" not in later
