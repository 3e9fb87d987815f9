"""Decisions about pods with unbound claims, and how far these claims have come."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.cluster.kinds import KINDS
from plimsoll.scheduling.decision import Bind, Refuse
from plimsoll.scheduling.preparing import Progress
from tests.builders import PodBuilder, make_node, make_pod
from tests.scheduling.conftest import World
from tests.volume_objects import a_claim, a_class, a_volume, using

Json = dict[str, Any]
HOST = "kubernetes.io/hostname"


def seen(world: World, *objects: Json) -> None:
    for thing in objects:
        world.scheduler.object_seen(thing["kind"], KINDS[thing["kind"]].parse(thing), now_s=world.now_s)


def bind(world: World, pod: PodBuilder) -> Bind:
    world.pending(pod)
    command = world.scheduler.next_command(now_s=world.now_s)
    assert isinstance(command, Bind), command
    return command


@pytest.fixture
def local(world: World) -> World:
    """Two nodes and a volume on the first."""
    world.nodes(make_node("n1"), make_node("n2"))
    seen(world, a_class(), a_volume("v", on={HOST: ["n1"]}))
    return world


@pytest.fixture
def made(world: World) -> World:
    """A node, and a class whose volumes are made."""
    world.nodes(make_node("n1"))
    seen(world, a_class(provisioner="csi"))
    return world


def version(world_version: int) -> Json:
    return {"resourceVersion": str(world_version)}


def test_a_pod_without_unbound_claims_needs_nothing(local: World) -> None:
    seen(local, a_claim("old", volume="v", bound=True))
    assert bind(local, using(make_pod(), "old")).prepare is None
    assert bind(local, make_pod()).prepare is None


def test_a_pod_with_an_unbound_claim_says_which_volume_it_takes(local: World) -> None:
    seen(local, a_claim("data"))
    command = bind(local, using(make_pod(), "data"))
    assert command.decision.node == "n1"
    assert command.prepare is not None
    (binding,) = command.prepare.volumes.bindings
    assert (binding.claim.name, binding.volume.name) == ("data", "v")
    assert command.prepare.volumes.provisions == ()


def test_what_became_of_the_binding_is_remembered(local: World) -> None:
    seen(local, a_claim("data"))
    uid = bind(local, using(make_pod("web"), "data")).pod.uid
    assert [d.bound for d in local.scheduler.decisions_of("default/web")] == [None]
    local.scheduler.bind_failed(uid, retry=True, now_s=local.now_s)
    assert [d.bound for d in local.scheduler.decisions_of("default/web")] == [False]
    command = local.scheduler.next_command(now_s=local.now_s + 60)
    assert isinstance(command, Bind)
    local.scheduler.bound(uid, now_s=local.now_s + 60)
    assert [d.bound for d in local.scheduler.decisions_of("default/web")] == [True, False]


@pytest.mark.parametrize("node", ["n1", "n2"])
def test_a_pod_that_turns_up_on_a_node_is_bound_as_decided_or_otherwise(local: World, node: str) -> None:
    seen(local, a_claim("data"))
    pod = using(make_pod("web"), "data")
    assert bind(local, pod).decision.node == "n1"
    local.scheduler.pod_assigned(pod.on(node).info(), now_s=local.now_s)
    local.scheduler.bind_failed(pod.info().uid, retry=False, now_s=local.now_s)
    assert [d.bound for d in local.scheduler.decisions_of("default/web")] == [node == "n1"]


def test_two_pods_never_take_one_volume(local: World) -> None:
    seen(local, a_claim("one"), a_claim("two"))
    assert bind(local, using(make_pod(), "one")).decision.node == "n1"
    local.pending(using(make_pod(), "two"))
    command = local.scheduler.next_command(now_s=local.now_s)
    assert isinstance(command, Refuse)
    assert command.decision.rejected_by == {"VolumeBinding"}


def test_a_volume_that_is_given_back_wakes_who_waits_for_it(local: World) -> None:
    seen(local, a_claim("one"), a_claim("two"))
    first, second = using(make_pod("first"), "one"), using(make_pod("second"), "two")
    bind(local, first)
    local.pending(second)
    assert isinstance(local.scheduler.next_command(now_s=local.now_s), Refuse)
    local.bind_failed(first, retry=False)
    local.passes(1.1)
    decision = local.next()
    assert decision is not None
    assert (decision.pod.name, decision.node) == ("second", "n1")


def test_a_volume_that_is_written_is_not_given_back_before_the_watch_has_shown_it(local: World) -> None:
    seen(local, a_claim("one"), a_claim("two"))
    first = using(make_pod("first"), "one")
    bind(local, first)
    local.scheduler.volume_written("v")
    local.bind_failed(first, retry=False)
    assert local.probe(using(make_pod(), "two")).node == ""
    seen(local, a_volume("v", on={HOST: ["n1"]}))
    assert local.probe(using(make_pod(), "two")).node == "n1"


# -- how far it has come ------------------------------------------------------------------------------------

WAITING, DONE = Progress(), Progress(done=True)
OURS = {"namespace": "default", "name": "data", "uid": "uid-data"}


def test_a_volume_is_waited_for_until_its_claim_is_bound_for_good(local: World) -> None:
    seen(local, a_claim("data"))
    command, written = bind(local, using(make_pod(), "data")), {"v": "1000500"}
    assert local.scheduler.progress(command, written) == WAITING, "the watch has not shown our write"
    seen(local, a_volume("v", claim=OURS, on={HOST: ["n1"]}, metadata=version(1000500)))
    assert local.scheduler.progress(command, written) == WAITING, "the controller has not seen it"
    seen(local, a_claim("data", volume="v", bound=True))
    assert local.scheduler.progress(command, written) == DONE


@pytest.mark.parametrize(
    ("objects", "gone", "problem"),
    [
        pytest.param(
            [a_volume("v", on={HOST: ["n1"]}, metadata=version(1000501))],
            [],
            'ClaimRef got reset for pv "v"',
            id="claimRef reset",
        ),
        pytest.param(
            [a_volume("v", claim=OURS, on={HOST: ["n2"]}, metadata=version(1000501))],
            [],
            'pv "v" node affinity doesn\'t match node "n1": no matching NodeSelectorTerms',
            id="affinity changed",
        ),
        pytest.param(
            [],
            [("PersistentVolume", "v")],
            'failed to check binding: persistentvolumes "v" not found',
            id="volume gone",
        ),
        pytest.param(
            [],
            [("PersistentVolumeClaim", "default/data")],
            'failed to check binding: persistentvolumeclaims "default/data" not found',
            id="claim gone",
        ),
        pytest.param([], [("Node", "n1")], 'failed to get node "n1": node "n1" not found', id="node gone"),
    ],
)
def test_a_binding_that_comes_to_nothing_is_told(
    local: World, objects: list[Json], gone: list[tuple[str, str]], problem: str
) -> None:
    seen(local, a_claim("data"))
    command = bind(local, using(make_pod(), "data"))
    seen(local, *objects)
    for kind, key in gone:
        if kind == "Node":
            local.node_goes(key)
        else:
            local.scheduler.object_gone(kind, key, now_s=local.now_s)
    assert local.scheduler.progress(command, {"v": "1000500"}) == Progress(problem=problem)


def test_a_volume_that_is_being_made_is_waited_for(made: World) -> None:
    seen(made, a_claim("data"))
    command, written = bind(made, using(make_pod(), "data")), {"default/data": "1000500"}
    assert made.scheduler.progress(command, written) == WAITING
    seen(made, a_claim("data", selected="n1", metadata=version(1000500)))
    assert made.scheduler.progress(command, written) == WAITING
    seen(made, a_claim("data", selected="n1", volume="pvc-1", bound=True, metadata=version(1000502)))
    assert made.scheduler.progress(command, written) == WAITING, "the volume's own watch is behind"
    seen(made, a_volume("pvc-1", on={HOST: ["n1"]}))
    assert made.scheduler.progress(command, written) == DONE


@pytest.mark.parametrize(
    ("claim", "problem"),
    [
        pytest.param(a_claim("data", metadata=version(1000501)), 'provisioning failed for PVC "data"', id="given up"),
        pytest.param(
            a_claim("data", selected="n2", metadata=version(1000501)),
            'provisioning failed for PVC "data"',
            id="another node chosen",
        ),
        pytest.param(
            a_claim("data", selected="n1", volume="pvc-1", metadata=version(1000501)),
            'pv "pvc-1" node affinity doesn\'t match node "n1": no matching NodeSelectorTerms',
            id="made out of reach",
        ),
    ],
)
def test_a_volume_that_cannot_be_made_is_told(made: World, claim: Json, problem: str) -> None:
    seen(made, a_claim("data"), a_volume("pvc-1", on={HOST: ["n2"]}, phase="Bound"))
    command = bind(made, using(make_pod(), "data"))
    seen(made, claim)
    assert made.scheduler.progress(command, {"default/data": "1000500"}) == Progress(problem=problem)


def test_a_claim_that_went_while_its_volume_was_being_made_is_told(made: World) -> None:
    seen(made, a_claim("data"))
    command = bind(made, using(make_pod(), "data"))
    made.scheduler.object_gone("PersistentVolumeClaim", "default/data", now_s=made.now_s)
    missing = 'failed to check provisioning pvc: persistentvolumeclaims "default/data" not found'
    assert made.scheduler.progress(command, {}) == Progress(problem=missing)


def test_nothing_is_waited_for_once_the_pod_is_gone(made: World) -> None:
    seen(made, a_claim("data"))
    pod = using(make_pod("web"), "data")
    command = bind(made, pod)
    made.pending_goes(pod)
    problem = 'pod does not exist any more: pod "web" not found'
    assert made.scheduler.progress(command, {}) == Progress(problem=problem)


def test_nothing_is_waited_for_once_somebody_else_has_bound_the_pod(made: World) -> None:
    seen(made, a_claim("data"))
    pod = using(make_pod("web"), "data")
    command = bind(made, pod)
    made.assigned(using(make_pod("web"), "data").on("n1"))
    assert made.scheduler.progress(command, {}) == Progress(over=True)


def test_after_a_restart_a_node_that_was_selected_is_kept_to(made: World) -> None:
    made.nodes(make_node("n2"), make_node("n3"))
    seen(made, a_claim("data", selected="n2"))
    command = bind(made, using(make_pod(), "data"))
    assert command.decision.node == "n2"
    assert command.prepare is not None
    assert [claim.name for claim in command.prepare.volumes.provisions] == ["data"]


def test_after_a_restart_a_volume_that_was_given_to_the_claim_is_kept_to(local: World) -> None:
    seen(local, a_claim("data"), a_volume("w", size="6Gi"), a_volume("v", claim=OURS, on={HOST: ["n1"]}))
    command = bind(local, using(make_pod(), "data"))
    assert command.decision.node == "n1"
    assert command.prepare is not None
    assert [binding.volume.name for binding in command.prepare.volumes.bindings] == ["v"]
