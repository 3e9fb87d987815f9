from __future__ import annotations

import pytest

from plimsoll.reporting.conditions import PodCondition
from plimsoll.runtime.pending import PendingPods
from plimsoll.scheduling.scheduler import Scheduler
from tests.builders import make_pod


@pytest.fixture
def wakes() -> list[str]:
    return []


@pytest.fixture
def pending(scheduler: Scheduler, wakes: list[str]) -> PendingPods:
    return PendingPods(scheduler, wake=lambda: wakes.append("wake"))


def _active(scheduler: Scheduler) -> int:
    return scheduler.pending_counts()["active"]


def test_a_pod_that_is_seen_is_queued_and_wakes_the_loop(
    scheduler: Scheduler, pending: PendingPods, wakes: list[str]
) -> None:
    pending.seen(make_pod("web").obj())
    assert _active(scheduler) == 1
    assert wakes == ["wake"]


def test_a_pod_that_is_gone_leaves_the_queue(scheduler: Scheduler, pending: PendingPods) -> None:
    pending.seen(make_pod("web").obj())
    pending.gone(make_pod("web").metadata(resourceVersion="2").obj())
    assert _active(scheduler) == 0
    assert pending.waiting(make_pod("web").info().uid) is None


def test_a_pod_that_cannot_be_read_is_named_and_the_rest_goes_on(
    scheduler: Scheduler, pending: PendingPods, caplog: pytest.LogCaptureFixture
) -> None:
    pending.seen(make_pod("odd").cpu("lots").obj())
    pending.seen(make_pod("even").obj())
    assert _active(scheduler) == 2
    assert "pod default/odd cannot be read" in caplog.text


def test_a_pod_without_an_identity_is_left_out(scheduler: Scheduler, pending: PendingPods) -> None:
    nobody = make_pod("odd").obj()
    del nobody["metadata"]["namespace"]
    pending.seen(nobody)
    assert _active(scheduler) == 0


def test_a_pod_that_was_mended_is_queued(scheduler: Scheduler, pending: PendingPods) -> None:
    pending.seen(make_pod("odd").cpu("lots").obj())
    pending.seen(make_pod("odd").cpu("1").metadata(resourceVersion="2").obj())
    assert _active(scheduler) == 1


def test_the_condition_is_remembered_as_read_or_written(pending: PendingPods) -> None:
    found = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no cpu"}
    pod = make_pod("web").status(conditions=[found]).metadata(generation=3)
    pending.seen(pod.obj())
    assert pending.condition_of(pod.info().uid) == PodCondition("False", "Unschedulable", "no cpu")
    waiting = pending.waiting(pod.info().uid)
    assert waiting
    assert waiting.generation == 3
    pending.condition_written(pod.info().uid, PodCondition("False", "Unschedulable", "no memory"))
    assert pending.condition_of(pod.info().uid) == PodCondition("False", "Unschedulable", "no memory")


def test_a_ghost_is_laid_by_a_sweep(scheduler: Scheduler, pending: PendingPods) -> None:
    for name in ("ghost", "alive"):
        pending.seen(make_pod(name).obj())
    pending.sweep_begins()
    pending.swept(make_pod("alive").obj())
    pending.sweep_ends()
    assert _active(scheduler) == 1
