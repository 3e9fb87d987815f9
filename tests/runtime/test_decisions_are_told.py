from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

import pytest

from plimsoll.cluster.pod import PodInfo
from plimsoll.kube.binding import BindOutcome, BindResult
from plimsoll.policy.compiled import Policy
from plimsoll.reporting.conditions import PodCondition
from plimsoll.reporting.events import Event
from plimsoll.runtime.pending import PendingPods
from plimsoll.runtime.reports import DecisionReports
from plimsoll.scheduling.decision import Bind, Decision, Outcome, Refuse
from plimsoll.scheduling.scheduler import Scheduler
from plimsoll.telemetry import Telemetry
from tests.builders import PodBuilder, make_pod


class Told:
    def __init__(self) -> None:
        self.events: list[Event] = []
        self.conditions: list[tuple[str, PodCondition]] = []

    def condition(self, pod: PodInfo, condition: PodCondition) -> None:
        self.conditions.append((pod.name, condition))


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def telemetry() -> Telemetry:
    return Telemetry()


@pytest.fixture
def pending(scheduler: Scheduler) -> PendingPods:
    return PendingPods(scheduler, wake=lambda: None)


@pytest.fixture
def reports(told: Told, telemetry: Telemetry, pending: PendingPods) -> DecisionReports:
    return DecisionReports(
        scheduler_name="plimsoll",
        pending=pending,
        record=told.events.append,
        write_condition=told.condition,
        policy=lambda name: Policy(name=name, uid="u") if name else None,
        telemetry=telemetry,
    )


@pytest.fixture
def decide(scheduler: Scheduler, pending: PendingPods, reports: DecisionReports) -> Callable[[PodBuilder], Any]:
    """The command for a pod, reported as the loop does."""

    def one(pod: PodBuilder) -> Any:
        pending.seen(pod.obj())
        command = scheduler.next_command(now_s=time.time())
        assert command
        reports.decided(command.decision, took_s=0.001, cpu_s=0.0005)
        return command

    return one


def _sample(telemetry: Telemetry, name: str, **labels: str) -> float | None:
    return telemetry.registry.get_sample_value(f"plimsoll_{name}", labels)


def test_a_bound_pod_is_one_line_one_event_and_one_count(
    *, reports: DecisionReports, told: Told, telemetry: Telemetry, decide: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="plimsoll.decisions")
    command = decide(make_pod("web"))
    reports.settled(command, BindResult(BindOutcome.BOUND), 0.01)
    (record,) = caplog.records
    assert (record.message, vars(record)["pod"], vars(record)["node"]) == (
        "pod is placed",
        "default/web",
        command.decision.node,
    )
    assert [e.reason for e in told.events] == ["Scheduled"]
    assert told.conditions == []
    assert _sample(telemetry, "schedule_attempts_total", result="scheduled", policy="") == 1
    assert _sample(telemetry, "pod_scheduling_sli_duration_seconds_count", attempts="1") == 1


@pytest.mark.parametrize(
    ("pod", "result"),
    [
        pytest.param(make_pod("web"), "scheduled", id="it fits"),
        pytest.param(make_pod("huge").cpu("100"), "unschedulable", id="it fits nowhere"),
    ],
)
def test_the_cpu_time_of_each_decision_is_counted_by_its_result(
    *, telemetry: Telemetry, decide: Any, pod: PodBuilder, result: str
) -> None:
    decide(pod)
    assert _sample(telemetry, "scheduling_decision_cpu_seconds_count", result=result) == 1
    assert _sample(telemetry, "scheduling_decision_cpu_seconds_sum", result=result) == 0.0005


def test_the_answer_may_come_after_the_pod_left_the_queue(
    *, reports: DecisionReports, telemetry: Telemetry, pending: PendingPods, decide: Any
) -> None:
    command = decide(make_pod("web"))
    pending.gone(make_pod("web").on(command.decision.node).obj())
    reports.settled(command, BindResult(BindOutcome.BOUND), 0.01)
    assert _sample(telemetry, "pod_scheduling_attempts_count") == 1


def test_a_pod_that_does_not_fit_is_told_in_kube_schedulers_words(
    *, reports: DecisionReports, told: Told, telemetry: Telemetry, decide: Any
) -> None:
    command = decide(make_pod("huge").cpu("100").metadata(generation=4))
    assert isinstance(command, Refuse)
    reports.refused(command, took_s=0.001)
    sentence = (
        "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, "
        "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
    )
    assert [(e.type, e.reason, e.note) for e in told.events] == [("Warning", "FailedScheduling", sentence)]
    assert told.conditions == [("huge", PodCondition("False", "Unschedulable", sentence, 4))]
    assert _sample(telemetry, "schedule_attempts_total", result="unschedulable", policy="") == 1


def test_a_binding_that_failed_is_an_error_that_no_autoscaler_acts_on(
    *, reports: DecisionReports, told: Told, telemetry: Telemetry, decide: Any
) -> None:
    reports.settled(decide(make_pod("web")), BindResult(BindOutcome.FAILED, "etcd is slow"), 0.01)
    ((_, condition),) = told.conditions
    assert (condition.status, condition.reason) == ("False", "SchedulerError")
    assert "etcd is slow" in condition.message
    assert [e.reason for e in told.events] == ["FailedScheduling"]
    assert _sample(telemetry, "schedule_attempts_total", result="error", policy="") == 1


def test_volumes_that_did_not_come_about_are_told_in_the_words_they_came_in(
    *, reports: DecisionReports, told: Told, telemetry: Telemetry, decide: Any
) -> None:
    problem = 'running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded'
    reports.unprepared(decide(make_pod("web")), problem, 600.0)
    ((_, condition),) = told.conditions
    assert (condition.status, condition.reason, condition.message) == ("False", "SchedulerError", problem)
    assert [e.reason for e in told.events] == ["FailedScheduling"]
    assert _sample(telemetry, "schedule_attempts_total", result="error", policy="") == 1


@pytest.mark.parametrize("outcome", [BindOutcome.ASSIGNED, BindOutcome.GONE, BindOutcome.REPLACED])
def test_a_pod_that_was_not_ours_to_bind_is_not_troubled(
    *, reports: DecisionReports, told: Told, decide: Any, outcome: BindOutcome
) -> None:
    reports.settled(decide(make_pod("web")), BindResult(outcome, "somebody else"), 0.01)
    assert told.events == []
    assert told.conditions == []


def test_a_placement_above_the_limits_is_counted_and_told_of_the_policy(
    reports: DecisionReports, told: Told, telemetry: Telemetry
) -> None:
    pod = make_pod("web").info()
    decision = Decision(
        pod=pod, outcome=Outcome.BIND, policy="p", policy_generation=1, decided_at_s=0.0, nodes=1, feasible=1,
        node="node-1", overloaded=True,
    )  # fmt: skip
    reports.settled(Bind(pod, decision), BindResult(BindOutcome.BOUND), 0.01)
    assert [e.reason for e in told.events] == ["Scheduled", "AboveLimits"]
    assert _sample(telemetry, "overloaded_placements_total", policy="p") == 1


def test_attempts_add_up(*, reports: DecisionReports, telemetry: Telemetry, scheduler: Scheduler, decide: Any) -> None:
    first = decide(make_pod("web"))
    reports.settled(first, BindResult(BindOutcome.FAILED, "no"), 0.01)
    scheduler.bind_failed(first.pod.uid, retry=True, now_s=time.time())
    second = scheduler.next_command(now_s=time.time() + 2)
    assert isinstance(second, Bind)
    reports.decided(second.decision, took_s=0.001, cpu_s=0.0005)
    reports.settled(second, BindResult(BindOutcome.BOUND), 0.01)
    assert _sample(telemetry, "pod_scheduling_attempts_sum") == 2


def test_preemption_is_counted_with_its_victims_and_logged(
    *,
    scheduler: Scheduler,
    reports: DecisionReports,
    telemetry: Telemetry,
    decide: Any,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, logger="plimsoll.decisions")
    for node in ("node-1", "node-2"):
        scheduler.pod_assigned(make_pod(f"low-{node}").cpu("16").on(node).info(), now_s=time.time())
    reports.refused(decide(make_pod("high").cpu("1").priority(1)), took_s=0.001)
    reports.refused(decide(make_pod("equal").cpu("1")), took_s=0.001)
    reports.refused(decide(make_pod("odd").annotate("plimsoll.dev/policy", "absent")), took_s=0.001)
    assert _sample(telemetry, "preemption_attempts_total") == 2
    assert _sample(telemetry, "preemption_victims_sum") == 1
    told = vars(caplog.records[0])
    assert told["victims"] == [f"default/low-{told['nominated']}"]
