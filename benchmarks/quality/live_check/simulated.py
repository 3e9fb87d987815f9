"""The scene in the simulator: seeds differ by when exporters are scraped, and by who wins among equals."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from benchmarks.quality.live_check.errors import LiveCheckError
from benchmarks.quality.live_check.placements import Placements
from benchmarks.quality.live_check.scene import NIC_BYTES_S, App, Kind, Scene
from plimsoll.policy.compile import compile_policy
from plimsoll.sim.contenders.interface import Make
from plimsoll.sim.contenders.ours import Ours
from plimsoll.sim.engine import replay
from plimsoll.sim.scenario import Scenario
from plimsoll.sim.world import LAG_S, Node, Owner, Pod, World

_OWNER = {Kind.DEPLOYMENT: Owner.SERVICE, Kind.JOB: Owner.JOB, Kind.BARE: Owner.JOB}
_STEP_S = 0.5


def ours(scene: Scene) -> Make:
    policy = compile_policy(scene.policy(prometheus_url="http://prometheus.replayed:9090"))
    return lambda world, plane, rng: Ours(policy, world, plane, rng)


def play(scene: Scene, seeds: Iterable[int], make: Make) -> list[Placements]:
    """Where the pods went, by seed.

    Raises:
        LiveCheckError: a pod was left out.
    """
    return [_played(scene, world_of(scene, seed), make) for seed in seeds]


def world_of(scene: Scene, seed: int) -> World:
    """Load is told by half seconds: the steps of the large worlds would be a quarter of the scene's window."""
    capacity = [(m.cores, m.mem_bytes, NIC_BYTES_S, NIC_BYTES_S) for m in scene.machines]
    background = np.array([m.background for m in scene.machines]).T
    steps = int(scene.end_s / _STEP_S)
    return World(
        scenario=Scenario("live-check", "the live check", scrape_s=scene.scrape_s, refresh_s=scene.refresh_s),
        seed=seed,
        nodes=tuple(Node(m.name, m.cores, m.mem_bytes, NIC_BYTES_S) for m in scene.machines),
        capacity=np.array(capacity).T,
        curves=np.array([app.use for app in scene.apps])[:, :, None],
        slot_s=scene.end_s + LAG_S,
        background=np.repeat(background[:, :, None], steps, axis=2),
        pods=_pods(scene),
        horizon_s=scene.end_s,
        step_s=_STEP_S,
    )


def _pods(scene: Scene) -> list[Pod]:
    """In the order of the rollouts."""
    return [
        _pod(scene, scene.app(rollout.app), arrives_s=rollout.at_s + scene.created_s + i * scene.between_s)
        for rollout in scene.rollouts
        for i in range(rollout.pods)
    ]


def _pod(scene: Scene, app: App, *, arrives_s: float) -> Pod:
    return Pod(
        app=scene.apps.index(app),
        owner=_OWNER[app.kind],
        arrives_s=arrives_s,
        lifetime_s=min(app.lifetime_s, scene.end_s),
        ready_s=scene.ready_s,
        lag_s=0.0,
        request=(app.request_cores, app.request_bytes),
        limit=(0.0, 0.0),
    )


def _played(scene: Scene, world: World, make: Make) -> Placements:
    outcome = replay(world, make)
    if min(outcome.node) < 0:
        raise LiveCheckError(f"seed {world.seed} placed only {sum(n >= 0 for n in outcome.node)} of {scene.pods} pods")
    rollouts = [i for i, rollout in enumerate(scene.rollouts) for _ in range(rollout.pods)]
    nodes = [world.nodes[node].name for node in outcome.node]
    return Placements.of(scene, zip(rollouts, nodes, strict=True))
