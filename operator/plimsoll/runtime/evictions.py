"""Evictions under way: the victims of each preemption but the last at the same time, a bounded number in all."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.kube.eviction import Eviction
from plimsoll.reporting.events import Event, preempted
from plimsoll.scheduling.decision import Preempt
from plimsoll.scheduling.scheduler import Scheduler


class Evictor(Protocol):
    async def evict(self, victim: PodInfo) -> Eviction: ...


class _FailedError(Exception):
    """A victim could not be evicted."""


class Evictions:
    """Carries out what Preempt commands say beside the refusal.

    Args:
        take_back: whether a Binding that has not been sent yet could be taken back: such a victim is not deleted.
        clear_nomination: takes pods that are nominated no more.
        record: takes an event.
        wake: called when a preemption is through.
        controller: the scheduler's name.
        concurrency: how many victims are evicted at a time.
    """

    def __init__(
        self,
        *,
        scheduler: Scheduler,
        evictor: Evictor,
        take_back: Callable[[Uid], bool],
        clear_nomination: Callable[[PodInfo], None],
        record: Callable[[Event], None],
        wake: Callable[[], None],
        controller: str,
        concurrency: int = 16,
    ) -> None:
        self._scheduler = scheduler
        self._evictor = evictor
        self._take_back = take_back
        self._clear_nomination = clear_nomination
        self._record = record
        self._wake = wake
        self._controller = controller
        self._places = asyncio.Semaphore(concurrency)
        self._new: asyncio.Queue[Preempt] = asyncio.Queue()

    def preempt(self, command: Preempt) -> None:
        """Never waits."""
        self._new.put_nowait(command)

    async def run(self) -> None:
        """Until cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                command = await self._new.get()
                group.create_task(self._carry_out(command))

    async def _carry_out(self, command: Preempt) -> None:
        for pod in command.displaced:
            self._clear_nomination(pod)
        victims = [victim for victim in command.decision.victims if not victim.deleting]
        # As kube-scheduler: the last only goes once all others have.
        through = await self._evict_all(command, victims[:-1]) and await self._evict_all(command, victims[-1:])
        self._scheduler.preempted(command.pod.uid, failed=not through, now_s=time.time())
        self._wake()

    async def _evict_all(self, command: Preempt, victims: Sequence[PodInfo]) -> bool:
        """At the same time; the first that fails spares those that are not through, since the pod gets no room."""
        through = True
        try:
            async with asyncio.TaskGroup() as group:
                for victim in victims:
                    group.create_task(self._evict(command, victim))
        except* _FailedError:
            through = False
        return through

    async def _evict(self, command: Preempt, victim: PodInfo) -> None:
        in_memory = self._take_back(victim.uid)
        if in_memory:
            outcome = Eviction.EVICTED
        else:
            async with self._places:
                outcome = await self._evictor.evict(victim)
        if outcome is Eviction.FAILED:
            raise _FailedError
        if outcome is Eviction.EVICTED:
            self._told(command, victim, in_memory=in_memory)

    def _told(self, command: Preempt, victim: PodInfo, *, in_memory: bool) -> None:
        self._scheduler.victim_evicted(victim.uid, now_s=time.time())
        self._record(
            preempted(
                victim,
                by=command.pod,
                node=command.decision.nominated_node or "",
                in_memory=in_memory,
                controller=self._controller,
            )
        )
