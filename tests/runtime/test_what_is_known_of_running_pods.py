from __future__ import annotations

import pytest

from plimsoll.kube.reflector import Identity
from plimsoll.load.pod_use import PodPlace
from plimsoll.runtime.mirror import AssignedPods
from plimsoll.scheduling.scheduler import Scheduler
from tests.builders import PodBuilder, make_pod

STARTED_S = 1_767_225_605.0


@pytest.fixture
def assigned(scheduler: Scheduler) -> AssignedPods:
    return AssignedPods(scheduler, wake=lambda: None)


def web() -> PodBuilder:
    return make_pod("web").on("node-1").owner("StatefulSet", "web")


def test_a_pod_has_a_place_from_its_start(assigned: AssignedPods) -> None:
    assigned.on_added(web().obj())
    assert assigned.place_of == {}
    assigned.on_updated(web().started().obj())
    assert assigned.place_of == {"default/web": PodPlace(web().info().workload, STARTED_S)}


@pytest.mark.parametrize(
    "ended",
    [
        pytest.param(web().started().phase("Failed"), id="it has failed"),
        pytest.param(web().started().deleting(), id="it has to go"),
    ],
)
def test_a_pod_that_does_not_work_any_more_has_none(assigned: AssignedPods, ended: PodBuilder) -> None:
    assigned.on_added(web().started().obj())
    assigned.on_updated(ended.obj())
    assert assigned.place_of == {}
    assert assigned.node_of == {"default/web": "node-1"}


def test_a_pod_that_is_gone_has_none(assigned: AssignedPods) -> None:
    pod = web().started()
    assigned.on_added(pod.obj())
    assigned.on_deleted(Identity("default", "web", pod.info().uid))
    assert assigned.place_of == {}


def test_a_pod_that_can_be_read_in_part_keeps_what_is_known(assigned: AssignedPods) -> None:
    broken = web().started().spec(hostNetwork=True, tolerations=5)
    assigned.on_added(broken.obj())
    assert assigned.place_of["default/web"].host_network
