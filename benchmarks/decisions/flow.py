"""Decisions one after another, with Bindings under way and what the watches bring in between."""

from __future__ import annotations

import asyncio
import cProfile
import itertools
import time
from collections import deque
from collections.abc import Callable
from contextlib import nullcontext

from benchmarks.decisions.clock import Clock
from benchmarks.decisions.cluster import Cluster
from benchmarks.decisions.stopwatch import Step, Stopwatch
from plimsoll.scheduling.decision import Bind, Command, Outcome, Preempt, Refuse
from plimsoll.scheduling.scheduler import Scheduler

# So many answers are open at a time: about what an API server has under way.
_UNDER_WAY = 64
_PATIENCE_S = 600.0
# 500 decisions per second.
_TURN_S, _NAP_S = 0.002, 0.02
_TURNS_PER_REFRESH = 500


class Flow:
    """Attributes:
    waiting: names of the pods that are looked at and whose Bindings are not confirmed yet.
    placed: the nodes of all others, by name.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        cluster: Cluster,
        stopwatch: Stopwatch,
        clock: Clock,
        profile: cProfile.Profile | None = None,
    ) -> None:
        self.waiting: set[str] = set()
        self.placed: dict[str, str] = {}
        self._decided = 0
        self._scheduler = scheduler
        self._cluster = cluster
        self._stopwatch = stopwatch
        self._clock = clock
        self._profile = profile
        self._answers: deque[Callable[[], None]] = deque()

    async def run(self, wanted: set[str], *, left: int, refresh: Callable[[], None]) -> None:
        """Until all of these pods are bound but so many; gives up after some minutes of its clock.

        Args:
            refresh: is called every now and then.
        """
        self.waiting = set(wanted)
        until_s = self._clock.now_s + _PATIENCE_S
        for turn in itertools.count():
            if len(self.waiting) <= left or self._clock.now_s > until_s:
                return
            if turn % _TURNS_PER_REFRESH == 0:
                refresh()
            self._clock.advance(_TURN_S if self._turn() else _NAP_S)
            # Whatever goes on meanwhile gets its turn.
            await asyncio.sleep(0)

    def _turn(self) -> bool:
        """False where nothing is to be done now."""
        command = self._next_command()
        if command is not None:
            self._decided += 1
            self._carry_out(command)
        answered = bool(self._answers) and (command is None or len(self._answers) > _UNDER_WAY)
        if answered:
            self._answers.popleft()()
        return command is not None or answered

    def _next_command(self) -> Command | None:
        with self._profile or nullcontext():
            began_ns = time.thread_time_ns()
            command = self._scheduler.next_command(now_s=self._clock.now_s)
            spent_ns = time.thread_time_ns() - began_ns
        step = _step(command)
        if step is not None:
            # Caches are filled by the first one.
            self._stopwatch.add(step if self._decided else Step.FIRST, spent_ns)
        return command

    def _carry_out(self, command: Command) -> None:
        match command:
            case Bind():
                self._answers.append(lambda: self._confirm(command))
            case Refuse():
                self._answers.append(lambda: self._refused(command))
            case Preempt():
                self._answers.append(lambda: self._preempted(command))

    def _confirm(self, command: Bind) -> None:
        if self._cluster.confirm(command.pod, command.decision.node):
            self.waiting.discard(command.pod.name)
            self.placed[command.pod.name] = command.decision.node

    def _refused(self, command: Refuse | Preempt) -> None:
        if command.decision.outcome is Outcome.ERROR:
            raise RuntimeError(f"pod {command.pod.key}: {command.decision.problem}")
        self._cluster.refused(command.pod, nominated_node=command.decision.nominated_node)

    def _preempted(self, command: Preempt) -> None:
        self._refused(command)
        for victim in command.decision.victims:
            if not victim.deleting:
                self._cluster.evict(victim)
        self._scheduler.preempted(command.pod.uid, failed=False, now_s=self._clock.now_s)


def _step(command: Command | None) -> Step | None:
    match command:
        case Bind():
            return Step.DECISION
        case Refuse():
            return Step.REFUSAL
        case Preempt():
            return Step.PREEMPTION
        case _:
            return None
