"""The replay of one world under one contender, event by event."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from plimsoll.sim.contenders.interface import Contender, Make
from plimsoll.sim.demand import Demand
from plimsoll.sim.metrics import MetricsPlane
from plimsoll.sim.world import Floats, World

_NOWHERE = -1


@dataclass(slots=True)
class Outcome:
    """What became of a world.

    Attributes:
        world: with the pods that came anew.
        demand: [M, N, K], what the nodes were asked to carry.
        origin: of each pod, the one that arrived by itself; another one only for a pod that came anew.
        node: of each pod; -1 where it was never placed.
        placed_s: when; NaN where never.
        started_s, ended_s: the same.
    """

    world: World
    demand: Floats
    origin: list[int] = field(default_factory=list)
    node: list[int] = field(default_factory=list)
    placed_s: list[float] = field(default_factory=list)
    started_s: list[float] = field(default_factory=list)
    ended_s: list[float] = field(default_factory=list)


def replay(world: World, make: Make) -> Outcome:
    """Args:
    world: as it was built; it is left as it is.
    """
    return _Replay(world.copy(), make).run()


class _Replay:
    def __init__(self, world: World, make: Make) -> None:
        rng = np.random.default_rng([world.seed, 1])
        self._world = world
        self._demand = Demand(world)
        self._plane = MetricsPlane(world, self._demand, rng)
        self._contender: Contender = make(world, self._plane, rng)
        self._order = itertools.count()
        self._events: list[tuple[float, int, Callable[[float, int], None], int]] = []
        self._outcome = Outcome(world, self._demand.amount)
        self._asked_s: float | None = None

    def run(self) -> Outcome:
        for node, described in enumerate(self._world.nodes):
            self._at(described.joins_s, self._joins, node)
            self._at(described.drains_s, self._drains, node)
        for pod, replica in enumerate(self._world.pods):
            self._known(pod, origin=pod)
            self._at(replica.arrives_s, self._arrives, pod)
        for moment_s in np.arange(0.0, self._world.horizon_s, self._world.scenario.refresh_s):
            self._at(float(moment_s), self._refreshes, 0)
        while self._events and (now_s := self._events[0][0]) < self._world.horizon_s:
            while self._events and self._events[0][0] <= now_s:
                _, _, happens, index = heapq.heappop(self._events)
                happens(now_s, index)
            self._place(now_s)
        return self._outcome

    def _at(self, moment_s: float, happens: Callable[[float, int], None], index: int) -> None:
        if moment_s < self._world.horizon_s:
            heapq.heappush(self._events, (moment_s, next(self._order), happens, index))

    def _known(self, pod: int, *, origin: int) -> None:
        outcome = self._outcome
        assert pod == len(outcome.node)
        outcome.origin.append(origin)
        outcome.node.append(_NOWHERE)
        for times in (outcome.placed_s, outcome.started_s, outcome.ended_s):
            times.append(float("nan"))

    # -- what happens ----------------------------------------------------------------------------------

    def _joins(self, now_s: float, node: int) -> None:
        self._contender.node_joined(node, now_s=now_s)

    def _drains(self, now_s: float, node: int) -> None:
        """Each pod on it ends, and comes anew for the rest of its time."""
        self._contender.node_drained(node, now_s=now_s)
        for pod, on in enumerate(list(self._outcome.node)):
            if on == node and np.isnan(self._outcome.ended_s[pod]):
                self._evict(now_s, pod)

    def _evict(self, now_s: float, pod: int) -> None:
        replica, placed_s = self._world.pods[pod], self._outcome.placed_s[pod]
        started_s = placed_s + replica.ready_s
        ran_s = max(now_s - started_s, 0.0)
        if ran_s >= replica.lifetime_s:
            return
        self._demand.take(
            pod, self._outcome.node[pod], started_s=started_s, from_s=now_s, ends_s=started_s + replica.lifetime_s
        )
        self._ends(now_s, pod)
        self._world.pods.append(replica.anew(now_s=now_s, ran_s=ran_s))
        anew = len(self._world.pods) - 1
        self._known(anew, origin=self._outcome.origin[pod])
        self._arrives(now_s, anew)

    def _arrives(self, now_s: float, pod: int) -> None:
        self._contender.arrived(pod, now_s=now_s)

    def _refreshes(self, now_s: float, _: int) -> None:
        self._contender.refreshed(now_s=now_s)

    def _starts(self, now_s: float, pod: int) -> None:
        if np.isnan(self._outcome.ended_s[pod]):
            self._outcome.started_s[pod] = now_s
            self._plane.started(pod, self._outcome.node[pod], now_s=now_s)
            self._contender.started(pod, now_s=now_s)

    def _ends(self, now_s: float, pod: int) -> None:
        if np.isnan(self._outcome.ended_s[pod]):
            self._outcome.ended_s[pod] = now_s
            self._plane.ended(pod)
            self._contender.ended(pod, now_s=now_s)

    def _asks(self, now_s: float, _: int) -> None:  # noqa: ARG002 - as all that happens
        self._asked_s = None

    def _place(self, now_s: float) -> None:
        for pod, node in self._contender.place(now_s=now_s):
            replica = self._world.pods[pod]
            starts_s = now_s + replica.ready_s
            ends_s = starts_s + replica.lifetime_s
            self._outcome.node[pod], self._outcome.placed_s[pod] = node, now_s
            self._demand.put(pod, node, started_s=starts_s, ends_s=ends_s)
            self._at(starts_s, self._starts, pod)
            self._at(ends_s, self._ends, pod)
        due_s = self._contender.due_s()
        if due_s is not None and (self._asked_s is None or due_s < self._asked_s):
            self._asked_s = max(due_s, now_s + 0.001)
            self._at(self._asked_s, self._asks, 0)
