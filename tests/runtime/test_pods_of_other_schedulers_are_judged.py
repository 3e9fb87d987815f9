"""What the watch of assigned pods shows is judged by policies that observe, and counts whatever comes of that."""

from __future__ import annotations

import logging
import time
from typing import Any

import pytest

from plimsoll.cluster.times import timestamp
from plimsoll.policy.compiled import Mode
from plimsoll.runtime.mirror import AssignedPods
from plimsoll.runtime.observing import Counts
from plimsoll.runtime.others import PlacedByOthers
from plimsoll.scheduling.scheduler import Scheduler
from plimsoll.telemetry import Telemetry
from tests.builders import make_pod, make_policy


class Watched:
    """A listener whose policy observes by requests alone."""

    def __init__(self, scheduler: Scheduler, *, in_sync: bool = True) -> None:
        self.telemetry = Telemetry()
        scheduler.policies_changed([make_policy("p", mode=Mode.OBSERVE)], now_s=time.time())
        others = PlacedByOthers(scheduler, in_sync=lambda: in_sync, judged=Counts(self.telemetry).observed)
        self.assigned = AssignedPods(scheduler, wake=lambda: None, before=others.seen)

    def sample(self, name: str, **labels: str) -> float | None:
        """One of the policy's series; None where there is none."""
        return self.telemetry.registry.get_sample_value(f"plimsoll_{name}", {"policy": "p", **labels})


def bound(name: str = "theirs", node: str = "node-1", **spec: Any) -> dict[str, Any]:
    scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": timestamp(time.time())}
    pod = make_pod(name).cpu("1").spec(nodeName=node, schedulerName="default-scheduler", **spec)
    return pod.status(conditions=[scheduled]).obj()


def observed(scheduler: Scheduler) -> int:
    overview = scheduler.overview("p", now_s=time.time())
    assert overview is not None
    return 0 if overview.observed is None else overview.observed.count


def test_a_pod_is_judged_and_counted_as_it_comes(scheduler: Scheduler) -> None:
    watched = Watched(scheduler)
    watched.assigned.on_added(bound("first"))
    watched.assigned.on_added(bound("second"))
    watched.assigned.on_updated(bound("second"))
    assert observed(scheduler) == 2
    assert watched.sample("observed_pods_total", refused="false") == 2
    assert watched.sample("placement_regret_points_count") == 2
    assert (watched.sample("placement_regret_points_sum") or 0) > 0


def test_a_node_that_the_pod_does_not_fit_on_is_counted_as_refused(scheduler: Scheduler) -> None:
    watched = Watched(scheduler)
    watched.assigned.on_added(bound(nodeSelector={"disk": "fast"}))
    assert watched.sample("observed_pods_total", refused="true") == 1


def test_the_first_lists_are_old_news(scheduler: Scheduler) -> None:
    watched = Watched(scheduler, in_sync=False)
    watched.assigned.on_added(bound())
    assert observed(scheduler) == 0
    assert watched.assigned.node_of == {"default/theirs": "node-1"}


def test_a_pod_that_cannot_be_scored_counts_on_its_node_all_the_same(
    scheduler: Scheduler, caplog: pytest.LogCaptureFixture
) -> None:
    watched = Watched(scheduler)
    odd = bound(containers=[{"name": "main", "image": 7, "resources": {"requests": {"cpu": "16"}}}])
    with caplog.at_level(logging.ERROR):
        watched.assigned.on_added(odd)
    assert "pod of another scheduler could not be scored" in caplog.text
    assert [pod.key for pod in scheduler.pods()] == ["default/theirs"]
    assert observed(scheduler) == 0


def test_a_policy_that_is_gone_leaves_no_series(scheduler: Scheduler) -> None:
    watched = Watched(scheduler)
    watched.assigned.on_added(bound())
    watched.telemetry.forget_policy("p")
    assert watched.sample("observed_pods_total", refused="false") is None
    assert watched.sample("placement_regret_points_count") is None
