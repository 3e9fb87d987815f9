from __future__ import annotations

import time

from plimsoll.cluster.pod import PodInfo
from plimsoll.kube.binding import BindOutcome, BindResult
from plimsoll.reporting.conditions import PodCondition
from plimsoll.runtime.pending import PendingPods
from plimsoll.runtime.reports import DecisionReports
from plimsoll.scheduling.decision import Bind
from plimsoll.telemetry import Telemetry
from tests.builders import make_node, make_pod, make_policy
from tests.rules.asking import cluster, fits


def test_a_policy_keeps_its_pods_to_nodes_of_their_own() -> None:
    world = cluster(make_node("theirs"), make_node("ours").label("pool", "plimsoll"))
    world.policies(make_policy("pool", node_selector={"pool": "plimsoll"}))
    assert fits(world, make_pod()) == {"ours"}


def test_pods_of_another_scheduler_take_room_as_soon_as_they_are_seen() -> None:
    world = cluster(make_node("n1").offers(cpu="1"))
    world.assigned(make_pod("theirs").cpu("1").spec(schedulerName="default-scheduler").on("n1"))
    assert fits(world, make_pod().cpu("1")) == set()


def test_a_pod_that_somebody_else_bound_elsewhere_frees_what_was_assumed() -> None:
    world = cluster(make_node("n1").offers(cpu="1"), make_node("n2").offers(cpu="1").cordoned())
    assert world.decide(make_pod("web").cpu("1")).node == "n1"
    world.assigned(make_pod("web").cpu("1").on("n2"))
    assert fits(world, make_pod().cpu("1")) == {"n1"}


def test_bindings_that_failed_and_attempts_are_counted() -> None:
    world = cluster(make_node("n1"))
    world.now_s = time.time()
    telemetry, pending = Telemetry(), PendingPods(world.scheduler, wake=lambda: None)

    def written(_: PodInfo, condition: PodCondition) -> None:
        assert condition.reason == "SchedulerError"

    reports = DecisionReports(
        scheduler_name="plimsoll",
        pending=pending,
        record=lambda _: None,
        write_condition=written,
        policy=lambda _: None,
        telemetry=telemetry,
    )
    pending.seen(make_pod("web").obj())
    for outcome in (BindOutcome.FAILED, BindOutcome.BOUND):
        command = world.scheduler.next_command(now_s=world.now_s)
        assert isinstance(command, Bind)
        reports.decided(command.decision, took_s=0.1, cpu_s=0.1)
        reports.settled(command, BindResult(outcome, ""), 0.1)
        world.scheduler.bind_failed(command.pod.uid, retry=True, now_s=world.now_s)
        world.passes(20)
    value = telemetry.registry.get_sample_value
    assert value("plimsoll_schedule_attempts_total", {"result": "error", "policy": ""}) == 1
    assert value("plimsoll_pod_scheduling_attempts_sum") == 2
