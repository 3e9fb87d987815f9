"""A cluster is put together, and the Scheduler is asked about one pod."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from plimsoll.cluster.kinds import KINDS
from plimsoll.reporting.fit import fit_message
from plimsoll.scheduling.judgement import Judgement
from tests.builders import NodeBuilder, PodBuilder
from tests.scheduling.conftest import World

Json = dict[str, Any]

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"


def cluster(*nodes: NodeBuilder, pods: Iterable[PodBuilder] = (), objects: Iterable[Json] = ()) -> World:
    world = World()
    world.nodes(*nodes)
    world.assigned(*pods)
    shown(world, *objects)
    return world


def shown(world: World, *objects: Json) -> None:
    for thing in objects:
        world.scheduler.object_seen(thing["kind"], KINDS[thing["kind"]].parse(thing), now_s=world.now_s)


def judged(world: World, pod: PodBuilder) -> Judgement:
    return world.scheduler.judge(pod.info(), now_s=world.now_s)


def fits(world: World, pod: PodBuilder) -> set[str]:
    """Names of the nodes that the pod fits on."""
    return set(judged(world, pod).feasible)


def reasons(world: World, pod: PodBuilder) -> dict[str, tuple[str, ...]]:
    """By node that refuses it."""
    return {name: verdict.reasons for name, verdict in judged(world, pod).nodes.items() if verdict.reasons}


def codes(world: World, pod: PodBuilder) -> dict[str, str]:
    return {name: verdict.code for name, verdict in judged(world, pod).nodes.items()}


def sentence(world: World, pod: PodBuilder) -> str:
    return fit_message(judged(world, pod).decision)


def selecting(key: str, *values: str, operator: str = "In") -> Json:
    """A term of required node affinity."""
    return {"matchExpressions": [{"key": key, "operator": operator} | ({"values": list(values)} if values else {})]}


def term(key: str, **labels: str) -> Json:
    """A term of pod affinity."""
    return {"topologyKey": key, "labelSelector": {"matchLabels": labels}}
