"""A pod is rejected, something happens, and it is due, or costs no attempt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from plimsoll.cluster.kinds import KINDS
from tests.builders import NodeBuilder, PodBuilder, make_pod
from tests.scheduling.conftest import World

Step = Callable[[World], None]


def waiting_pod() -> PodBuilder:
    return make_pod("waits")


def rejected(world: World, waiting: PodBuilder, plugin: str) -> None:
    world.pending(waiting)
    decision = world.next()
    assert decision is not None
    assert decision.rejected_by == {plugin}
    assert world.queued() == {"unschedulable": 1}
    world.passes(20)


def wakes(world: World, step: Step) -> None:
    step(world)
    assert world.queued() == {"active": 1}
    decision = world.next()
    assert decision is not None
    assert decision.node


def does_not_wake(world: World, step: Step) -> None:
    step(world)
    assert world.queued() == {"unschedulable": 1}
    assert world.next() is None


def node_is(node: NodeBuilder) -> Step:
    return lambda world: world.nodes(node)


def goes(other: PodBuilder) -> Step:
    return lambda world: world.assigned_goes(other)


def comes(other: PodBuilder) -> Step:
    return lambda world: world.assigned(other)


def itself(changed: PodBuilder) -> Step:
    return lambda world: world.pending(changed)


def thing_is(thing: dict[str, Any]) -> Step:
    """Any other object comes or changes."""
    kind = KINDS[thing["kind"]]
    return lambda world: world.scheduler.object_seen(kind.name, kind.parse(thing), now_s=world.now_s)


def thing_goes(thing: dict[str, Any]) -> Step:
    kind = KINDS[thing["kind"]]
    key = kind.parse(thing).key
    return lambda world: world.scheduler.object_gone(kind.name, key, now_s=world.now_s)
