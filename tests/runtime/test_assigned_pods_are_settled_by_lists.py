from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from plimsoll.errors import ObjectError
from plimsoll.kube.reflector import Identity
from plimsoll.runtime.mirror import ApiObjects, AssignedPods, Namespaces, Nodes
from plimsoll.scheduling.decision import Bind
from plimsoll.scheduling.scheduler import Scheduler
from tests.builders import PodBuilder, make_node, make_pod


@pytest.fixture
def assigned(scheduler: Scheduler) -> AssignedPods:
    return AssignedPods(scheduler, wake=lambda: None)


def _place(scheduler: Scheduler, pod: PodBuilder) -> str:
    """The node, or "" where the pod does not fit."""
    scheduler.pod_pending(pod.info(), now_s=time.time())
    command = scheduler.next_command(now_s=time.time())
    return command.decision.node if isinstance(command, Bind) else ""


def test_an_assigned_pod_takes_room_until_it_is_gone(scheduler: Scheduler, assigned: AssignedPods) -> None:
    for node in ("node-1", "node-2"):
        assigned.on_added(make_pod(f"on-{node}").cpu("16").on(node).obj())
    assert assigned.node_of == {"default/on-node-1": "node-1", "default/on-node-2": "node-2"}
    assert _place(scheduler, make_pod("web").cpu("1")) == ""
    gone = make_pod("on-node-2").info()
    assigned.on_deleted(Identity(gone.namespace, gone.name, gone.uid))
    assert _place(scheduler, make_pod("next").cpu("16")) == "node-2"
    assert assigned.node_of == {"default/on-node-1": "node-1"}


def test_a_bound_pod_that_came_and_went_unseen_is_forgotten_by_the_next_list(
    scheduler: Scheduler, assigned: AssignedPods
) -> None:
    for name in ("first", "second"):
        assert _place(scheduler, make_pod(name).cpu("16"))
        scheduler.bound(make_pod(name).info().uid, now_s=time.time())
    assert _place(scheduler, make_pod("third").cpu("16")) == ""
    assigned.on_listed(asked_at_s=time.monotonic() + 1)
    assert _place(scheduler, make_pod("fourth").cpu("16"))


def test_a_pod_bound_after_the_list_was_asked_for_is_kept(scheduler: Scheduler, assigned: AssignedPods) -> None:
    asked_at_s = time.monotonic() - 10
    for name in ("first", "second"):
        assert _place(scheduler, make_pod(name).cpu("16"))
        scheduler.bound(make_pod(name).info().uid, now_s=time.time())
    assigned.on_listed(asked_at_s=asked_at_s)
    assert _place(scheduler, make_pod("third").cpu("16")) == ""


def test_a_pod_without_an_identity_is_an_error(assigned: AssignedPods) -> None:
    nobody = make_pod("odd").on("node-1").obj()
    del nobody["metadata"]["uid"]
    with pytest.raises(ObjectError, match="default/odd"):
        assigned.on_added(nobody)
    assert not assigned.uids


def test_nodes_come_change_and_go(scheduler: Scheduler) -> None:
    nodes = Nodes(scheduler, wake=lambda: None)
    nodes.on_added(make_node("large").offers(cpu="64").obj())
    assert _place(scheduler, make_pod("web").cpu("60")) == "large"
    nodes.on_updated(make_node("large").offers(cpu="64").cordoned().obj())
    assert _place(scheduler, make_pod("next").cpu("2")) in {"node-1", "node-2"}
    nodes.on_deleted(Identity("", "large", "uid-large"))
    assert {node.name for node in scheduler.nodes()} == {"node-1", "node-2"}


def test_a_namespace_that_appears_is_known_with_its_labels(scheduler: Scheduler) -> None:
    namespaces = Namespaces(scheduler, wake=lambda: None)
    namespaces.on_added({"metadata": {"name": "default", "labels": {"team": "a"}}})
    namespaces.on_added({"metadata": {"name": "bare"}})
    namespaces.on_deleted(Identity("", "bare", "u"))
    scheduler.pod_pending(make_pod("web").info(), now_s=time.time())
    command = scheduler.next_command(now_s=time.time())
    assert isinstance(command, Bind)


LISTENERS: dict[str, tuple[Callable[..., Any], Any, Identity]] = {
    "node": (Nodes, make_node("n1").obj(), Identity("", "n1", "uid-n1")),
    "pod": (AssignedPods, make_pod("web").on("node-1").obj(), Identity("default", "web", "uid-default-web")),
    "namespace": (Namespaces, {"metadata": {"name": "a", "labels": {"team": "a"}}}, Identity("", "a", "uid-a")),
    "service": (
        partial(ApiObjects, "Service"),
        {"metadata": {"name": "s", "namespace": "default", "uid": "uid-s"}, "spec": {"selector": {"app": "x"}}},
        Identity("default", "s", "uid-s"),
    ),
}


@pytest.mark.parametrize(("listener", "raw", "identity"), LISTENERS.values(), ids=LISTENERS)
def test_what_comes_and_what_goes_wakes_those_who_wait(
    scheduler: Scheduler, listener: Callable[..., Any], raw: Any, identity: Identity
) -> None:
    woken = list[str]()
    made = listener(scheduler, wake=lambda: woken.append("woken"))
    made.on_added(raw)
    assert len(woken) == 1
    made.on_deleted(identity)
    assert len(woken) == 2
