from __future__ import annotations

from dataclasses import replace

from plimsoll.cluster.resources import CPU
from plimsoll.policy.compiled import Placement
from plimsoll.scheduling.decision import Outcome
from tests.builders import make_node, make_pod, make_policy
from tests.scheduling.conftest import World, uid


def test_a_pod_that_cannot_be_decided_on_is_named_and_the_next_one_placed(world: World) -> None:
    world.nodes(make_node("n1"))
    # No parser makes such a pod; it stands for whatever nobody thought of.
    odd = replace(make_pod("odd").priority(10).info(), requests={CPU: None})  # type: ignore[dict-item]
    world.scheduler.pod_pending(odd, now_s=world.now_s)
    world.pending(make_pod("web"))
    first, second = world.next(), world.next()
    assert first is not None
    assert (first.pod.name, first.outcome) == ("odd", Outcome.ERROR)
    assert first.problem.startswith("internal error, please report it: TypeError")
    assert second is not None
    assert (second.pod.name, second.node) == ("web", "n1")
    assert world.queued() == {"backoff": 1}


def test_a_binding_that_fails_is_tried_again_as_the_pod_is_by_then(world: World) -> None:
    world.nodes(make_node("n1").label("disk", "slow"), make_node("n2").label("disk", "fast"))
    world.pending(make_pod("web").node_selector(disk="slow"))
    decision = world.next()
    assert decision is not None
    assert decision.node == "n1"
    changed = make_pod("web").node_selector(disk="fast").metadata(resourceVersion="2")
    world.pending(changed)
    world.bind_failed(changed, retry=True)
    world.passes(2)
    again = world.next()
    assert again is not None
    assert (again.pod.uid, again.node) == (uid(changed), "n2")


def test_a_policy_of_load_alone_places_by_requests_while_metrics_are_set_aside(world: World) -> None:
    world.nodes(make_node("n1"), make_node("n2"))
    world.assigned(make_pod().cpu("8").on("n1"))
    alone = Placement(load=1, requests=0, spreading=0, preferences=0)
    world.policies(make_policy("p", weights={"cpu": 1}, placement=alone))
    assert {world.probe(make_pod().cpu("1")).node for _ in range(10)} == {"n2"}


def test_a_pod_that_is_deleted_while_it_is_bound_does_not_come_back(world: World) -> None:
    world.nodes(make_node("n1"))
    pod = make_pod("web")
    world.pending(pod)
    assert world.next() is not None
    world.pending_goes(pod)
    world.bind_failed(pod, retry=True)
    assert world.queued() == {}
