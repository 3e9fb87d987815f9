"""The nodes of a world: how large, and when they come and go."""

from __future__ import annotations

import numpy as np

from plimsoll.errors import InvalidInput
from plimsoll.sim.recorded import Recorded
from plimsoll.sim.scenario import HOUR_S, Machines, Scenario
from plimsoll.sim.world import Node

_GIBI = 2.0**30
_SIZES = ((16.0, 32 * _GIBI), (32.0, 64 * _GIBI))
_NIC_BYTES_S = 25e6
# As clouds sell them: large machines with more network. The classes are 1, 10 and 25 Gbit/s, in the same proportion.
_NIC_CLASSES = ((32.0, 1.0), (96.0, 10.0), (np.inf, 25.0))
_FIRST_CHANGE = 1 / 3
_CHANGES_APART_S = HOUR_S / 2


def nodes_of(scenario: Scenario, recorded: Recorded, rng: np.random.Generator) -> tuple[Node, ...]:
    """The first nodes are drained, the last ones added.

    Raises:
        InvalidInput: the scenario wants recorded machines, and there are none.
    """
    change_s = _FIRST_CHANGE * scenario.hours * HOUR_S + np.arange(scenario.nodes) * _CHANGES_APART_S
    nodes = list(_sized(scenario, recorded, rng))
    for i in range(scenario.joins):
        at = len(nodes) - scenario.joins + i
        nodes[at] = nodes[at]._replace(joins_s=float(change_s[i]))
    for i in range(scenario.drains):
        nodes[i] = nodes[i]._replace(drains_s=float(change_s[i]))
    return tuple(nodes)


def _sized(scenario: Scenario, recorded: Recorded, rng: np.random.Generator) -> list[Node]:
    if scenario.machines is Machines.RECORDED:
        if not recorded.machines:
            raise InvalidInput(
                f"scenario {scenario.name} needs the machines of a recorded cluster: give a CSV file of nodes"
            )
        replace = len(recorded.machines) < scenario.nodes
        chosen = rng.choice(len(recorded.machines), size=scenario.nodes, replace=replace)
        machines = [recorded.machines[i] for i in chosen]
        return [
            Node(f"node-{i}", m.cores, m.mem_bytes, _NIC_BYTES_S * _nic_class(m.cores)) for i, m in enumerate(machines)
        ]
    sizes = _SIZES if scenario.machines is Machines.MIXED else _SIZES[:1]
    return [Node(f"node-{i}", *sizes[i % len(sizes)], _NIC_BYTES_S) for i in range(scenario.nodes)]


def _nic_class(cores: float) -> float:
    return next(times for below, times in _NIC_CLASSES if cores < below)
