"""Small worlds for the peers, of a made-up trace: a daily wave for each machine, and bursts."""

from __future__ import annotations

import numpy as np

from plimsoll.sim.building import build_world
from plimsoll.sim.scenario import Scenario, Workloads
from plimsoll.sim.trace import Trace
from plimsoll.sim.world import World

_SLOT_S = 300.0
GIBI = 2**30


def wavy_trace(*, machines: int = 25, slots: int = 288) -> Trace:
    """[4, V, S]; every machine at another phase."""
    rng = np.random.default_rng(7)
    at = np.linspace(0, 2 * np.pi, slots)
    phase, size = rng.uniform(0, 2 * np.pi, (machines, 1)), rng.uniform(0.2, 3.0, (machines, 1))
    wave = size * (1.2 + np.sin(at[None, :] + phase)) * rng.lognormal(0, 0.3, (machines, slots))
    use = np.stack([wave, wave * 1e9, wave * 1e5, wave * 8e4])
    return Trace(use=use.astype(np.float32), step_s=_SLOT_S)


def small_scenario(**fields: object) -> Scenario:
    """Six nodes, 150 pods, four hours, and room for all of them."""
    size: dict[str, object] = {"nodes": 6, "pods": 150, "hours": 4.0, "cpu": 0.2, "memory": 0.2}
    wanted = {"workloads": Workloads.MIXED, **size, **fields}
    return Scenario("small", "a small world", **wanted)  # type: ignore[arg-type]


def small_world(seed: int = 0, **fields: object) -> World:
    return build_world(wavy_trace(), small_scenario(**fields), seed)
