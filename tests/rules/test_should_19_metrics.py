from __future__ import annotations

import pytest

from plimsoll.kube.binding import BindOutcome, BindResult
from plimsoll.runtime.observing import show_state
from plimsoll.runtime.pending import PendingPods
from plimsoll.runtime.reports import DecisionReports
from plimsoll.scheduling.decision import Bind, Refuse
from plimsoll.telemetry import Telemetry
from tests.builders import make_node, make_pod
from tests.rules.asking import cluster
from tests.scheduling.conftest import World


@pytest.fixture
def world() -> World:
    return cluster(make_node("n1").offers(cpu="1"))


@pytest.fixture
def telemetry(world: World) -> Telemetry:
    """After one pod that was placed, and one that was not."""
    made, pending = Telemetry(), PendingPods(world.scheduler, wake=lambda: None)
    reports = DecisionReports(
        scheduler_name="plimsoll",
        pending=pending,
        record=lambda _: None,
        write_condition=lambda *_: None,
        policy=lambda _: None,
        telemetry=made,
    )
    for cpu in ("1", "2"):
        pending.seen(make_pod(f"web-{cpu}").cpu(cpu).obj())
        command = world.scheduler.next_command(now_s=world.now_s)
        assert isinstance(command, Bind | Refuse)
        reports.decided(command.decision, took_s=0.01, cpu_s=0.01)
        if isinstance(command, Bind):
            reports.settled(command, BindResult(BindOutcome.BOUND), 0.01)
        else:
            reports.refused(command, took_s=0.01)
    return made


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        pytest.param("schedule_attempts_total", {"result": "scheduled", "policy": ""}, id="scheduled"),
        pytest.param("schedule_attempts_total", {"result": "unschedulable", "policy": ""}, id="unschedulable"),
        pytest.param("scheduling_attempt_duration_seconds_count", {"result": "scheduled", "policy": ""}, id="duration"),
        pytest.param("pod_scheduling_sli_duration_seconds_count", {"attempts": "1"}, id="from queue to binding"),
        pytest.param("pod_scheduling_attempts_count", {}, id="attempts"),
        pytest.param("preemption_attempts_total", {}, id="preemption"),
    ],
)
def test_what_is_counted_has_kube_schedulers_name(telemetry: Telemetry, name: str, labels: dict[str, str]) -> None:
    assert telemetry.registry.get_sample_value(f"plimsoll_{name}", labels) == 1


@pytest.mark.parametrize("queue", ["active", "backoff", "unschedulable", "gated"])
def test_pending_pods_are_shown_by_queue(world: World, telemetry: Telemetry, queue: str) -> None:
    show_state(telemetry, scheduler=world.scheduler, reflectors=[], leading=True)
    found = telemetry.registry.get_sample_value("plimsoll_pending_pods", {"queue": queue})
    assert found == (1 if queue == "unschedulable" else 0)


def test_waiting_pods_are_shown_by_the_plugin_that_refused(world: World, telemetry: Telemetry) -> None:
    show_state(telemetry, scheduler=world.scheduler, reflectors=[], leading=True)
    assert telemetry.registry.get_sample_value("plimsoll_unschedulable_pods", {"plugin": "NodeResourcesFit"}) == 1
